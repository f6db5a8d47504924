import { readFile, stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { pathToFileURL } from "node:url";
import { asError, LoadError } from "../errors.js";
import type { Document } from "../types.js";
import type { Loader } from "./loader.js";

export interface LoadFileOptions {
  readonly source: string;
  readonly maxFileBytes: number;
  readonly signal: AbortSignal;
}

export interface LoadedDocument {
  readonly document: Document;
  readonly warnings: readonly string[];
}

/**
 * One file as a document. Its title is what the file says it is, or its name without the ending.
 *
 * @throws LoadError
 */
export async function loadFile(path: string, loader: Loader, options: LoadFileOptions): Promise<LoadedDocument> {
  const { source, maxFileBytes, signal } = options;
  const uri = pathToFileURL(path).href;
  try {
    const { size } = await stat(path);
    if (size > maxFileBytes) {
      throw new LoadError("too-large", uri, `${uri} has ${size} bytes, and maxFileBytes is ${maxFileBytes}`);
    }
    const bytes = await readFile(path, { signal });
    const { warnings = [], ...loaded } = await loader({ path, uri, bytes });
    const title = loaded.title ?? basename(path, extname(path));
    return { document: { uri, source, ...loaded, title }, warnings: warnings.map((warning) => `${uri}: ${warning}`) };
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof LoadError) throw thrown;
    const cause = asError(thrown);
    throw new LoadError("unreadable", uri, `${uri} cannot be read: ${cause.message}`, { cause });
  }
}
