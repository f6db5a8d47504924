/** Labels and their scores, best first: by descending score, then by label. */
export interface Ranking {
  readonly labels: Float64Array;
  readonly scores: Float64Array;
}

/** Keeps the `count` best of the offered labels, in a heap whose root is the worst of them. */
export class TopK {
  readonly count: number;
  readonly #labels: Float64Array;
  readonly #scores: Float64Array;
  #size = 0;

  constructor(count: number) {
    this.count = count;
    this.#labels = new Float64Array(count);
    this.#scores = new Float64Array(count);
  }

  offer(label: number, score: number): void {
    if (this.#size < this.count) {
      this.#labels[this.#size] = label;
      this.#scores[this.#size++] = score;
      // A heap is only needed once there is something to replace.
      if (this.#size === this.count) for (let index = this.#size >> 1; index-- > 0;) this.#siftDown(index);
    } else if (this.count > 0 && beats(score, label, this.#scores[0]!, this.#labels[0]!)) {
      this.#labels[0] = label;
      this.#scores[0] = score;
      this.#siftDown(0);
    }
  }

  /** The lowest kept score; -Infinity while there is room for more. */
  get minScore(): number {
    return this.#size < this.count ? -Infinity : (this.#scores[0] ?? Infinity);
  }

  ranking(): Ranking {
    const order = Array.from({ length: this.#size }, (_, index) => index).toSorted(
      (a, b) => this.#scores[b]! - this.#scores[a]! || this.#labels[a]! - this.#labels[b]!,
    );
    return {
      labels: Float64Array.from(order, (position) => this.#labels[position]!),
      scores: Float64Array.from(order, (offset) => this.#scores[offset]!),
    };
  }

  /** Moves an entry down to its place below those that it beats. */
  #siftDown(from: number): void {
    const [labels, scores, size] = [this.#labels, this.#scores, this.#size];
    const [label, score] = [labels[from]!, scores[from]!];
    let index = from;
    for (let child = 2 * index + 1; child < size; child = 2 * index + 1) {
      const right = child + 1;
      if (right < size && beats(scores[child]!, labels[child]!, scores[right]!, labels[right]!)) child = right;
      if (!beats(score, label, scores[child]!, labels[child]!)) break;
      labels[index] = labels[child]!;
      scores[index] = scores[child]!;
      index = child;
    }
    labels[index] = label;
    scores[index] = score;
  }
}

function beats(score: number, label: number, otherScore: number, otherLabel: number): boolean {
  return score > otherScore || (score === otherScore && label < otherLabel);
}
