import type { ChatEngine } from "../engines.js";
import { dominantColours } from "../image/dominant-colours.js";
import { pngPixels, type Pixels } from "../image/png-pixels.js";
import { sharpPixels } from "../image/sharp-pixels.js";
import { readImageHeader, type ImageHeader } from "./image-header.js";

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

async function describe(url: string): Promise<string> {
  if (!url.startsWith("data:")) return "stands at an address, which is not fetched";
  const comma = url.indexOf(",");
  const encoded = comma > 0 && /;base64$/i.test(url.slice(0, comma));
  const bytes = Buffer.from(encoded ? url.slice(comma + 1) : "", "base64");
  const header = readImageHeader(bytes);
  if (header === undefined) return `is of no format that is known here (${bytes.length} bytes)`;
  const size = `${header.width} by ${header.height} pixels (${bytes.length} bytes)`;
  return `is a ${header.format} file of ${size}${coloursOf(await pixelsOf(bytes, header))}`;
}

async function pixelsOf(bytes: Buffer, { format }: ImageHeader): Promise<Pixels | "missing" | undefined> {
  const pixels = format === "PNG" ? pngPixels(bytes) : undefined;
  // sharp unpacks no BMP.
  return pixels ?? (format === "BMP" ? undefined : sharpPixels(bytes));
}

/** What is said of an image's colours. Pure. */
export function coloursOf(pixels: Pixels | "missing" | undefined): string {
  if (pixels === "missing") return ", whose colours are read where the package sharp is installed (npm install sharp)";
  const colours = pixels === undefined ? [] : dominantColours(pixels);
  return colours.length === 0 ? "" : `, mostly ${colours.join(" and ")}`;
}
