import type { Pixels } from "./png-pixels.js";

/** Pixels in the largest image that is unpacked: what cameras make, and no bomb. */
const maxPixels = 50_000_000;

/** Sides that an image is shrunk to: enough for the shares of its colours. */
const side = 200;

/**
 * Unpacks a still or the first frame of an image with `sharp`, shrunk; `missing` where that package is not installed, and
 * `undefined` for damaged and for very large ones. Give it only files whose first bytes were recognised: it would read
 * other formats, too, and some of them name files.
 */
export async function sharpPixels(file: Buffer): Promise<Pixels | "missing" | undefined> {
  const sharp = await loadSharp();
  if (sharp === undefined) return "missing";
  try {
    const { data, info } = await sharp(file, { limitInputPixels: maxPixels })
      .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true, kernel: "nearest" })
      .toColourspace("srgb")
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    return info.channels === 3 ? { width: info.width, height: info.height, rgb: data } : undefined;
  } catch {
    // Cut off, damaged, or too large.
    return undefined;
  }
}

async function loadSharp() {
  try {
    return (await import("sharp")).default;
  } catch {
    return undefined;
  }
}
