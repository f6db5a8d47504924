import type { GraphMemory } from "./graph-memory.js";
import { SlotHeap } from "./slot-heap.js";

/** Slots by descending similarity to a query, or to the vector that is being linked. */
export interface Nearest {
  readonly slots: Uint32Array;
  readonly similarities: Float32Array;
}

/**
 * Walks through a graph on one thread: finds the nearest, and links a slot to its nearest.
 *
 * The graph is a hierarchical navigable small world (Malkov and Yashunin, 2016): each vector is linked to near ones that lie in
 * different directions, and to fewer and further ones in each layer above.
 */
export class GraphWalk {
  readonly #memory: GraphMemory;
  readonly #efConstruction: number;
  /** Whose links are looked at next: the most similar. */
  readonly #candidates = new SlotHeap();
  /** The nearest so far, by negative similarity: the least similar is on top. */
  readonly #found = new SlotHeap();
  /** By slot: the number of the walk that came by last. */
  #visited = new Uint16Array(1024);
  #walk = 0;

  constructor(memory: GraphMemory, efConstruction: number) {
    this.#memory = memory;
    this.#efConstruction = efConstruction;
  }

  /**
   * Slots near the query of this thread, without those removed. The similarities lack the query's scale.
   *
   * @param ef how many are found, and how many are looked further from.
   */
  nearest(ef: number): Nearest {
    const { entry, queryAt } = this.#memory;
    return this.#nearestInLayer(queryAt, this.#climbDown(queryAt, entry, 0), ef, 0, true);
  }

  /** Links a slot that was claimed. */
  link(slot: number): void {
    const memory = this.#memory;
    const isHighest = () => memory.layerOf(slot) > memory.layerOf(memory.entry);
    // A slot that is in more layers than all others becomes the entry, one at a time.
    if (isHighest()) {
      memory.locked(undefined, () => {
        this.#linkInLayers(slot);
        if (isHighest()) memory.entry = slot;
      });
    } else this.#linkInLayers(slot);
    memory.setLinked(slot);
  }

  #linkInLayers(slot: number): void {
    const memory = this.#memory;
    const { entry } = memory;
    if (entry === slot) return;
    const row = memory.rowOf(slot);
    const layer = memory.layerOf(slot);
    const chosen: (readonly number[])[] = [];
    let nearest = this.#climbDown(row, entry, layer);
    for (let at = Math.min(layer, memory.layerOf(entry)); at >= 0; at--) {
      nearest = this.#nearestInLayer(row, nearest, this.#efConstruction, at, false);
      chosen[at] = this.#choose(slot, nearest, memory.shared.m);
    }
    // From the lowest layer up: who finds the slot in a layer can walk on from it in those below.
    for (const [at, links] of chosen.entries()) {
      memory.locked(slot, () => this.#addLinks(slot, at, links));
      for (const near of links) memory.locked(near, () => this.#addLink(near, at, slot));
    }
  }

  /** Adds the first links of a slot, whose list has at most a few that others added meanwhile. The slot is locked. */
  #addLinks(slot: number, layer: number, links: readonly number[]): void {
    for (const link of links) this.#addLink(slot, layer, link);
  }

