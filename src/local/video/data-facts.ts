import type { MediaFacts } from "../../contract/media.js";
import { readAudioFacts } from "./audio-facts.js";
import { readImageHeader } from "../chat/image-header.js";
import { readTiffSize } from "./tiff-size.js";

/** What a `data:` address says of the medium in it; `undefined` for other addresses, which are not fetched. Pure. */
export function dataFacts(kind: "image" | "audio", url: string): MediaFacts | undefined {
  const written = /^data:[a-z]+\/([a-z0-9]+);base64,/.exec(url);
  if (written === null) return undefined;
  const bytes = Buffer.from(url.slice(written[0].length), "base64");
  const sizeBytes = bytes.length;
  if (kind === "audio") return { sizeBytes, ...(readAudioFacts(bytes) ?? { format: "unknown" }) };
  const header = readImageHeader(bytes);
  if (header !== undefined) {
    return { sizeBytes, format: header.format.toLowerCase(), width: header.width, height: header.height };
  }
  const size = readTiffSize(bytes);
  return size === undefined ? { sizeBytes, format: "unknown" } : { sizeBytes, format: "tiff", ...size };
}
