/** Frequencies of terms in one text, by term number. Indexing takes half as long as with a `Map`, and 30 MB less. */
export class TermFrequencies {
  #byTerm = new Uint32Array(1024);
  /** Terms that occur, in the order of their first occurrence. */
  #terms = new Uint32Array(256);
  #size = 0;

  /** Number of terms that occur. */
  get size(): number {
    return this.#size;
  }

  /** The `at`th term that occurs, from 0. */
  term(index: number): number {
    return this.#terms[index]!;
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
    for (let index = 0; index < this.#size; index++) this.#byTerm[this.#terms[index]!] = 0;
    this.#size = 0;
  }
}

function enlarged(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(length);
  larger.set(array);
  return larger;
}