  /** Adds a link to a list, or chooses the best again where there is no room. The slot is locked. */
  #addLink(slot: number, layer: number, link: number): void {
    const memory = this.#memory;
    const { words, at } = memory.links(slot, layer);
    const count = words[at]!;
    const end = at + 1 + count;
    for (let place = at + 1; place < end; place++) if (words[place] === link) return;
    if (count < (layer === 0 ? memory.maxLinks : memory.maxUpperLinks)) {
      words[end] = link;
      Atomics.store(words, at, count + 1);
      return;
    }
    memory.slots.set(words.subarray(at + 1, end));
    memory.slots[count] = link;
    const nearest = this.#sorted(memory.rowOf(slot), count + 1);
    const kept = this.#choose(slot, nearest, layer === 0 ? 2 * memory.shared.m : memory.shared.m);
    for (const [place, other] of kept.entries()) words[at + 1 + place] = other;
    Atomics.store(words, at, kept.length);
  }

  /** The first `count` slots of the list, by similarity to a row. */
  #sorted(row: number, count: number): Nearest {
    const { slots } = this.#memory;
    const similarities = this.#memory.similarities(row, count);
    this.#found.clear();
    for (let place = 0; place < count; place++) this.#found.push(slots[place]!, -similarities[place]!);
    return this.#takeFound();
  }

  /** Of the nearest to a slot, up to `wanted` that are each nearer to it than to one chosen before. */
  #choose(slot: number, { slots, similarities }: Nearest, wanted: number): number[] {
    const memory = this.#memory;
    const scale = memory.scaleOf(slot);
    const chosen: number[] = [];
    for (let at = 0; at < slots.length && chosen.length < wanted; at++) {
      const near = slots[at]!;
      if (near === slot) continue;
      const limit = (similarities[at]! * scale) / memory.scaleOf(near);
      if (memory.anyAbove(memory.rowOf(near), chosen.length, limit)) continue;
      memory.slots[chosen.length] = near;
      chosen.push(near);
    }
    return chosen;
  }

  /** The nearest that is found in the layers above `layer`, going from link to link as long as that comes nearer. */
  #climbDown(row: number, entry: number, layer: number): Nearest {
    const memory = this.#memory;
    memory.slots[0] = entry;
    let [best, similarity] = [entry, memory.similarities(row, 1)[0]!];
    for (let at = memory.layerOf(entry); at > layer;) {
      const { words, at: start } = memory.links(best, at);
      const count = words[start]!;
      for (let place = 0; place < count; place++) memory.slots[place] = words[start + 1 + place]!;
      const similarities = memory.similarities(row, count);
      const from = best;
      for (let place = 0; place < count; place++) {
        if (similarities[place]! <= similarity) continue;
        similarity = similarities[place]!;
        best = memory.slots[place]!;
      }
      if (best === from) at--;
    }
    return { slots: Uint32Array.of(best), similarities: Float32Array.of(similarity) };
  }

  /**
   * The nearest `ef` that are found from others on.
   *
   * @param living whether those that were removed are only passed through.
   */
  #nearestInLayer(row: number, from: Nearest, ef: number, layer: number, living: boolean): Nearest {
    const memory = this.#memory;
    const { slots } = memory;
    const visited = this.#beginWalk();
    const walk = this.#walk;
    const [candidates, found] = [this.#candidates, this.#found];
    candidates.clear();
    found.clear();
    const offer = (slot: number, similarity: number) => {
      const isFull = found.size === ef;
      if (isFull && similarity <= -found.topKey) return;
      candidates.push(slot, similarity);
      if (living && memory.isRemoved(slot)) return;
      if (isFull) found.replaceTop(slot, -similarity);
      else found.push(slot, -similarity);
    };
    for (const [at, slot] of from.slots.entries()) {
      visited[slot] = walk;
      offer(slot, from.similarities[at]!);
    }
    while (candidates.size > 0 && (found.size < ef || candidates.topKey >= -found.topKey)) {
      const { words, at } = memory.links(candidates.pop(), layer);
      const end = at + 1 + words[at]!;
      let count = 0;
      for (let place = at + 1; place < end; place++) {
        const slot = words[place]!;
        // Slots that were added since the walk began are beyond the list of those visited.
        if (visited[slot] === walk || slot >= visited.length) continue;
        visited[slot] = walk;
        slots[count++] = slot;
      }
      if (count === 0) continue;
      const similarities = memory.similarities(row, count);
      for (let place = 0; place < count; place++) offer(slots[place]!, similarities[place]!);
    }
    return this.#takeFound();
  }

  #takeFound(): Nearest {
    const count = this.#found.size;
    const [slots, similarities] = [new Uint32Array(count), new Float32Array(count)];
    for (let at = count - 1; at >= 0; at--) {
      similarities[at] = -this.#found.topKey;
      slots[at] = this.#found.pop();
    }
    return { slots, similarities };
  }

  #beginWalk(): Uint16Array {
    const { count } = this.#memory;
    if (this.#visited.length < count) {
      this.#visited = new Uint16Array(Math.ceil(1.25 * count));
      this.#walk = 0;
    }
    this.#walk = (this.#walk + 1) & 0xffff;
    if (this.#walk === 0) {
      this.#visited.fill(0);
      this.#walk = 1;
    }
    return this.#visited;
  }
}
