import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pathToFileURL } from "node:url";
import { asError, CitewellError, LoadError } from "../../core/errors.js";
import { sortedJson } from "../../core/json.js";
import type { KnowledgeBase, ScopedKnowledgeBase } from "../../knowledge-base/options.js";
import { Formats } from "../../load/formats/formats.js";
import { readFile } from "../../load/sources/read-file.js";
import { type DocumentSource, documentSource } from "../../load/sources/source.js";
import { type Access, hasRole } from "../access.js";
import { Refusal } from "../guard/refusal.js";
import type { WireStatus, WireUpload } from "./wire.js";

export interface UploadSettings {
  readonly folder: string;
  readonly maxBytes: number;
}

/** The uploader, with the documents that it sees. */
export interface Uploader {
  readonly access: Access;
  readonly documents: ScopedKnowledgeBase;
}

type Progress = Pick<WireUpload, "state" | "chunks" | "error" | "warnings">;

/** Advice for unreadable files, to people who cannot set options, by the option that would have helped. */
const waysOut: ReadonlyMap<string | undefined, string> = new Map([
  [
    "recognizer",
    "holds no text that can be read, only pictures of pages, as a scan does. Let a PDF or scanning program recognise its text " +
      "(often called OCR, or searchable PDF), and upload it again",
  ],
  ["maxFileBytes", "is larger than what is read here: split it, and upload the parts"],
  ["timeoutMs", "took too long to read: split it, and upload the parts"],
]);

/** File systems take no longer names. */
const maxNameBytes = 200;
const unfinished = ".part-";
/** Stands beside a file until it was read: one that took the place of another would look finished after a crash. */
const queued = ".queued-";

/**
 * Files that people upload: kept in a folder, one subfolder for each tenant, and indexed one after the other. The file stays,
 * so that a failed one can be tried again; one that was not finished is read when a later process first lists the files.
 */
export class Uploads {
  readonly #kb: KnowledgeBase;
  readonly #settings: UploadSettings;
  readonly #formats = new Formats();
  /** Progress of this process's uploads, by path. */
  readonly #progress = new Map<string, Progress>();
  readonly #ending = new AbortController();
  #queue: Promise<void> = Promise.resolve();

  constructor(kb: KnowledgeBase, settings: UploadSettings) {
    this.#kb = kb;
    this.#settings = settings;
  }

