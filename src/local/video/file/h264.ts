import type { FrameSize } from "./frame-size.js";
import type { Colour } from "./picture.js";

// A subset of H.264 that is enough for horizontal bands: the first block of each band is written in raw samples, every
// other block copies its neighbour, and later pictures copy the one before. Payloads are written as strings of "0" and
// "1", since most codes are not whole bytes. Numbers in comments are clauses of ITU-T H.264.

/** Pixels along the side of a macroblock. */
const blockPixels = 16;
const baselineProfile = 66;
/** Holds 2206 by 946 at 24 pictures a second (table A-1). */
const level = 42;
const frameNumberBits = 8;

/** 9.2.1 and table 9-5: "no coefficients" beside a block without any, and beside a raw one, which counts as full. */
const noCoefficients = { besideCopy: "1", besideRaw: "000011" };
/** 7.3.5: a 16 × 16 block predicted from the left or from above, chroma likewise, same quantiser. */
const copyLeft = unsigned(2) + unsigned(1) + "1";
const copyAbove = unsigned(1) + unsigned(2) + "1";

export interface ParameterSets {
  readonly sequence: Buffer;
  readonly picture: Buffer;
}

/** 7.3.2.1 and 7.3.2.2: the baseline profile, pictures in the order of their display, no deblocking. */
export function parameterSets(size: FrameSize): ParameterSets {
  const { across, down } = blocksOf(size);
  const [right, bottom] = [(across * blockPixels - size.width) / 2, (down * blockPixels - size.height) / 2];
  const sequence = [
    fixed(baselineProfile, 8) + fixed(0xc0, 8) + fixed(level, 8) + unsigned(0),
    unsigned(frameNumberBits - 4) + unsigned(2) + unsigned(1) + "0",
    unsigned(across - 1) + unsigned(down - 1) + "11",
    `1${unsigned(0)}${unsigned(right)}${unsigned(0)}${unsigned(bottom)}0`,
  ].join("");
  // Identifiers 0, one slice group and reference, no weights, quantiser offsets of 0, deblocking under control.
  return { sequence: unit(0x67, sequence), picture: unit(0x68, "1100111000111100") };
}

export interface IntraPicture {
  readonly size: FrameSize;
  /** Bands from top to bottom. */
  readonly bands: readonly Colour[];
  /** Colour of the last block, when it has one of its own. */
  readonly mark?: Colour;
  /** Neighbouring intra pictures must differ in it; 0 to 65535. */
  readonly id: number;
}

/** A picture that needs no other. */
export function intraPicture({ size, bands, mark, id }: IntraPicture): Buffer {
  const { across, down } = blocksOf(size);
  let bits = unsigned(0) + unsigned(7) + unsigned(0) + fixed(0, frameNumberBits) + unsigned(id) + "001" + unsigned(1);
  for (const [band, colour] of bands.entries()) {
    const rows = Math.ceil(((band + 1) * down) / bands.length) - Math.ceil((band * down) / bands.length);
    bits = withRawBlock(bits, colour) + copyLeft + noCoefficients.besideRaw;
    bits += (copyLeft + noCoefficients.besideCopy).repeat(across - 2);
    if (rows === 1) continue;
    bits += copyAbove + noCoefficients.besideRaw;
    bits += (copyAbove + noCoefficients.besideCopy).repeat(across * (rows - 1) - 1);
  }
  const lastBlock = copyAbove + noCoefficients.besideCopy;
  return unit(0x65, mark === undefined ? bits : withRawBlock(bits.slice(0, -lastBlock.length), mark));
}

/** A picture like the one before; `number` counts from the last intra picture. */
export function repeatedPicture(size: FrameSize, number: number): Buffer {
  const { across, down } = blocksOf(size);
  const header = unsigned(0) + unsigned(5) + unsigned(0) + fixed(number % 2 ** frameNumberBits, frameNumberBits);
  return unit(0x41, `${header}0001${unsigned(1)}${unsigned(across * down)}`);
}

function blocksOf({ width, height }: FrameSize): { readonly across: number; readonly down: number } {
  return { across: Math.ceil(width / blockPixels), down: Math.ceil(height / blockPixels) };
}

/** Appends macroblock type 25: samples as they are, on whole bytes. */
function withRawBlock(bits: string, [luma, blue, red]: Colour): string {
  return (
    wholeBytes(bits + unsigned(25)) + fixed(luma, 8).repeat(256) + fixed(blue, 8).repeat(64) + fixed(red, 8).repeat(64)
  );
}

function fixed(value: number, count: number): string {
  return value.toString(2).padStart(count, "0");
}

/** 9.1: the Exponential-Golomb code of a number from 0. */
function unsigned(value: number): string {
  const binary = (value + 1).toString(2);
  return "0".repeat(binary.length - 1) + binary;
}

function wholeBytes(bits: string): string {
  return bits.padEnd(8 * Math.ceil(bits.length / 8), "0");
}

/** 7.4.1: a header byte and the payload, in which no two zero bytes are followed by a byte below 4. */
function unit(header: number, payload: string): Buffer {
  const bits = wholeBytes(`${payload}1`);
  const bytes = Buffer.alloc(bits.length / 8);
  for (let index = 0; index < bytes.length; index++)
    bytes[index] = Number.parseInt(bits.slice(8 * index, 8 * index + 8), 2);
  // oxlint-disable-next-line no-control-regex
  const escaped = bytes.toString("latin1").replace(/\0\0(?=[\0-\x03])/g, "\0\0\x03");
  return Buffer.concat([Buffer.of(header), Buffer.from(escaped, "latin1")]);
}
