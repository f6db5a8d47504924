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

  /** Number of strings, which the next new one gets as its number. */
  get size(): number {
    return this.#strings.size;
  }

  /** The number of a string that was added. */
  numberOf(text: string): number | undefined {
    const length = this.#encode(text);
    return this.#strings.numberOf(this.#key, 0, length);
  }

  /** The number of a string, which is added if it is new. */
  add(text: string): number {
    const length = this.#encode(text);
    return this.#strings.add(this.#key, 0, length);
  }

  /** The string with this number. */
  text(number: number): string {
    return textOfBytes(this.#strings.at(number));
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

/** The text that `unitBytes` made these bytes of. */
export function textOfBytes(bytes: Uint8Array): string {
  const units: string[] = [];
  for (let index = 0; index < bytes.length; index++) {
    let unit = bytes[index]! & lowBits;
    for (let shift = 7; bytes[index]! & continues; shift += 7) unit |= (bytes[++index]! & lowBits) << shift;
    units.push(String.fromCharCode(unit));
  }
  return units.join("");
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
