/** Labels with scores, best first: falling score, ties by label. Both arrays have one entry each. */
export interface Ranking {
  readonly labels: Float64Array;
  readonly scores: Float64Array;
}

/** Keeps the `count` best of what it is offered: a heap whose root is the worst that is kept. */
export class TopK {
  readonly #count: number;
  readonly #labels: Float64Array;
  readonly #scores: Float64Array;
  #size = 0;

  constructor(count: number) {
    this.#count = count;
    this.#labels = new Float64Array(count);
    this.#scores = new Float64Array(count);
  }

  offer(label: number, score: number): void {
    if (this.#size < this.#count) {
      this.#up(this.#size++, label, score);
    } else if (this.#count > 0 && beats(score, label, this.#scores[0]!, this.#labels[0]!)) {
      this.#down(label, score);
    }
  }

  /** The lowest score that is kept; -Infinity while there is room for more. */
  get least(): number {
    return this.#size < this.#count ? -Infinity : (this.#scores[0] ?? Infinity);
  }

  ranking(): Ranking {
    const order = Array.from({ length: this.#size }, (_, at) => at).toSorted(
      (a, b) => this.#scores[b]! - this.#scores[a]! || this.#labels[a]! - this.#labels[b]!,
    );
    return {
      labels: Float64Array.from(order, (at) => this.#labels[at]!),
      scores: Float64Array.from(order, (at) => this.#scores[at]!),
    };
  }

  #up(from: number, label: number, score: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!beats(this.#scores[parent]!, this.#labels[parent]!, score, label)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#labels[at] = label;
    this.#scores[at] = score;
  }

  #down(label: number, score: number): void {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#size) break;
      const right = child + 1;
      if (
        right < this.#size &&
        beats(this.#scores[child]!, this.#labels[child]!, this.#scores[right]!, this.#labels[right]!)
      ) {
        child = right;
      }
      if (!beats(score, label, this.#scores[child]!, this.#labels[child]!)) break;
      this.#move(child, at);
      at = child;
    }
    this.#labels[at] = label;
    this.#scores[at] = score;
  }

  #move(from: number, to: number): void {
    this.#labels[to] = this.#labels[from]!;
    this.#scores[to] = this.#scores[from]!;
  }
}

function beats(score: number, label: number, otherScore: number, otherLabel: number): boolean {
  return score > otherScore || (score === otherScore && label < otherLabel);
}
