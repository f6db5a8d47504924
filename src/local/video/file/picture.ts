import { crc32, deflateSync } from "node:zlib";
import type { FrameSize } from "./frame-size.js";

/** Luma and the two chroma values, 16 to 240: the range of television. */
export type Colour = readonly [luma: number, blue: number, red: number];

const bandCount = 8;

/**
 * The colours of a second of a video, as bands from top to bottom: a gradient that content and seed decide, and that
 * moves up by one band a second. Pure.
 */
export function bandColours(contentHash: number, seed: number, second: number): readonly Colour[] {
  const hue = ((contentHash ^ Math.imul(seed, 0x9e3779b1)) >>> 0) / 2 ** 32;
  return Array.from({ length: bandCount }, (_, band) => {
    const step = ((band + second) % bandCount) / bandCount;
    const angle = 2 * Math.PI * (hue + step / 3);
    return [
      Math.round(60 + 150 * step),
      Math.round(128 + 60 * Math.cos(angle)),
      Math.round(128 + 60 * Math.sin(angle)),
    ] as const;
  });
}

/** Red, green and blue of a colour, 0 to 255 each (ITU-R BT.601). Pure. */
function toRgb([luma, blue, red]: Colour): readonly [number, number, number] {
  const light = 1.164 * (luma - 16);
  const limit = (value: number) => Math.max(0, Math.min(255, Math.round(value)));
  return [
    limit(light + 1.596 * (red - 128)),
    limit(light - 0.813 * (red - 128) - 0.392 * (blue - 128)),
    limit(light + 2.017 * (blue - 128)),
  ];
}

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
  // Bands end where rows of 16 pixels do, like those of the video.
  const blocks = Math.ceil(height / 16);
  for (let row = 0; row < height; row++) {
    const start = row * (width + 1);
    rows.fill(Math.floor((Math.floor(row / 16) * bands.length) / blocks), start + 1, start + 1 + width);
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
