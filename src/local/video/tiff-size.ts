import type { FrameSize } from "./frame-size.js";

const widthTag = 256;
const heightTag = 257;
/** Type of a 16-bit value; other values of size tags have 32 bits. */
const shortType = 3;

/** Width and height from a TIFF's first directory; `undefined` for anything else. */
export function readTiffSize(bytes: Buffer): FrameSize | undefined {
  const mark = bytes.toString("latin1", 0, 4);
  const little = mark === "II*\0";
  if (!little && mark !== "MM\0*") return undefined;
  const read = (at: number, length: 2 | 4) => (little ? bytes.readUIntLE(at, length) : bytes.readUIntBE(at, length));
  const found = new Map<number, number>();
  try {
    const start = read(4, 4);
    const entries = read(start, 2);
    for (let entry = 0; entry < entries; entry++) {
      const at = start + 2 + 12 * entry;
      const tag = read(at, 2);
      if (tag === widthTag || tag === heightTag) found.set(tag, read(at + 8, read(at + 2, 2) === shortType ? 2 : 4));
    }
  } catch (error) {
    // A read past the end: the file is shorter than it says.
    if (!(error instanceof RangeError)) throw error;
  }
  const width = found.get(widthTag);
  const height = found.get(heightTag);
  return width === undefined || height === undefined ? undefined : { width, height };
}
