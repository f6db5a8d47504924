import { open } from "node:fs/promises";
import { asError } from "../../../core/errors.js";
import type { StoreProblem } from "../../../core/ports.js";
import type { Quantization } from "./graph-messages.js";
import { indexProblem, loadIndex, savedFacts } from "../../derived/saved-index.js";

/** The manifest of a saved graph. */
export interface GraphFacts {
  /** 1: the file is as hnswlib wrote it. 3 and 4: it is a `QuantizedGraph` of 8 and of 4 bits. */
  readonly format: 1 | 3 | 4;
  /** Id of the store that the graph was built from. */
  readonly store: string;
  readonly m: number;
  readonly efConstruction: number;
  readonly ef: number;
  readonly dimension: number;
  readonly count: number;
  readonly deleted: number;
  readonly lastLabel: number;
  /** Number of living elements when `ef` was tuned; 0 if it was not. */
  readonly tunedAt: number;
  /** How far the graph has read the store's changes. */
  readonly position: { readonly label: number; readonly removal: number };
}

const quantizationOf = { 1: "none", 3: "int8", 4: "int4" } as const satisfies Record<
  GraphFacts["format"],
  Quantization
>;

/** The facts that a graph's file must match. */
type GraphShape = Pick<GraphFacts, "dimension" | "m" | "count">;

/** Reads a manifest; `undefined` for another format. */
export function parseGraphFacts(manifest: object): GraphFacts | undefined {
  // Checked by hand: zod would take 11 MB in the graph's thread, for this check alone.
  const { tunedAt = 0, ...facts } = manifest as Partial<GraphFacts>;
  const { format, store, m, efConstruction, ef, dimension, count, deleted, lastLabel, position } = facts;
  const numbers = [m, efConstruction, ef, dimension, count, deleted, lastLabel, tunedAt, position?.label];
  const areWhole = [...numbers, position?.removal].every((number) => Number.isSafeInteger(number) && number! >= 0);
  if ((format !== 1 && format !== 3 && format !== 4) || typeof store !== "string" || !areWhole || dimension === 0)
    return undefined;
  return { ...(facts as GraphFacts), tunedAt };
}

/** How the graph that is saved in a folder keeps vectors, by its manifest; `undefined` where there is none, or a damaged one. */
export function savedQuantization(folder: string): Quantization | undefined {
  const manifest = savedFacts(folder, "graph");
  const facts = manifest && parseGraphFacts(manifest);
  return facts && quantizationOf[facts.format];
}

/** The problem of a store's saved graph, if any. */
export async function savedGraphProblem(folder: string, store: string): Promise<StoreProblem | undefined> {
  const loaded = await loadIndex(folder, "graph", parseGraphFacts);
  const problem = indexProblem("graph", loaded, store);
  if (problem || loaded.outcome !== "loaded" || loaded.facts.format !== 1) return problem;
  return checkGraphFile(loaded.filePath, loaded.facts).then(
    () => undefined,
    (error: unknown) => ({ what: "graph", message: asError(error).message, repairable: true }),
  );
}

const headerBytes = 96;

/** Bytes of an element: the links of the lowest layer behind their count, the vector, the label. */
const recordBytes = ({ dimension, m }: GraphShape) => 4 + 2 * m * 4 + dimension * 4 + 8;

/**
 * Walks through a file as hnswlib writes it (`HierarchicalNSW::saveIndex` in hnswalg.h: a header, a record of fixed length
 * for each element, then the upper links of each element, preceded by their length) and throws unless it holds a graph of
 * this shape to its last byte. hnswlib reports success for a write that the disk refused, and reads vectors of another
 * length without complaint.
 */
export async function checkGraphFile(path: string, shape: GraphShape): Promise<void> {
  const { m, count } = shape;
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const header = Buffer.alloc(headerBytes);
    await file.read(header, 0, headerBytes, 0);
    const number = (index: number) => Number(header.readBigUInt64LE(index));
    const expected = recordBytes(shape);
    if (size < headerBytes || number(16) !== count || number(24) !== expected || number(72) !== m) {
      throw new Error(
        `${path} holds ${number(16)} elements of ${number(24)} bytes instead of ${count} of ${expected} (M ${m})`,
      );
    }
    let position = headerBytes + count * expected;
    const tail = Buffer.alloc(Math.max(0, size - position));
    await file.read(tail, 0, tail.length, position);
    const start = position;
    for (let element = 0; element < count; element++) {
      if (position + 4 > size) throw new Error(`${path} ends at byte ${size}, before the links of element ${element}`);
      position += 4 + tail.readUInt32LE(position - start);
    }
    if (position !== size) throw new Error(`${path} has ${size} bytes instead of ${position}`);
  } finally {
    await file.close();
  }
}
