import type { LoadError } from "../../core/errors.js";

/** A file as a source finds it. */
export interface FileState {
  /** `Document.uri` of the document that the file becomes. */
  readonly uri: string;
  /** Size on disk. */
  readonly sizeBytes: number;
  /**
   * When it last changed, in nanoseconds since 1970, as the file system tells. Absent when that was so recent that it could
   * change once more without another time.
   */
  readonly modifiedNs?: string;
  /** Names the settings that it would be read with. */
  readonly readBy: string;
  /** SHA-256 of its bytes; absent until they are read. */
  readonly digest?: string | undefined;
}

/** Result of reading a file: a document, or an error. */
export type FileReading =
  | {
      /** Parts that could not be read as they were meant. */
      readonly warnings: readonly string[];
    }
  | {
      /** Why it cannot be read. */
      readonly error: LoadError;
    };

/** The same with the number of chunks that the document has. */
export type RecalledFile =
  | Extract<
      FileReading,
      {
        /** Why it could not be read. */
        error: unknown;
      }
    >
  | {
      /** Parts that could not be read as they were meant. */
      readonly warnings: readonly string[];
      /** Chunks that its document was cut into. */
      readonly chunks: number;
    };

/** Remembers files from run to run, so that a source need not read those that have not changed. */
export interface FileMemory {
  /** Unchanged files by uri. */
  recall(files: readonly FileState[]): Promise<ReadonlyMap<string, RecalledFile>>;
  /** Notes the result of reading a file's bytes. */
  noteRead(file: FileState, reading: FileReading): void;
}
