import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { resolve } from "../../core/options.js";
import type { Document } from "../../core/types.js";
import { Formats } from "../formats/formats.js";
import { loadFilesOptions, type LoadFilesOptions } from "./load-options.js";
import { mustBe, realPath } from "./real-path.js";
import { RowsSeen, isRow } from "./rows-seen.js";
import { documentSource, type DocumentSource, type ReadContext } from "./source.js";

export type ReadFileOptions = LoadFilesOptions;

/**
 * Reads one file. Whatever its ending, it is read if it is text; a file that cannot be read is a failure.
 *
 * @example
 * ```ts
 * import { openKnowledgeBase, readFile } from "citewell";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * await kb.ingest(readFile("./handbook.pdf"));
 * ```
 */
export function readFile(path: string, options: ReadFileOptions = {}): DocumentSource {
  const { loaders, recognizer, ...loading } = resolve("readFile", loadFilesOptions, options);
  const formats = new Formats(loaders, recognizer, loading.pictures?.reader.model);
  const file = realPath(path);
  const id = pathToFileURL(file).href;
  const seen = new RowsSeen();

  async function* read(context: ReadContext): AsyncGenerator<Document> {
    const { signal, report, files, isPlan, budget } = context;
    seen.start();
    await mustBe("file", file);
    report({ type: "progress", what: "files-found", count: 1 });
    const { readFiles, reportOutcomes } = await import("./read-files.js");
    const reading = {
      ...loading,
      isPlan,
      budget,
      roots: [dirname(file)],
      source: id,
      signal,
      report,
      seen,
      files,
      shownPath: basename,
    };
    const { failed } = yield* reportOutcomes(readFiles([file], formats, reading), context);
    seen.end(failed);
  }

  const vanished = (uri: string, source?: string): boolean => {
    if (uri === id) return true;
    const isItsRow = uri.startsWith(id) && isRow(uri);
    return isItsRow ? seen.isGone(uri) : source === id && seen.isWhole;
  };

  const only = (files: ReadonlySet<string>) =>
    documentSource({
      id,
      read: async function* (context) {
        if (files.has(file) && existsSync(file)) yield* read(context);
      },
      vanished: (uri, source) => files.has(file) && vanished(uri, source),
    });
  return documentSource({ id, read, vanished, files: { roots: [file], only } });
}
