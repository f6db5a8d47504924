import { BMP } from "image-size/types/bmp";
import { GIF } from "image-size/types/gif";
import { JPG } from "image-size/types/jpg";
import { PNG } from "image-size/types/png";
import { TIFF } from "image-size/types/tiff";
import { WEBP } from "image-size/types/webp";

/** Format and size of an image; no size where the format is not known. */
export interface ImageFacts {
  /** Format in lower case, such as `jpeg`; `unknown` for those that are not read here. */
  readonly format: string;
  /** Width in pixels. */
  readonly width?: number;
  /** Height in pixels. */
  readonly height?: number;
}

// Imported one by one, so that readers of formats that the contract lacks never see the bytes: some looped forever on
// crafted files (CVE-2025-71319, CVE-2025-71329), and the package's own switch for them is global.
const readers = [
  ["png", PNG],
  ["jpeg", JPG],
  ["webp", WEBP],
  ["gif", GIF],
  ["bmp", BMP],
  ["tiff", TIFF],
] as const;

/** Bytes at a file's beginning that hold the size, except for a TIFF, whose directory may stand anywhere. */
export const imageHeaderBytes = 256 * 1024;

/** Reads format and size in pixels from an image's first bytes. @throws Error when they are cut off or damaged. */
export function readImageHeader(given: Uint8Array): ImageFacts {
  // A copy has a buffer of its own: the readers look past the end of a view, into the rest of its buffer.
  const bytes = new Uint8Array(given);
  const found = readers.find(([, reader]) => bytes.length >= 12 && reader.validate(bytes));
  if (!found) return { format: /^.{4}ftyp(hei|mif1|msf1)/s.test(latin1(bytes)) ? "heic" : "unknown" };
  const [format, reader] = found;
  const { width, height } = reader.calculate(bytes);
  // A BMP whose rows run from the top has a negative height.
  const size = { width: Math.abs(width), height: Math.abs(height) };
  if (!(size.width > 0 && size.height > 0)) throw new Error(`its header states a size of ${width}×${height} px`);
  return { format, ...size };
}

/** Like `readImageHeader`, for a whole file; one that is cut off or damaged is of no known format. */
export function imageFacts(file: Uint8Array): ImageFacts {
  try {
    return readImageHeader(file);
  } catch {
    return { format: "unknown" };
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, 16)).toString("latin1");
}
