import { LoadError } from "../../../core/errors.js";
import type { TextRecognizer } from "../../../core/ports.js";
import type { FileToLoad, LoadedText } from "../loader.js";
import { loadPicture } from "./pictures.js";

/** A picture that is to be described, behind the words that a recognizer finds in it, if there is one. */
export async function loadPictureToDescribe(
  recognizer: TextRecognizer | undefined,
  file: FileToLoad,
  signal: AbortSignal,
  onProgress?: () => void,
): Promise<LoadedText> {
  const { bytes } = file;
  const read = recognizer && (await recognizedOrNone(() => loadPicture(recognizer, file, signal, onProgress)));
  const { text = "", ...rest } = read ?? {};
  return { mediaType: "text/plain", anchors: [], ...rest, text, pictures: [{ offset: text.length, bytes }] };
}

/** A picture without words may still show something. */
async function recognizedOrNone(recognize: () => Promise<LoadedText>): Promise<LoadedText | undefined> {
  try {
    return await recognize();
  } catch (thrown) {
    if (thrown instanceof LoadError && thrown.code === "empty") return undefined;
    throw thrown;
  }
}
