import { extname } from "node:path";
import { LoadError } from "../errors.js";
import { mapConcurrent } from "../stream.js";
import type { Document } from "../types.js";
import { loadFile, type LoadedDocument } from "./load-file.js";
import { loaderFor } from "./loaders.js";
import { loadPlainText } from "./plain-text.js";
import type { ReadContext } from "./source.js";

export type FileOutcome = LoadedDocument | { readonly error: LoadError };

/** Files read at once: enough to hide the disk behind what comes after, and few enough to hold in memory. */
const readAhead = 2;

/** What comes of each file, in order. A file of a kind that nobody knows is read as plain text. */
export async function* readFiles(
  files: readonly string[],
  options: { readonly source: string; readonly maxFileBytes: number; readonly signal: AbortSignal },
): AsyncGenerator<FileOutcome> {
  const load = async (file: string): Promise<FileOutcome> => {
    try {
      return await loadFile(file, loaderFor(extname(file).toLowerCase()) ?? loadPlainText, options);
    } catch (error) {
      if (error instanceof LoadError) return { error };
      throw error;
    }
  };
  yield* mapConcurrent(files, load, { concurrency: readAhead, signal: options.signal });
}

/** Hands a document on unless there is nothing in it: then it is passed over, as if it were not there. */
export function* reportLoaded({ document, warnings }: LoadedDocument, { report }: ReadContext): Generator<Document> {
  for (const message of warnings) report({ type: "warning", message });
  if (document.text.trim() === "") report({ type: "skipped", uri: document.uri, reason: "blank" });
  else yield document;
}

export function reportFailed(error: LoadError, { failures, report }: ReadContext): void {
  failures.set(error.uri, error);
  report({ type: "document", uri: error.uri, outcome: "failed", chunks: 0, error });
}
