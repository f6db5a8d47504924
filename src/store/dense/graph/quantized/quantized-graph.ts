import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { StoreError } from "../../../../core/errors.js";
import { checkVector } from "../../../database/vectors.js";
import type { Allowed } from "../../../derived/allowed-labels.js";
import { TimeSlice } from "../../../derived/scheduling.js";
import { type Ranking, TopK } from "../../../derived/top-k.js";
import type { GraphFacts } from "../graph-file.js";
import type { GraphEngine, GraphParameters, SavedGraph, VectorGraph } from "../vector-graph.js";
import type { Bits } from "./codes.js";
import { GraphMemory, sharedGraph, slotsPerCall } from "./graph-memory.js";
import { GraphWalk } from "./graph-walk.js";
import { createKernel, createSharedMemory } from "./kernel.js";
import { LinkingThreads } from "./linking-threads.js";
import { spread } from "./spread.js";

/** From this many additions in a row on, other threads help: fewer take less time than a thread takes to start. */
const minHelpedAdditions = 1000;

/** Vectors that may wait for their links: searches compare them one by one. Beyond, this thread links, too. */
const maxUnlinked = 2000;

const maxLayer = 15;

/** Bytes that are written or read at once. The system refuses more than 2 GB. */
const maxPieceBytes = 1 << 24;

/**
 * Each is read from disk, which may take milliseconds. With 8 bits two more hold the exact ten nearest of SciFact, and with 4 bits 12;
 * of evenly distributed vectors with 4 bits, 20 hold 0.995 and 12 hold 0.989.
 */
const extraCandidates = { 8: 12, 4: 20 } as const;

/** The formats of saved graphs. */
const formatOf = { 8: 3, 4: 4 } as const;

/**
 * Graphs of vectors as numbers of few bits, for which nothing has to be installed.
 *
 * @throws where there is no WebAssembly with SIMD, or no address space for its memory.
 */
export function quantizedEngine(bits: Bits): GraphEngine {
  createKernel(createSharedMemory(), bits);
  return {
    format: formatOf[bits],
    alsoReads: bits === 4 ? formatOf[8] : undefined,
    extraCandidates: extraCandidates[bits],
    readChecks: true,
    comparisonsPerResult: 20,
    create: (dimension, parameters) => QuantizedGraph.create(bits, dimension, parameters),
    read: (path, facts, sha256) => QuantizedGraph.read(bits, path, facts, sha256),
    // `write` throws where it did not write everything.
    check: async () => {},
  };
}

/**
 * A graph over vectors of length 1 as numbers of 4 or 8 bits, built by several threads: an eighth or a quarter of the memory of
 * 32-bit floats, and many times as fast to build. Its scores are near to the cosine, so the caller should
 * compare the best ones exactly.
 */
export class QuantizedGraph implements VectorGraph {
  readonly #memory: GraphMemory;
  readonly #walk: GraphWalk;
  readonly #threads: LinkingThreads;
  readonly #parameters: { -readonly [Name in keyof GraphParameters]: GraphParameters[Name] };
  #deleted: number;
  #lastLabel: number;
  #additions = 0;
  /** All slots before this one are linked. */
  #linkedBefore: number;

  private constructor(memory: GraphMemory, { m, efConstruction, ef, count, deleted, lastLabel }: SavedGraph) {
    this.#memory = memory;
    this.#walk = new GraphWalk(memory, efConstruction);
    this.#threads = new LinkingThreads(memory, efConstruction);
    this.#parameters = { m, efConstruction, ef };
    this.#deleted = deleted;
    this.#lastLabel = lastLabel;
    this.#linkedBefore = count;
  }

  /** @param maxBytes see `SharedGraph`. */
  static create(bits: Bits, dimension: number, parameters: GraphParameters, maxBytes?: number): QuantizedGraph {
    const memory = new GraphMemory(sharedGraph(bits, dimension, parameters.m, maxBytes), 0);
    return new QuantizedGraph(memory, { ...parameters, dimension, count: 0, deleted: 0, lastLabel: 0 });
  }

  /**
   * Reads a graph that `write` wrote; into one of 4 bits also one of 8 bits, whose links stay as they are. Each piece is hashed
   * while the next one is read.
   *
   * @throws Error where the file does not hold such a graph, or has another checksum.
   */
  static async read(
    bits: Bits,
    path: string,
    facts: GraphFacts,
    sha256: string,
    bytesPerPiece = maxPieceBytes,
  ): Promise<QuantizedGraph> {
    const { count } = facts;
    const memory = new GraphMemory(sharedGraph(bits, facts.dimension, facts.m), 0);
    const file = await open(path, "r");
    const hash = createHash("sha256");
    try {
      let index = 0;
      const read = async (bytes: Uint8Array) => {
        let before = bytes.subarray(0, 0);
        for (let done = 0; done < bytes.length;) {
          const part = bytes.subarray(done, done + bytesPerPiece);
          const reading = file.read(part, 0, part.length, index);
          hash.update(before);
          const { bytesRead } = await reading;
          if (bytesRead === 0) throw new Error(`${path} ends at byte ${index}`);
          before = part.subarray(0, bytesRead);
          done += bytesRead;
          index += bytesRead;
        }
        hash.update(before);
      };
      const [control] = memory.parts();
      await read(control!);
      const [, records, upper] = memory.reserveParts(count);
      if (facts.format === formatOf[bits]) await read(records!);
      else {
        const stride = memory.strideOf8Bits;
        const piece = new Uint8Array(stride * Math.max(1, Math.floor(bytesPerPiece / stride)));
        for (let slot = 0; slot < count; slot += piece.length / stride) {
          const part = piece.subarray(0, stride * (count - slot));
          await read(part);
          memory.convert(part, slot);
        }
      }
      await read(upper!);
      if (memory.count !== count || (await file.stat()).size !== index) {
        throw new Error(`${path} holds ${memory.count} vectors in ${index} bytes instead of ${count}`);
      }
      if (hash.digest("hex") !== sha256) throw new Error(`${path} was changed: its checksum differs`);
    } finally {
      await file.close();
    }
    return new QuantizedGraph(memory, facts);
  }

