/** Which row a label has: a hash table in two typed arrays, a third of what a `Map` of numbers takes. */
export class RowsByLabel {
  /** By slot; 0 for a slot that is free. A label stands at its own slot or behind it, with no free slot between. */
  #labels = new Uint32Array(16);
  #rows = new Uint32Array(16);
  /** From 32 bits to a slot. */
  #shift = 28;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(label: number): number | undefined {
    const slot = this.#slotFor(label);
    return this.#labels[slot] === label ? this.#rows[slot] : undefined;
  }

  /** Labels are whole numbers from 1 to 2³² - 1. */
  set(label: number, row: number): void {
    let slot = this.#slotFor(label);
    if (this.#labels[slot] === 0) {
      // At three quarters, walks to a free slot are still a few steps.
      if (4 * (this.#size + 1) > 3 * this.#labels.length) {
        this.#grow();
        slot = this.#slotFor(label);
      }
      this.#size++;
    }
    this.#labels[slot] = label;
    this.#rows[slot] = row;
  }

  delete(label: number): void {
    let free = this.#slotFor(label);
    if (this.#labels[free] === 0) return;
    this.#size--;
    // Whoever could stand in the slot that is free now moves there, so that nobody is parted from their own slot.
    const mask = this.#labels.length - 1;
    for (let slot = (free + 1) & mask; this.#labels[slot] !== 0; slot = (slot + 1) & mask) {
      const steps = (slot - this.#ownSlot(this.#labels[slot]!)) & mask;
      if (steps < ((slot - free) & mask)) continue;
      this.#labels[free] = this.#labels[slot]!;
      this.#rows[free] = this.#rows[slot]!;
      free = slot;
    }
    this.#labels[free] = 0;
  }

  /** Where the label stands, or the free slot that it would get. */
  #slotFor(label: number): number {
    const mask = this.#labels.length - 1;
    let slot = this.#ownSlot(label);
    while (this.#labels[slot] !== 0 && this.#labels[slot] !== label) slot = (slot + 1) & mask;
    return slot;
  }

  #ownSlot(label: number): number {
    // By 2³² over the golden ratio: spreads labels that follow each other, and those at any equal distance, evenly.
    return Math.imul(label, 0x9e3779b1) >>> this.#shift;
  }

  #grow(): void {
    const [labels, rows] = [this.#labels, this.#rows];
    this.#labels = new Uint32Array(2 * labels.length);
    this.#rows = new Uint32Array(2 * labels.length);
    this.#shift--;
    for (let slot = 0; slot < labels.length; slot++) {
      const label = labels[slot]!;
      if (label === 0) continue;
      const into = this.#slotFor(label);
      this.#labels[into] = label;
      this.#rows[into] = rows[slot]!;
    }
  }
}
