/** Slots with a key, in a heap: the greatest key is on top. */
export class SlotHeap {
  #keys = new Float32Array(256);
  #slots = new Uint32Array(256);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The greatest key; undefined in an empty heap. */
  get topKey(): number {
    return this.#keys[0]!;
  }

  clear(): void {
    this.#size = 0;
  }

  push(slot: number, key: number): void {
    if (this.#size === this.#slots.length) this.#grow();
    const [keys, slots] = [this.#keys, this.#slots];
    let index = this.#size++;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (keys[parent]! >= key) break;
      keys[index] = keys[parent]!;
      slots[index] = slots[parent]!;
      index = parent;
    }
    keys[index] = key;
    slots[index] = slot;
  }

  /** Takes the slot on top of a heap that is not empty. */
  pop(): number {
    const top = this.#slots[0]!;
    const last = --this.#size;
    this.#siftDown(this.#slots[last]!, this.#keys[last]!);
    return top;
  }

  /** Replaces the slot on top of a heap that is not empty. */
  replaceTop(slot: number, key: number): void {
    this.#siftDown(slot, key);
  }

  /** Puts a slot in the place of the one on top, or below. */
  #siftDown(slot: number, key: number): void {
    const [keys, slots, size] = [this.#keys, this.#slots, this.#size];
    let index = 0;
    for (let child = 1; child < size; child = 2 * index + 1) {
      if (child + 1 < size && keys[child + 1]! > keys[child]!) child++;
      if (keys[child]! <= key) break;
      keys[index] = keys[child]!;
      slots[index] = slots[child]!;
      index = child;
    }
    keys[index] = key;
    slots[index] = slot;
  }

  #grow(): void {
    const [keys, slots] = [new Float32Array(2 * this.#size), new Uint32Array(2 * this.#size)];
    keys.set(this.#keys);
    slots.set(this.#slots);
    [this.#keys, this.#slots] = [keys, slots];
  }
}
