import type { LoadError } from "../errors.js";
import { mapConcurrent, type Source } from "../stream.js";
import type { Document } from "../types.js";
import { ApartLoading } from "./apart/load-apart.js";
import { plainText, type Formats } from "./formats.js";
import { loadFile, loadRows, type FileOutcome, type LoadedDocument, type LoadFileOptions } from "./load-file.js";
import type { ReadContext } from "./source.js";

/** Files read at once: enough to hide the disk behind what comes after, and few enough to hold in memory. */
const readAhead = 2;

/** What comes of each file, in order, and of each row of those that hold rows. */
export async function* readFiles(
  files: readonly string[],
  formats: Formats,
  given: Omit<LoadFileOptions, "apart">,
): AsyncGenerator<FileOutcome> {
  const apart = new ApartLoading();
  const options = { ...given, apart };
  const load = async (file: string): Promise<Source<FileOutcome>> => {
    // A file of a kind that nobody knows may be text.
    const format = formats.ofFile(file) ?? plainText;
    return "rows" in format ? loadRows(file, format, options) : [await loadFile(file, format, options)];
  };
  try {
    const loading = mapConcurrent(files, load, { concurrency: readAhead, signal: given.signal });
    for await (const outcomes of loading) {
      let found = 0;
      for await (const outcome of outcomes) {
        // The file was counted when it was found; its rows are known only now.
        if (++found > 1) given.report({ type: "progress", what: "files-found", count: 1 });
        yield outcome;
      }
    }
  } finally {
    await apart.close();
  }
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
