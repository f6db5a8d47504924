import { imageFacts } from "../../../media/image-header.js";
import { LoadError } from "../../../core/errors.js";
import type { TextRecognizer } from "../../../core/ports.js";
import { wrongKindReason } from "../binary.js";
import type { FileToLoad, LoadedText } from "../loader.js";
import { maxPages, type RecognizedPage, recognizedText, textOfPages } from "../recognized-pages.js";
import { tiffPages } from "./tiff-pages.js";

/** Pixels of a picture whose words are recognised: an A4 page at 600 dots to the inch has 35 million. */
const maxPixels = 50_000_000;

/**
 * Reads the words that a picture shows, with an anchor for each page of a TIFF.
 *
 * @throws LoadError (`unreadable`) when it is no picture, (`too-large`) for more than 50,000,000 pixels, (`empty`) when no
 *   words are recognised.
 */
export async function loadPicture(
  recognizer: TextRecognizer,
  file: FileToLoad,
  signal: AbortSignal,
  onProgress: () => void = () => {},
): Promise<LoadedText> {
  const { uri, bytes } = file;
  const { format, width = 0, height = 0 } = imageFacts(bytes);
  if (format === "unknown") {
    const reason = bytes.length === 0 ? wrongKindReason(bytes, "") : "is no picture that can be read, or a damaged one";
    throw new LoadError("unreadable", uri, `${uri} ${reason}`);
  }
  if (width * height > maxPixels) {
    const message = `${uri} has ${width}×${height} pixels, and at most ${maxPixels / 1e6} million are read: make it smaller`;
    throw new LoadError("too-large", uri, message);
  }
  const pages = format === "tiff" ? tiffPages(bytes, maxPages) : [bytes];
  const texts = new Map<number, RecognizedPage>();
  for (const [index, page] of pages.entries()) {
    signal.throwIfAborted();
    const { text } = await recognizedText(recognizer, page, { signal, onProgress });
    if (text.trim() !== "") texts.set(index + 1, { text: text.trim() });
    onProgress();
  }
  if (texts.size === 0) throw new LoadError("empty", uri, `${uri} shows no words that ${recognizer.name} recognises`);
  return { ...textOfPages("", [], texts), mediaType: "text/plain", metadata: { recognizedBy: recognizer.name } };
}
