import type { ImageFacts } from "../../media/image-header.js";

/** Formats that are sent, with their media types: those that the contract names for video tasks. */
const mediaTypes = new Map([
  ["png", "image/png"],
  ["jpeg", "image/jpeg"],
  ["webp", "image/webp"],
  ["gif", "image/gif"],
  ["bmp", "image/bmp"],
  ["tiff", "image/tiff"],
]);

/** Pixels of a picture: an A4 page at 600 dots to the inch has 35 million. */
const maxPixels = 50_000_000;
/** The contract bounds the pictures of video tasks so, and says nothing of those in messages. Exclusive. */
const belowBytes = 30 * 1024 * 1024;
/** Smaller ones are icons, bullets and rules. */
const minSide = 48;
/** Longer ones are rules and banners. */
const maxRatio = 10;
/** A photo has a tenth of a byte a pixel or more, a drawing a hundredth; a plain area compresses to some ten-thousandths. */
const minBytesPerPixel = 0.0015;
/** A picture that stands in more places of one document is its logo or its ornament. */
const maxPlaces = 3;

export interface Weighed {
  readonly facts: ImageFacts;
  readonly sizeBytes: number;
  /** Number of places in the document at which the same picture stands. */
  readonly places: number;
}

export type Verdict =
  | { readonly mediaType: string }
  /** Left out and counted: it says nothing. */
  | { readonly decorative: string }
  /** Left out with a warning: it may say something, but cannot be sent. */
  | { readonly refused: string };

/** Whether a picture is to be described. Decided by its header and size alone, so that no bomb is unpacked. Pure. */
export function worthDescribing({ facts, sizeBytes, places }: Weighed): Verdict {
  const { format, width = 0, height = 0 } = facts;
  const mediaType = mediaTypes.get(format);
  if (mediaType === undefined) return { refused: "is no PNG, JPEG, WebP, GIF, BMP or TIFF, or a damaged one" };
  const pixels = width * height;
  if (pixels > maxPixels) {
    return {
      refused: `has ${width}×${height} pixels, and at most ${maxPixels / 1e6} million are sent: make it smaller`,
    };
  }
  if (sizeBytes >= belowBytes)
    return { refused: `has ${sizeBytes} bytes, and below ${belowBytes} are sent: make it smaller` };
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  if (short < minSide) return { decorative: "small" };
  if (long > maxRatio * short) return { decorative: "a rule or banner" };
  if (places > maxPlaces) return { decorative: "repeated" };
  if (format !== "bmp" && format !== "tiff" && sizeBytes < minBytesPerPixel * pixels) return { decorative: "plain" };
  return { mediaType };
}
