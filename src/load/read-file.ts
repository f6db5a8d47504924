import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { resolve } from "../options.js";
import type { Document } from "../types.js";
import { readFiles, reportFailed, reportLoaded } from "./read-files.js";
import { readFolder, ReadFolderOptions } from "./read-folder.js";
import { mustBe, realPath } from "./real-path.js";
import { documentSource, type DocumentSource, type ReadContext } from "./source.js";

export const ReadFileOptions = ReadFolderOptions.pick({ maxFileBytes: true });
export type ReadFileOptions = Pick<ReadFolderOptions, "maxFileBytes">;

/** One file. Whatever its ending, it is read if it is text; what cannot be read is a failure. */
export function readFile(path: string, options: ReadFileOptions = {}): DocumentSource {
  const { maxFileBytes } = resolve("readFile", ReadFileOptions, options);
  const file = realPath(path);
  const id = pathToFileURL(file).href;
  const read = async function* (context: ReadContext): AsyncGenerator<Document> {
    await mustBe("file", file);
    context.report({ type: "progress", what: "files-found", count: 1 });
    for await (const outcome of readFiles([file], { source: id, maxFileBytes, signal: context.signal })) {
      if ("document" in outcome) yield* reportLoaded(outcome, context);
      else reportFailed(outcome.error, context);
    }
  };
  return documentSource({
    id,
    read,
    vanished: (uri) => uri === id,
    files: {
      roots: [file],
      only: (files) =>
        documentSource({
          id,
          read: async function* (context) {
            if (files.has(file) && existsSync(file)) yield* read(context);
          },
          vanished: (uri) => uri === id && files.has(file),
        }),
    },
  });
}

/** A folder or a file, whichever the path leads to. */
export function readPath(path: string, options: ReadFolderOptions = {}): DocumentSource {
  const { maxFileBytes } = options;
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  return isFile ? readFile(path, { maxFileBytes }) : readFolder(path, options);
}
