/** Labels of chunks, one bit each, in memory that threads share: sending them to another thread copies nothing. */
export interface LabelBits {
  readonly bits: Uint8Array<SharedArrayBuffer>;
  /** How many are set. */
  readonly size: number;
}

/** The labels from 1 to `last` for which `isAllowed` returns true. */
export function labelBits(last: number, isAllowed: (label: number) => boolean): LabelBits {
  const bits = new Uint8Array(new SharedArrayBuffer((last >>> 3) + 1));
  let size = 0;
  for (let label = 1; label <= last; label++) {
    if (!isAllowed(label)) continue;
    bits[label >>> 3]! |= 1 << (label & 7);
    size++;
  }
  return { bits, size };
}

/** The chunks that a search may find, by label. */
export interface Allowed {
  readonly size: number;
  readonly has: (label: number) => boolean;
  /** In ascending order. */
  readonly labels: () => Generator<number>;
}

export class AllowedLabels implements Allowed {
  readonly shared: LabelBits;
  readonly #bits: Uint8Array;

  constructor(shared: LabelBits) {
    this.shared = shared;
    this.#bits = shared.bits;
  }

  get size(): number {
    return this.shared.size;
  }

  has(label: number): boolean {
    return ((this.#bits[label >>> 3] ?? 0) & (1 << (label & 7))) !== 0;
  }

  *labels(): Generator<number> {
    for (let index = 0; index < this.#bits.length; index++) {
      for (let label = 8 * index, left = this.#bits[index]!; left !== 0; label++, left >>= 1) if (left & 1) yield label;
    }
  }
}

/** The place of a label among ascending ones. */
export function slotOfLabel(labels: Uint32Array, label: number): number | undefined {
  let low = 0;
  let high = labels.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (labels[middle]! < label) low = middle + 1;
    else high = middle;
  }
  return labels[low] === label ? low : undefined;
}
