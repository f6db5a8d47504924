import type { ChatEngine } from "../engines.js";
import { dominantColours } from "../image/dominant-colours.js";
import { pngPixels } from "../image/png-pixels.js";
import { readImageHeader } from "./image-header.js";

/** Says what an image file says of itself, and of a PNG its colours. It knows no things in pictures, and says so. */
export function visionEngine(): ChatEngine {
  return {
    draft: async ({ messages, json }) => {
      const images = messages.flatMap((message) => message.images);
      const findings = images.map((url, index) => `Image ${index + 1} ${describe(url)}.`);
      const text = [
        ...(findings.length > 0 ? findings : ["The messages hold no image."]),
        "This local engine reads formats, sizes and colours of files; it cannot see what a picture shows.",
      ].join(" ");
      return { reasoning: "", content: json ? JSON.stringify({ answer: text }) : text, toolCalls: [] };
    },
  };
}

function describe(url: string): string {
  if (!url.startsWith("data:")) return "stands at an address, which is not fetched";
  const comma = url.indexOf(",");
  const encoded = comma > 0 && /;base64$/i.test(url.slice(0, comma));
  const bytes = Buffer.from(encoded ? url.slice(comma + 1) : "", "base64");
  const header = readImageHeader(bytes);
  if (header === undefined) return `is of no format that is known here (${bytes.length} bytes)`;
  const pixels = pngPixels(bytes);
  const colours = pixels === undefined ? [] : dominantColours(pixels);
  const shown = colours.length === 0 ? "" : `, mostly ${colours.join(" and ")}`;
  return `is a ${header.format} file of ${header.width} by ${header.height} pixels (${bytes.length} bytes)${shown}`;
}
