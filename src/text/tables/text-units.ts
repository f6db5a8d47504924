/** In code units: room for more is not kept. */
const maxKeptUnits = 1 << 18;

/** Of shorter texts, V8 copies the units no faster than a loop does. */
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

  /** What is behind `length` is of no meaning. Valid until the next `read`. */
  get units(): Uint16Array {
    return this.#units;
  }

  get length(): number {
    return this.#text.length;
  }

  /** Returns itself. */
  read(text: string): this {
    const room = this.#units.length;
    if (text.length > room || (room > maxKeptUnits && text.length <= maxKeptUnits)) {
      this.#units = new Uint16Array(Math.max(4096, text.length > maxKeptUnits ? text.length : 2 * text.length));
      this.#bytes = Buffer.from(this.#units.buffer);
    }
    this.#text = text;
    if (text.length >= minCopied) this.#bytes.write(text, "utf16le");
    else for (let at = 0; at < text.length; at++) this.#units[at] = text.charCodeAt(at);
    return this;
  }

  /** Code units of the character at a place: 2 for a pair of surrogates. */
  widthAt(at: number): number {
    const isPair = (this.#units[at]! & 0xfc00) === 0xd800 && at + 1 < this.length;
    return isPair && (this.#units[at + 1]! & 0xfc00) === 0xdc00 ? 2 : 1;
  }

  /** The character at a place, or half of one. */
  characterAt(at: number): string {
    return this.#text.slice(at, at + this.widthAt(at));
  }
}
