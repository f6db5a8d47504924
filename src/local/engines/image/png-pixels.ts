import { inflateSync } from "node:zlib";

/** An image as red, green and blue, 0 to 255 each, row after row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

/** Pixels in the largest image that is unpacked: some 50 ms of work. */
const maxPixels = 4_000_000;

/** Bytes of one pixel by colour type: grey, colours, palette, grey with alpha, colours with alpha. */
const bytesPerPixel: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/**
 * Unpacks a PNG of 8 bits a sample and without interlacing (W3C PNG, third edition), which nearly all are; `undefined`
 * for others, for very large ones and for damaged ones. Alpha is left out.
 */
export function pngPixels(file: Buffer): Pixels | undefined {
  if (file.length < 33 || file.toString("latin1", 0, 8) !== "\x89PNG\r\n\x1a\n") return undefined;
  const width = file.readUInt32BE(16);
  const height = file.readUInt32BE(20);
  const size = bytesPerPixel[file.readUInt8(25)];
  const plain = file.readUInt8(24) === 8 && file.readUInt8(28) === 0;
  if (!plain || size === undefined || width * height === 0 || width * height > maxPixels) return undefined;
  const { palette, packed } = chunks(file);
  const rowBytes = width * size;
  let rows: Buffer;
  try {
    rows = inflateSync(packed, { maxOutputLength: (rowBytes + 1) * height });
  } catch {
    // Cut off, damaged, or longer than it says.
    return undefined;
  }
  if (rows.length < (rowBytes + 1) * height) return undefined;
  return { width, height, rgb: colours(unfiltered(rows, rowBytes, height, size), size, palette) };
}

function chunks(file: Buffer): { readonly palette: Buffer | undefined; readonly packed: Buffer } {
  const parts: Buffer[] = [];
  let palette: Buffer | undefined;
  for (let at = 8; at + 8 <= file.length;) {
    const end = at + 8 + file.readUInt32BE(at);
    const name = file.toString("latin1", at + 4, at + 8);
    if (name === "PLTE") palette = file.subarray(at + 8, end);
    if (name === "IDAT") parts.push(file.subarray(at + 8, end));
    at = end + 4;
  }
  return { palette, packed: Buffer.concat(parts) };
}

/** Every row begins with the number of its filter, by which its bytes are told from those left and above. */
function unfiltered(rows: Buffer, rowBytes: number, height: number, size: number): Uint8Array {
  const bytes = new Uint8Array(rowBytes * height);
  for (let row = 0; row < height; row++) {
    const filter = rows[row * (rowBytes + 1)] ?? 0;
    const from = row * (rowBytes + 1) + 1;
    const to = row * rowBytes;
    for (let at = 0; at < rowBytes; at++) {
      const left = at >= size ? (bytes[to + at - size] ?? 0) : 0;
      const above = row > 0 ? (bytes[to + at - rowBytes] ?? 0) : 0;
      const corner = at >= size && row > 0 ? (bytes[to + at - rowBytes - size] ?? 0) : 0;
      bytes[to + at] = (rows[from + at] ?? 0) + predicted(filter, left, above, corner);
    }
  }
  return bytes;
}

function predicted(filter: number, left: number, above: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  if (filter !== 4) return 0;
  const [toLeft, toAbove] = [Math.abs(above - corner), Math.abs(left - corner)];
  const toCorner = Math.abs(left + above - 2 * corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

function colours(bytes: Uint8Array, size: number, palette: Buffer | undefined): Uint8Array {
  const rgb = new Uint8Array((bytes.length / size) * 3);
  for (let pixel = 0; pixel < rgb.length / 3; pixel++) {
    for (let part = 0; part < 3; part++) {
      const sample = bytes[pixel * size + (size >= 3 ? part : 0)] ?? 0;
      rgb[pixel * 3 + part] = palette !== undefined && size === 1 ? (palette[sample * 3 + part] ?? 0) : sample;
    }
  }
  return rgb;
}