  /** Limits of the caller's uploads; `undefined` when it may upload nothing. */
  limitsFor(access: Access): WireStatus["uploads"] {
    // Without metadata of its tenant, a file would be one that its own uploader cannot see, and others perhaps can.
    const isUnseen = access.filter !== undefined && access.metadata === undefined;
    if (!hasRole(access, "add") || isUnseen) return undefined;
    return { maxBytes: this.#settings.maxBytes, endings: [...this.#formats.endings] };
  }

  /** Stores the file and queues it. @throws Refusal when its name, kind or size cannot be taken. */
  async receive(name: string, body: ReadableStream<Uint8Array> | null, uploader: Uploader): Promise<WireUpload> {
    this.#check(name, uploader.access);
    if (this.#formats.ofFile(name) === undefined) {
      const message = `Files such as ${name} cannot be read. Save it as PDF, as an Office document, or as text`;
      throw new Refusal(415, "unsupported", message);
    }
    const folder = this.#folderOf(uploader.access);
    if (existsSync(join(folder, name))) requireManager(uploader.access, "replaces");
    await mkdir(folder, { recursive: true });
    const part = join(folder, `${unfinished}${randomUUID()}`);
    const received = Readable.from(limited(body ?? [], this.#settings.maxBytes, name));
    try {
      // Opened first: a stream that is refused while it opens would make the file after it was removed.
      const file = await open(part, "wx");
      await pipeline(received, file.createWriteStream());
      await writeFile(join(folder, `${queued}${name}`), "");
      await rename(part, join(folder, name));
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
    return this.#index(name, uploader);
  }

  /** Tries a file again. */
  async retry(name: string, uploader: Uploader): Promise<WireUpload> {
    this.#check(name, uploader.access);
    const file = join(this.#folderOf(uploader.access), name);
    if (!(await stat(file).catch(() => undefined))) throw new Refusal(404, "not-found", `No file ${name} was uploaded`);
    const { state } = this.#progress.get(file) ?? {};
    return state === "waiting" || state === "reading"
      ? this.#describe(name, uploader.access)
      : this.#index(name, uploader);
  }

  /** Deletes a file with its documents. */
  async remove(name: string, uploader: Uploader): Promise<void> {
    const { access, documents } = uploader;
    this.#check(name, access);
    requireManager(access, "deletes");
    const file = join(this.#folderOf(access), name);
    await rm(file, { force: true });
    this.#progress.delete(file);
    await this.#queue;
    const source = this.#uriOf(name, access);
    const stored = await documents.documents({ source });
    await documents.deleteDocuments(stored.map(({ uri }) => uri));
  }

  /** Deletes the file of a document that was deleted, so that it does not come back. */
  async forget(uri: string, access: Access): Promise<void> {
    const name = (await this.#names(access)).find((currentName) => this.#uriOf(currentName, access) === uri);
    if (name === undefined) return;
    const file = join(this.#folderOf(access), name);
    await rm(file, { force: true });
    this.#progress.delete(file);
  }

  /** The caller's files in order of their names. Those that no run finished are queued. */
  async list(uploader: Uploader): Promise<WireUpload[]> {
    const { access, documents } = uploader;
    const names = await this.#names(access);
    const unknown = names.filter((name) => !this.#progress.has(join(this.#folderOf(access), name)));
    for (const name of unknown) {
      const stored = await documents.documents({ source: this.#uriOf(name, access) });
      const isQueued = existsSync(join(this.#folderOf(access), `${queued}${name}`));
      if (stored.length === 0 || isQueued) await this.#index(name, uploader);
      else this.#report(name, access, done(stored, []));
    }
    return Promise.all(names.map((name) => this.#describe(name, access)));
  }

  /** Stops reading, and waits for it to end. What is not finished is read when the files are next listed. */
  async close(): Promise<void> {
    this.#ending.abort(new Refusal(503, "closed", "The server is ending"));
    await this.#queue;
  }

  #check(name: string, access: Access): void {
    if (this.limitsFor(access) === undefined) throw new Refusal(403, "forbidden", "Files may not be uploaded here");
    const isName = !/[/\\]|\p{Cc}/u.test(name) && !name.startsWith(".") && name === name.trim();
    if (!isName || name === "" || Buffer.byteLength(name) > maxNameBytes) {
      throw new Refusal(
        400,
        "options",
        `${JSON.stringify(name)} is no name for a file: send the bare name, at most ${maxNameBytes} bytes`,
      );
    }
  }

  #folderOf({ metadata }: Access): string {
    return join(this.#settings.folder, tenantName(metadata));
  }

  /** URI of the document that a file becomes; the URIs of its rows' documents begin with it. */
  #uriOf(name: string, { metadata }: Access): string {
    return `upload:${tenantName(metadata)}/${encodeURIComponent(name)}`;
  }

  async #names(access: Access): Promise<string[]> {
    const entries = await readdir(this.#folderOf(access)).catch(() => []);
    return entries.filter((name) => !name.startsWith(".")).toSorted();
  }

  async #describe(name: string, access: Access): Promise<WireUpload> {
    const file = join(this.#folderOf(access), name);
    const progress = this.#progress.get(file) ?? { state: "waiting", warnings: [] };
    const { size: bytes } = await stat(file).catch(() => ({ size: 0 }));
    return { name, bytes, uri: this.#uriOf(name, access), ...progress };
  }

  #report(name: string, access: Access, progress: Progress): void {
    this.#progress.set(join(this.#folderOf(access), name), progress);
  }

  #index(name: string, uploader: Uploader): Promise<WireUpload> {
    const { access } = uploader;
    this.#report(name, access, { state: "waiting", warnings: [] });
    this.#queue = this.#finish(name, uploader, this.#queue);
    return this.#describe(name, access);
  }

  async #finish(name: string, uploader: Uploader, before: Promise<void>): Promise<void> {
    await before;
    if (this.#ending.signal.aborted) return;
    const { access } = uploader;
    this.#report(name, access, { state: "reading", warnings: [] });
    try {
      this.#report(name, access, await this.#read(name, uploader));
    } catch (thrown) {
      if (this.#ending.signal.aborted) return;
      this.#report(name, access, { state: "failed", error: this.#reason(thrown, name, access), warnings: [] });
    }
    await rm(join(this.#folderOf(access), `${queued}${name}`), { force: true });
  }

  async #read(name: string, { access, documents }: Uploader): Promise<Progress> {
    const file = join(this.#folderOf(access), name);
    const { maxBytes } = this.#settings;
    const loaded = readFile(file, { maxFileBytes: maxBytes, ...(access.metadata && { metadata: access.metadata }) });
    const source = this.#uriOf(name, access);
    const run = { signal: this.#ending.signal, retryFailed: true };
    const report = await this.#kb.ingest(renamed(loaded, pathToFileURL(file).href, source), run);
    const [failure] = report.failures;
    if (failure) throw failure.error;
    const [skipped] = report.skipped;
    const stored = await documents.documents({ source });
    if (stored.length === 0 && skipped) throw new Refusal(422, "empty", skipped.reason);
    if (stored.length === 0) {
      const hidden = await this.#kb.store.documents({ source }).catch(() => []);
      await this.#kb.store.deleteDocuments(hidden.map(({ uri }) => uri));
      throw new Refusal(500, "scope", "It was taken out again: Access.metadata is not what Access.filter lets through");
    }
    const warnings = report.warnings.map((warning) => this.#withoutPath(warning, name, access));
    return done(stored, warnings);
  }

  /** Words the reason for the uploader. */
  #reason(thrown: unknown, name: string, access: Access): string {
    const error = asError(thrown);
    const ownWayOut = error instanceof LoadError ? waysOut.get(error.option) : undefined;
    if (ownWayOut !== undefined) return `${name} ${ownWayOut}`;
    if (error instanceof CitewellError || error instanceof Refusal)
      return this.#withoutPath(error.message, name, access);
    return "The server failed to read it";
  }

  #withoutPath(message: string, name: string, access: Access): string {
    const file = join(this.#folderOf(access), name);
    return message.replaceAll(pathToFileURL(file).href, name).replaceAll(file, name);
  }
}

function requireManager(access: Access, deed: "replaces" | "deletes"): void {
  if (hasRole(access, "manage")) return;
  throw new Refusal(403, "forbidden", `You may add files. Only who manages the documents ${deed} one`);
}

function done(stored: readonly { readonly chunks: number }[], warnings: readonly string[]): Progress {
  return { state: "done", chunks: stored.reduce((sum, { chunks }) => sum + chunks, 0), warnings: [...warnings] };
}

/** A folder's name that no tenant can choose, nor guess from another's. */
function tenantName(metadata: Access["metadata"]): string {
  return metadata === undefined ? "all" : createHash("sha256").update(sortedJson(metadata)).digest("hex").slice(0, 24);
}

/** A source whose documents have addresses that do not tell where the file is. */
function renamed(source: DocumentSource, from: string, to: string): DocumentSource {
  return documentSource({
    id: to,
    read: async function* (context) {
      // The memory of files is keyed by their own addresses, and an uploaded file is always to be read.
      const { files: _, ...reading } = context;
      for await (const document of source.read(reading)) {
        yield { ...document, uri: document.uri.replace(from, to), source: to };
      }
    },
    vanished: (uri, storedFrom) => storedFrom === to && source.vanished(uri.replace(to, from), from),
  });
}

async function* limited(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  name: string,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const part of body) {
    bytes += part.byteLength;
    if (bytes > maxBytes) {
      const message = `${name} has more than ${maxBytes} bytes, which is the limit: split it`;
      throw new Refusal(413, "too-large", message, { connection: "close" });
    }
    yield part;
  }
}
