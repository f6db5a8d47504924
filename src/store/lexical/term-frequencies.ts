/** How often terms occur in one text, by term number. A `Map` for each text would be most of what indexing it allocates. */
export class TermFrequencies {
  #byTerm = new Uint32Array(1024);
  /** Those that occur, in the order of their first occurrence. */
  #terms = new Uint32Array(256);
  #size = 0;

  /** How many terms occur. */
  get size(): number {
    return this.#size;
  }

  /** The term that occurs as the `at`th, from 0. */
  term(at: number): number {
    return this.#terms[at]!;
  }

  of(term: number): number {
    return this.#byTerm[term]!;
  }

  /** @param weight above 0. */
  add(term: number, weight: number): void {
    if (term >= this.#byTerm.length) this.#byTerm = enlarged(this.#byTerm, 2 * term);
    if (this.#byTerm[term] === 0) {
      if (this.#size === this.#terms.length) this.#terms = enlarged(this.#terms, 2 * this.#size);
      this.#terms[this.#size++] = term;
    }
    this.#byTerm[term]! += weight;
  }

  clear(): void {
    for (let at = 0; at < this.#size; at++) this.#byTerm[this.#terms[at]!] = 0;
    this.#size = 0;
  }
}

function enlarged(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(length);
  larger.set(array);
  return larger;
}
