import { crc32, deflateSync } from "node:zlib";
import { bandOf } from "./h264.js";
import type { FrameSize } from "./frame-size.js";
import { toRgb, type Colour } from "./picture.js";

const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
/** One byte a pixel, which names a colour of the palette. */
const paletteType = 3;

/** A picture of bands as a PNG file (W3C PNG, third edition). */
export function pngFile({ width, height }: FrameSize, bands: readonly Colour[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, paletteType], 8);
  const rows = Buffer.alloc((width + 1) * height);
  // As the video has it: bands end where rows of 16 pixels do.
  const blocks = Math.ceil(height / 16);
  for (let row = 0; row < height; row++) {
    const start = row * (width + 1);
    rows.fill(bandOf(Math.floor(row / 16), blocks, bands.length), start + 1, start + 1 + width);
  }
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(bands.flatMap(toRgb))),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), content]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(content.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
