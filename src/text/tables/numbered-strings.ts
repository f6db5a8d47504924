import { ByteStrings } from "./byte-strings.js";

const lowBits = 0x7f;
/** Set in a byte when more bits of the same code unit follow. */
const continues = 0x80;

/**
 * Numbers strings from 0 on, in the order in which they are first added. Does what a `Map` from string to number does,
 * in arrays outside the heap: a third of the memory, and nothing for the garbage collector to visit. Each code unit is
 * kept in one to three bytes of seven bits, so that every string comes back as it was, lone surrogates included.
 */
export class NumberedStrings {
  readonly #strings = ByteStrings.empty();
  /** The string that is looked up. */
  #key = new Uint8Array(256);

  /** How many there are; the next new one gets this number. */
  get size(): number {
    return this.#strings.size;
  }

  /** The number of a string that was added. */
  numberOf(text: string): number | undefined {
    const length = this.#encode(text);
    return this.#strings.numberOf(this.#key, 0, length);
  }

  /** The number of a string, which is added where it is new. */
  add(text: string): number {
    const length = this.#encode(text);
    return this.#strings.add(this.#key, 0, length);
  }

  /** The string with this number. */
  text(number: number): string {
    const bytes = this.#strings.at(number);
    const units: string[] = [];
    for (let at = 0; at < bytes.length; at++) {
      let unit = bytes[at]! & lowBits;
      for (let shift = 7; bytes[at]! & continues; shift += 7) unit |= (bytes[++at]! & lowBits) << shift;
      units.push(String.fromCharCode(unit));
    }
    return units.join("");
  }

  /** The bytes of the string with this number, as `unitBytes` makes them. Valid until the next `add`. */
  bytes(number: number): Uint8Array {
    return this.#strings.at(number);
  }

  /** Fills `#key`; returns its length. */
  #encode(text: string): number {
    if (this.#key.length < 3 * text.length) this.#key = new Uint8Array(6 * text.length);
    return encodeUnits(text, this.#key);
  }
}

/** The code units of a text in one to three bytes each. */
export function unitBytes(text: string): Uint8Array {
  const key = new Uint8Array(3 * text.length);
  return key.subarray(0, encodeUnits(text, key));
}

/** Writes the code units of a text to `key`; returns their length there. */
function encodeUnits(text: string, key: Uint8Array): number {
  let end = 0;
  for (let index = 0; index < text.length; index++) {
    let unit = text.charCodeAt(index);
    for (; unit > lowBits; unit >>>= 7) key[end++] = (unit & lowBits) | continues;
    key[end++] = unit;
  }
  return end;
}
