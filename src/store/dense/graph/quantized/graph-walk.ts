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
  /** Slots whose links are still to be followed, the most similar first. */
  readonly #candidates = new SlotHeap();
  /** The nearest so far, by negative similarity: the least similar is on top. */
  readonly #found = new SlotHeap();
  /** Number of the last walk that visited each slot. */
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
    for (let index = Math.min(layer, memory.layerOf(entry)); index >= 0; index--) {
      nearest = this.#nearestInLayer(row, nearest, this.#efConstruction, index, false);
      chosen[index] = this.#choose(slot, nearest, memory.shared.m);
    }
    // Link from the lowest layer up: a walk that finds the slot in a layer can go on from it in the layers below.
    for (const [index, links] of chosen.entries()) {
      memory.locked(slot, () => this.#addLinks(slot, index, links));
      for (const near of links) memory.locked(near, () => this.#addLink(near, index, slot));
    }
  }

  /** Adds the first links of a slot, whose list has at most a few that others added meanwhile. The slot is locked. */
  #addLinks(slot: number, layer: number, links: readonly number[]): void {
    for (const link of links) this.#addLink(slot, layer, link);
  }

  /** Adds a link to a list, or chooses the best again where there is no room. The slot is locked. */
  #addLink(slot: number, layer: number, link: number): void {
    const memory = this.#memory;
    const { words, first } = memory.links(slot, layer);
    const count = words[first]!;
    const end = first + 1 + count;
    for (let place = first + 1; place < end; place++) if (words[place] === link) return;
    if (count < (layer === 0 ? memory.maxLinks : memory.maxUpperLinks)) {
      words[end] = link;
      Atomics.store(words, first, count + 1);
      return;
    }
    memory.slots.set(words.subarray(first + 1, end));
    memory.slots[count] = link;
    const nearest = this.#sorted(memory.rowOf(slot), count + 1);
    const kept = this.#choose(slot, nearest, layer === 0 ? 2 * memory.shared.m : memory.shared.m);
    for (const [place, other] of kept.entries()) words[first + 1 + place] = other;
    Atomics.store(words, first, kept.length);
  }

  /** The first `count` slots of the list, by similarity to a row. */
  #sorted(row: number, count: number): Nearest {
    const { slots } = this.#memory;
    const similarities = this.#memory.similarities(row, count);
    this.#found.clear();
    for (let place = 0; place < count; place++) this.#found.push(slots[place]!, -similarities[place]!);
    return this.#takeFound();
  }

  /** Chooses up to `wanted` of the nearest slots, skipping any that is nearer to one chosen before than to `slot`. */
  #choose(slot: number, { slots, similarities }: Nearest, wanted: number): number[] {
    const memory = this.#memory;
    const scale = memory.scaleOf(slot);
    const chosen: number[] = [];
    for (let index = 0; index < slots.length && chosen.length < wanted; index++) {
      const near = slots[index]!;
      if (near === slot) continue;
      const limit = (similarities[index]! * scale) / memory.scaleOf(near);
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
    for (let index = memory.layerOf(entry); index > layer;) {
      const { words, first: start } = memory.links(best, index);
      const count = words[start]!;
      for (let place = 0; place < count; place++) memory.slots[place] = words[start + 1 + place]!;
      const similarities = memory.similarities(row, count);
      const from = best;
      for (let place = 0; place < count; place++) {
        if (similarities[place]! <= similarity) continue;
        similarity = similarities[place]!;
        best = memory.slots[place]!;
      }
      if (best === from) index--;
    }
    return { slots: Uint32Array.of(best), similarities: Float32Array.of(similarity) };
  }

  /**
   * The nearest `ef` that are found from others on.
   *
   * @param living whether removed slots are only passed through.
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
    for (const [index, slot] of from.slots.entries()) {
      visited[slot] = walk;
      offer(slot, from.similarities[index]!);
    }
    while (candidates.size > 0 && (found.size < ef || candidates.topKey >= -found.topKey)) {
      const { words, first } = memory.links(candidates.pop(), layer);
      const end = first + 1 + words[first]!;
      let count = 0;
      for (let place = first + 1; place < end; place++) {
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
    for (let index = count - 1; index >= 0; index--) {
      similarities[index] = -this.#found.topKey;
      slots[index] = this.#found.pop();
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
