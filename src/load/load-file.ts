import { createReadStream, existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { pathToFileURL } from "node:url";
import { asError, LoadError } from "../errors.js";
import type { Document } from "../types.js";
import type { ApartLoading } from "./apart/load-apart.js";
import type { RowFormat, TextFormat } from "./formats.js";
import { loadBytes } from "./load-bytes.js";
import type { LoadOptions } from "./load-options.js";
import { unreadableName } from "./real-path.js";
import type { ReadContext } from "./source.js";

export interface LoadFileOptions
  extends Pick<LoadOptions, "maxFileBytes" | "timeoutMs" | "rows">, Pick<ReadContext, "signal" | "report"> {
  readonly source: string;
  readonly apart: ApartLoading;
  /** Is told the URI of each file whose rows were all read. */
  readonly allRows?: (uri: string) => void;
}

export interface LoadedDocument {
  readonly document: Document;
  readonly warnings: readonly string[];
}

/** What comes of a file, or of one row of it. */
export type FileOutcome = LoadedDocument | { readonly error: LoadError };

/** One file as a document. Its title is what the file says it is, or its name without the ending. */
export async function loadFile(path: string, format: TextFormat, options: LoadFileOptions): Promise<FileOutcome> {
  const { source, maxFileBytes, signal } = options;
  const uri = pathToFileURL(path).href;
  try {
    const { size } = await stat(path);
    if (size > maxFileBytes) {
      throw new LoadError("too-large", uri, `${uri} has ${size} bytes, and maxFileBytes is ${maxFileBytes}`);
    }
    const bytes = await readFile(path, { signal });
    const { warnings = [], ...loaded } = await loadBytes({ path, uri, bytes }, format, options);
    const title =
      loaded.title ??
      basename(path, extname(path))
        .replace(/[\p{Cc}\s]+/gu, " ")
        .trim();
    return { document: { uri, source, ...loaded, title }, warnings: warnings.map((warning) => `${uri}: ${warning}`) };
  } catch (thrown) {
    signal.throwIfAborted();
    const error = asLoadError(uri, thrown);
    const isLost = path.includes("\u{fffd}") && !existsSync(path);
    return { error: isLost ? new LoadError("unreadable", uri, `${uri}: ${unreadableName}`, { cause: error }) : error };
  }
}

/** The documents of a file of rows, read as they are asked for. */
export async function* loadRows(
  path: string,
  { rows }: RowFormat,
  options: LoadFileOptions,
): AsyncGenerator<FileOutcome> {
  const { source, maxFileBytes, signal } = options;
  const uri = pathToFileURL(path).href;
  try {
    const chunks = createReadStream(path, { signal });
    let failed = false;
    for await (const outcome of rows({ uri, chunks }, { mapping: options.rows, source, maxRowBytes: maxFileBytes })) {
      failed ||= "error" in outcome;
      yield outcome;
    }
    if (!failed) options.allRows?.(uri);
  } catch (thrown) {
    signal.throwIfAborted();
    yield { error: asLoadError(uri, thrown) };
  }
}

export function asLoadError(uri: string, thrown: unknown): LoadError {
  if (thrown instanceof LoadError) return thrown;
  const cause = asError(thrown);
  return new LoadError("unreadable", uri, `${uri} cannot be read: ${cause.message}`, { cause });
}
