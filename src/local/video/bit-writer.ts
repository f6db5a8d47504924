/** Writes bits into bytes, the highest first, with the codes that H.264 is written in (ITU-T H.264, 9.1). */
export class BitWriter {
  #bytes = Buffer.alloc(1024);
  #length = 0;
  #current = 0;
  #filled = 0;

  bit(value: 0 | 1): this {
    this.#current = (this.#current << 1) | value;
    this.#filled++;
    if (this.#filled === 8) {
      this.#byte(this.#current);
      this.#current = 0;
      this.#filled = 0;
    }
    return this;
  }

  /** The lowest `count` bits of a number, at most 32. */
  bits(value: number, count: number): this {
    for (let at = count - 1; at >= 0; at--) this.bit(((value >>> at) & 1) as 0 | 1);
    return this;
  }

  /** Exponential-Golomb code of a number from 0. */
  unsigned(value: number): this {
    const length = 32 - Math.clz32(value + 1);
    return this.bits(0, length - 1).bits(value + 1, length);
  }

  /** Exponential-Golomb code of a number of either sign. */
  signed(value: number): this {
    return this.unsigned(value > 0 ? 2 * value - 1 : -2 * value);
  }

  /** Zeros up to the next byte. */
  align(): this {
    while (this.#filled !== 0) this.bit(0);
    return this;
  }

  /** Bytes of one value; only between bytes. */
  fill(value: number, count: number): this {
    for (let at = 0; at < count; at++) this.#byte(value);
    return this;
  }

  /** A 1, and zeros up to the next byte: the end of every payload. */
  finish(): Buffer {
    this.bit(1).align();
    return this.#bytes.subarray(0, this.#length);
  }

  #byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#length)]);
    this.#bytes[this.#length++] = value;
  }
}
