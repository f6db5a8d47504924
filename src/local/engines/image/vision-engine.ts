import { readImageHeader } from "../../../contract/image-header.js";
import { imageLimits, type MediaFacts } from "../../../contract/media.js";
import type { ChatEngine } from "../engines.js";
import { pngPixels, type Pixels } from "./png-pixels.js";
import { sharpPixels } from "./sharp-pixels.js";

/**
 * Says what an image file says of itself, and its colours: of a PNG always, of JPEG, GIF and WebP where the package
 * `sharp` is installed. It knows no things in pictures, and says so.
 */
export function visionEngine(): ChatEngine {
  return {
    draft: async ({ messages, json }, { signal }) => {
      const images = messages.flatMap((message) => message.images);
      const findings: string[] = [];
      for (const url of images) {
        signal.throwIfAborted();
        findings.push(`Image ${findings.length + 1} ${await describe(url)}.`);
      }
      const text = [
        ...(findings.length > 0 ? findings : ["The messages hold no image."]),
        "This local engine reads formats, sizes and colours of files; it cannot see what a picture shows.",
      ].join(" ");
      return { reasoning: "", content: json ? JSON.stringify({ answer: text }) : text, toolCalls: [] };
    },
  };
}

const formats: ReadonlySet<string> = new Set(imageLimits.formats);

async function describe(url: string): Promise<string> {
  if (!url.startsWith("data:")) return "stands at an address, which is not fetched";
  const comma = url.indexOf(",");
  const encoded = comma > 0 && /;base64$/i.test(url.slice(0, comma));
  const bytes = Buffer.from(encoded ? url.slice(comma + 1) : "", "base64");
  const { format, width, height } = header(bytes);
  if (!formats.has(format)) return `is of no format that is known here (${bytes.length} bytes)`;
  const name = format === "webp" ? "WebP" : format.toUpperCase();
  const colours = coloursOf(await pixelsOf(bytes, format));
  return `is a ${name} file of ${width} by ${height} pixels (${bytes.length} bytes)${colours}`;
}

function header(bytes: Buffer): MediaFacts {
  try {
    return readImageHeader(bytes);
  } catch {
    // Cut off or damaged.
    return { format: "unknown" };
  }
}

async function pixelsOf(bytes: Buffer, format: string): Promise<Pixels | "missing" | undefined> {
  const pixels = format === "png" ? pngPixels(bytes) : undefined;
  // sharp unpacks no BMP.
  return pixels ?? (format === "bmp" ? undefined : sharpPixels(bytes));
}

/** Describes the colours of an image. Pure. */
export function coloursOf(pixels: Pixels | "missing" | undefined): string {
  if (pixels === "missing") return ", whose colours are read where the package sharp is installed (npm install sharp)";
  const colours = pixels === undefined ? [] : dominantColours(pixels);
  return colours.length === 0 ? "" : `, mostly ${colours.join(" and ")}`;
}

const named: readonly (readonly [name: string, red: number, green: number, blue: number])[] = [
  ["black", 0, 0, 0],
  ["white", 255, 255, 255],
  ["grey", 128, 128, 128],
  ["red", 220, 30, 30],
  ["orange", 255, 150, 0],
  ["yellow", 250, 230, 40],
  ["green", 30, 160, 60],
  ["cyan", 30, 200, 220],
  ["blue", 30, 70, 220],
  ["purple", 130, 40, 170],
  ["pink", 250, 150, 190],
  ["brown", 120, 70, 30],
];

/** Pixels that are looked at, at most: a share of a hundredth is still counted to a tenth of itself. */
const maxSamples = 10_000;
const minShare = 0.1;
const maxNames = 3;

/** Names of the colours that cover at least a tenth of an image each, the largest share first; three at most. Pure. */
export function dominantColours({ rgb }: Pixels): readonly string[] {
  const pixels = rgb.length / 3;
  const step = Math.max(1, Math.floor(pixels / maxSamples));
  const counts = new Map<string, number>();
  let looks = 0;
  for (let pixel = 0; pixel < pixels; pixel += step) {
    const name = nearestName(rgb[3 * pixel] ?? 0, rgb[3 * pixel + 1] ?? 0, rgb[3 * pixel + 2] ?? 0);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    looks++;
  }
  return [...counts]
    .filter(([, count]) => count >= minShare * looks)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, maxNames)
    .map(([name]) => name);
}

function nearestName(red: number, green: number, blue: number): string {
  let best = "";
  let least = Number.POSITIVE_INFINITY;
  for (const [name, r, g, b] of named) {
    const distance = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}
