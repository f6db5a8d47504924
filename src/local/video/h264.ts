import { BitWriter } from "./bit-writer.js";
import type { FrameSize } from "./frame-size.js";
import type { Colour } from "./picture.js";

// A subset of H.264 that is enough for horizontal bands: one block of each band is written in raw samples, every other
// block copies its neighbour, and later pictures copy the one before. Numbers in comments are clauses of ITU-T H.264.

/** Pixels along the side of a macroblock. */
const blockPixels = 16;
/** Holds 2206 by 946 at 24 pictures a second (table A-1). */
const level = 42;
const frameNumberBits = 8;

export interface ParameterSets {
  readonly sequence: Buffer;
  readonly picture: Buffer;
}

interface Blocks {
  readonly across: number;
  readonly down: number;
}

function blocksOf({ width, height }: FrameSize): Blocks {
  return { across: Math.ceil(width / blockPixels), down: Math.ceil(height / blockPixels) };
}

/** 7.3.2.1 and 7.3.2.2: the baseline profile, pictures in the order of their display, no deblocking. */
export function parameterSets(size: FrameSize): ParameterSets {
  const { across, down } = blocksOf(size);
  const sequence = new BitWriter().bits(66, 8).bits(0xc0, 8).bits(level, 8).unsigned(0);
  sequence
    .unsigned(frameNumberBits - 4)
    .unsigned(2)
    .unsigned(1)
    .bit(0);
  sequence
    .unsigned(across - 1)
    .unsigned(down - 1)
    .bits(0b11, 2);
  const [right, bottom] = [(across * blockPixels - size.width) / 2, (down * blockPixels - size.height) / 2];
  sequence.bit(1).unsigned(0).unsigned(right).unsigned(0).unsigned(bottom).bit(0);
  const picture = new BitWriter().unsigned(0).unsigned(0).bits(0, 2).unsigned(0).unsigned(0).unsigned(0).bits(0, 3);
  picture.signed(0).signed(0).signed(0).bits(0b100, 3);
  return { sequence: unit(0x67, sequence.finish()), picture: unit(0x68, picture.finish()) };
}

export interface IntraPicture {
  readonly size: FrameSize;
  /** From top to bottom. */
  readonly bands: readonly Colour[];
  /** Colour of the last block, where it has one of its own. */
  readonly mark?: Colour;
  /** Neighbouring intra pictures must differ in it; 0 to 65535. */
  readonly id: number;
}

/** A picture that needs no other. */
export function intraPicture({ size, bands, mark, id }: IntraPicture): Buffer {
  const { across, down } = blocksOf(size);
  const writer = new BitWriter().unsigned(0).unsigned(7).unsigned(0).bits(0, frameNumberBits).unsigned(id);
  writer.bits(0, 2).signed(0).unsigned(1);
  const raw = new Uint8Array(across * down);
  for (let row = 0; row < down; row++) {
    const band = bandOf(row, down, bands.length);
    const opens = row === 0 || bandOf(row - 1, down, bands.length) !== band;
    for (let column = 0; column < across; column++) {
      const at = row * across + column;
      const marked = mark !== undefined && at === raw.length - 1 ? mark : undefined;
      const colour = marked ?? (opens && column === 0 ? bands[band] : undefined);
      if (colour === undefined) {
        const left = column > 0 ? raw[at - 1] : undefined;
        const above = row > 0 ? raw[at - across] : undefined;
        copiedBlock(writer, opens ? "left" : "above", neighbourCoefficients(left, above));
      } else {
        raw[at] = 1;
        rawBlock(writer, colour);
      }
    }
  }
  return unit(0x65, writer.finish());
}

/** The band that a row of blocks, or of pixels, lies in. */
export function bandOf(row: number, rows: number, bands: number): number {
  return Math.floor((row * bands) / rows);
}

/** A picture like the one before; `number` counts from the last intra picture. */
export function repeatedPicture(size: FrameSize, number: number): Buffer {
  const { across, down } = blocksOf(size);
  const writer = new BitWriter().unsigned(0).unsigned(5).unsigned(0);
  writer
    .bits(number % 2 ** frameNumberBits, frameNumberBits)
    .bits(0, 3)
    .signed(0)
    .unsigned(1);
  return unit(0x41, writer.unsigned(across * down).finish());
}

/** 7.3.5: macroblock type 25, samples as they are. */
function rawBlock(writer: BitWriter, [luma, blue, red]: Colour): void {
  writer.unsigned(25).align().fill(luma, 256).fill(blue, 64).fill(red, 64);
}

/** Macroblock types 1 and 2: sixteen by sixteen predicted from above or from the left, with nothing added. */
function copiedBlock(writer: BitWriter, from: "above" | "left", coefficients: number): void {
  writer
    .unsigned(from === "above" ? 1 : 2)
    .unsigned(from === "above" ? 2 : 1)
    .signed(0);
  // Table 9-5: no coefficient, in the code that the neighbours choose.
  if (coefficients >= 8) writer.bits(0b000011, 6);
  else if (coefficients >= 4) writer.bits(0b1111, 4);
  else if (coefficients >= 2) writer.bits(0b11, 2);
  else writer.bit(1);
}

/** 9.2.1: a raw block counts as 16 coefficients, a copied one as none; the mean of what is there. */
function neighbourCoefficients(left: number | undefined, above: number | undefined): number {
  if (left === undefined || above === undefined) return 16 * (left ?? above ?? 0);
  return (16 * left + 16 * above + 1) >> 1;
}

/** 7.4.1: a header byte and the payload, in which no two zero bytes are followed by a byte below 4. */
function unit(header: number, payload: Buffer): Buffer {
  const bytes: number[] = [header];
  let zeros = 0;
  for (const byte of payload) {
    if (zeros >= 2 && byte <= 3) {
      bytes.push(3);
      zeros = 0;
    }
    bytes.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from(bytes);
}
