import { imageFacts } from "../../../media/image-header.js";
import { imageLimits } from "../../../contract/media.js";
import { structuredAnswer } from "../chat/structured-answer.js";
import { bytesOfDataUrl } from "../data-url.js";
import type { ChatEngine } from "../engines.js";
import { dominantColours } from "./dominant-colours.js";

/**
 * Says what an image file says of itself, and its colours where the package `sharp` is installed. It knows no things in
 * pictures, and says so.
 */
export function visionEngine(): ChatEngine {
  return {
    draft: async ({ messages, json, schema }, { signal }) => {
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
      if (schema !== undefined) {
        return { reasoning: "", content: JSON.stringify(structuredAnswer(schema, text, [])), toolCalls: [] };
      }
      return { reasoning: "", content: json ? JSON.stringify({ answer: text }) : text, toolCalls: [] };
    },
  };
}

const formats: ReadonlySet<string> = new Set(imageLimits.formats);

async function describe(url: string): Promise<string> {
  if (!url.startsWith("data:")) return "stands at an address, which is not fetched";
  const bytes = bytesOfDataUrl(url);
  const { format, width, height } = imageFacts(bytes);
  if (!formats.has(format)) return `is of no format that is known here (${bytes.length} bytes)`;
  const name = format === "webp" ? "WebP" : format.toUpperCase();
  return `is a ${name} file of ${width} by ${height} pixels (${bytes.length} bytes)${await coloursOf(bytes, format)}`;
}

async function coloursOf(file: Buffer, format: string): Promise<string> {
  // sharp unpacks no BMP.
  const colours = format === "bmp" ? [] : await dominantColours(file);
  if (colours === "missing") return ", whose colours are read where the package sharp is installed (npm install sharp)";
  return colours.length === 0 ? "" : `, mostly ${colours.join(" and ")}`;
}
