import type { Document } from "../types.js";

/** A file's bytes on their way to a document. */
export interface FileToLoad {
  /** Of a file on disk its path, of one from elsewhere the name it would be saved under. */
  readonly path: string;
  readonly uri: string;
  readonly bytes: Uint8Array;
  /** Encoding that the sender named, if any. */
  readonly charset?: string;
}

/** What a file's bytes say; the rest of a document follows from where the file lies. */
export interface LoadedText extends Pick<Document, "text" | "title" | "metadata" | "mediaType" | "anchors"> {
  /** What could not be read as it was meant, though the text could. */
  readonly warnings?: readonly string[];
}

/**
 * Turns the bytes of one kind of file into text. `signal` is aborted when the run is, and when the file's time is up.
 *
 * @throws LoadError (`binary`) for bytes that are no text, (`unreadable`) for a file that is damaged, (`empty`) for one
 *   that holds no text though it should.
 */
export type Loader = (file: FileToLoad, signal: AbortSignal) => LoadedText | Promise<LoadedText>;
