import type { Document } from "../types.js";

/** A file's bytes on their way to a document. */
export interface FileToLoad {
  readonly path: string;
  readonly uri: string;
  readonly bytes: Uint8Array;
}

/** What a file's bytes say; the rest of a document follows from where the file lies. */
export interface LoadedText extends Pick<Document, "text" | "title" | "metadata" | "mediaType" | "anchors"> {
  /** What could not be read as it was meant, though the text could. */
  readonly warnings?: readonly string[];
}

/**
 * Turns the bytes of one kind of file into text.
 *
 * @throws LoadError (`binary`) for bytes that are no text, (`unreadable`) for a file that is damaged.
 */
export type Loader = (file: FileToLoad) => LoadedText | Promise<LoadedText>;