  get dimension(): number {
    return this.#memory.shared.dimension;
  }

  get count(): number {
    return this.#memory.count;
  }

  get deleted(): number {
    return this.#deleted;
  }

  get saved(): SavedGraph {
    const { dimension, count, deleted } = this;
    return { ...this.#parameters, dimension, count, deleted, lastLabel: this.#lastLabel };
  }

  setEf(ef: number): void {
    this.#parameters.ef = ef;
  }

  add(label: number, vector: Float32Array): void {
    checkVector(vector, this.dimension, `label ${label}`);
    if (label <= this.#lastLabel) throw new StoreError("damaged", `Label ${label} is not above ${this.#lastLabel}`);
    this.#memory.append(label, vector, layerOf(label, this.#parameters.m));
    this.#lastLabel = label;
    if (++this.#additions === minHelpedAdditions) this.#threads.start();
    if (!this.#threads.areRunning || this.count - this.#memory.linkedCount > maxUnlinked) this.#linkNext();
  }

  /** Links what is left, and ends the other threads. Lets other work run meanwhile. */
  async settle(): Promise<void> {
    const slice = new TimeSlice();
    while (this.#linkNext()) if (slice.over) await slice.next();
    await this.#threads.stop();
    this.#additions = 0;
  }

  #linkNext(): boolean {
    const slot = this.#memory.claim();
    if (slot !== undefined) this.#walk.link(slot);
    return slot !== undefined;
  }

  remove(label: number): boolean {
    const slot = this.#slotOf(label);
    if (slot === undefined || this.#memory.isRemoved(slot)) return false;
    this.#memory.setRemoved(slot);
    this.#deleted++;
    return true;
  }

  search(vector: Float32Array, count: number, ef = this.#parameters.ef): Ranking {
    checkVector(vector, this.dimension, "the query");
    const best = new TopK(Math.min(count, this.count - this.#deleted));
    if (this.count === 0) return best.ranking();
    const scale = this.#memory.writeQuery(vector);
    const { slots, similarities } = this.#walk.nearest(Math.max(ef, count));
    // Slots without links cannot be found by them.
    const unlinked = new Set(this.#unlinked());
    for (const [index, slot] of slots.entries()) {
      if (!unlinked.has(slot)) best.offer(this.#memory.labelOf(slot), similarities[index]! * scale);
    }
    this.#compare(unlinked, scale, best);
    return best.ranking();
  }

  scan(vector: Float32Array, count: number, allowed: Allowed): Ranking {
    checkVector(vector, this.dimension, "the query");
    const best = new TopK(Math.min(count, allowed.size));
    this.#compare(this.#slotsOf(allowed), this.#memory.writeQuery(vector), best);
    return best.ranking();
  }

  /** Writes the graph to a new file. Nothing is added or removed meanwhile. */
  async write(path: string, bytesPerPiece = maxPieceBytes): Promise<void> {
    await this.settle();
    const file = await open(path, "wx");
    try {
      for (const part of this.#memory.parts()) {
        for (let index = 0; index < part.length; index += bytesPerPiece) {
          await file.writeFile(part.subarray(index, index + bytesPerPiece));
        }
      }
    } finally {
      await file.close();
    }
  }

  close(): Promise<void> {
    return this.#threads.stop();
  }

  /** Compares a query with slots one by one. */
  #compare(from: Iterable<number>, scale: number, best: TopK): void {
    const memory = this.#memory;
    let count = 0;
    const offer = () => {
      const similarities = memory.similarities(memory.queryAt, count);
      for (let index = 0; index < count; index++)
        best.offer(memory.labelOf(memory.slots[index]!), similarities[index]! * scale);
      count = 0;
    };
    for (const slot of from) {
      if (memory.isRemoved(slot)) continue;
      memory.slots[count++] = slot;
      if (count === slotsPerCall) offer();
    }
    offer();
  }

  *#unlinked(): Generator<number> {
    const { count } = this;
    while (this.#linkedBefore < count && this.#memory.isLinked(this.#linkedBefore)) this.#linkedBefore++;
    for (let slot = this.#linkedBefore; slot < count; slot++) if (!this.#memory.isLinked(slot)) yield slot;
  }

  *#slotsOf(labels: Allowed): Generator<number> {
    let after = 0;
    for (const label of labels.labels()) {
      const slot = this.#slotOf(label, after);
      if (slot === undefined) continue;
      yield slot;
      after = slot;
    }
  }

  /**
   * The slot of a label, from a slot on that is not behind it. Labels ascend with the slots, so that none is further behind than
   * its label; that place is tried first, because few labels are missing, and each look at a record may wait for memory.
   */
  #slotOf(label: number, from = 0): number | undefined {
    const labelOf = (slot: number) => this.#memory.labelOf(slot);
    let low = from;
    let high = Math.min(this.count - 1, from + label - (this.count > 0 ? labelOf(from) : 0));
    for (let middle = high; low <= high; middle = (low + high) >>> 1) {
      const found = labelOf(middle);
      if (found === label) return middle;
      if (found < label) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }
}

/** The highest layer of a label: one in `m` is in the layer above. The same label always gets the same. */
function layerOf(label: number, m: number): number {
  const share = (spread(label) + 1) / 2 ** 32;
  return Math.min(maxLayer, Math.floor(-Math.log(share) / Math.log(m)));
}
