import type { ChatEngine } from "../engines.js";
import { readImageHeader } from "./image-header.js";

/** Says what an image file says of itself. It looks at headers, not at pictures, and answers so. */
export function visionEngine(): ChatEngine {
  return {
    draft: async ({ messages, json }) => {
      const images = messages.flatMap((message) => message.images);
      const findings = images.map((url, index) => `Image ${index + 1} ${describe(url)}.`);
      const text = [
        ...(findings.length > 0 ? findings : ["The messages hold no image."]),
        "This local engine reads image headers only; it cannot see what a picture shows.",
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
  return header === undefined
    ? `is of no format that is known here (${bytes.length} bytes)`
    : `is a ${header.format} file of ${header.width} by ${header.height} pixels (${bytes.length} bytes)`;
}
