/** Maximum size of the reused array, in code units; larger ones are not kept. */
const maxKeptUnits = 1 << 18;

/** Below this length, V8 copies a text's units no faster than a loop does. */
const minCopied = 64;

/**
 * The code units of one text after the other, in an array that is used again. V8 asks for the representation of a string at
 * each `charCodeAt`, and where a loop has met more than four of them, such as slices and joined strings of one and of two bytes
 * a unit, it looks up the method by its name for every unit.
 */
export class TextUnits {
  #text = "";
  #units = new Uint16Array(4096);
  #bytes = Buffer.from(this.#units.buffer);

  get text(): string {
    return this.#text;
  }

  /** Units of the text that was read, valid until the next `read`. Elements beyond `length` are undefined leftovers. */
  get units(): Uint16Array {
    return this.#units;
  }

  get length(): number {
    return this.#text.length;
  }

  /** Reads a text; returns itself. */
  read(text: string): this {
    const room = this.#units.length;
    if (text.length > room || (room > maxKeptUnits && text.length <= maxKeptUnits)) {
      this.#units = new Uint16Array(Math.max(4096, text.length > maxKeptUnits ? text.length : 2 * text.length));
      this.#bytes = Buffer.from(this.#units.buffer);
    }
    this.#text = text;
    if (text.length >= minCopied) this.#bytes.write(text, "utf16le");
    else for (let offset = 0; offset < text.length; offset++) this.#units[offset] = text.charCodeAt(offset);
    return this;
  }

  /** Code units of the character at a place: 2 for a pair of surrogates. */
  widthAt(offset: number): number {
    const isPair = (this.#units[offset]! & 0xfc00) === 0xd800 && offset + 1 < this.length;
    return isPair && (this.#units[offset + 1]! & 0xfc00) === 0xdc00 ? 2 : 1;
  }

  /** The character at a place, or half of one. */
  characterAt(offset: number): string {
    return this.#text.slice(offset, offset + this.widthAt(offset));
  }
}
