/** A code unit takes six bytes at most, as `\u0000`; the rest are quotes and a comma. */
const mostBytes = (text: string): number => 6 * text.length + 3;

/** How many bytes texts take as a JSON array in UTF-8. Counted exactly only near a limit: most batches never come near. */
export class JsonBytes {
  /** At least what the texts take. */
  #bytes = 1;
  /** Texts that are counted in it as if they were the worst. */
  #guessed: string[] = [];

  /** Whether the texts take at most `limit` bytes with this one among them. */
  staysWithin(limit: number, text: string): boolean {
    if (this.#bytes + mostBytes(text) <= limit) return true;
    for (const one of this.#guessed) this.#bytes += exactBytes(one) - mostBytes(one);
    this.#guessed = [];
    return this.#bytes + exactBytes(text) <= limit;
  }

  add(text: string): void {
    this.#bytes += mostBytes(text);
    this.#guessed.push(text);
  }
}

function exactBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) + 1;
}
