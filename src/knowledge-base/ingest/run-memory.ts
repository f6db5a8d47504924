import { LoadError, type LoadErrorCode } from "../../core/errors.js";
import { version } from "../../core/version.js";
import type { Store, StoreWrite } from "../../core/ports.js";
import type { FileMemory, FileReading, FileState, RecalledFile } from "../../load/sources/file-memory.js";

/** Note that a store keeps under the uri of a document or file, as JSON. */
interface Note {
  /** Names how the document was cut; absent for a file that made no document. */
  readonly cut?: string;
  /** The file as it was read, with its digest; absent for documents that are not a file of their own. */
  readonly file?: Omit<FileState, "uri">;
  /** Why the file made no document. */
  readonly error?: { readonly code: LoadErrorCode; readonly message: string; readonly option?: string };
  /** Parts of the file that could not be read. */
  readonly warnings?: readonly string[];
}

/** Choice of the files that are read. */
export interface RereadOptions {
  /**
   * Read every file, also those whose size and time have not changed since they were last read. Default: false. Files
   * of rows, files with a loader of your own, and files for a store with a `metadata` schema are always read.
   */
  readonly reread?: boolean;
  /** Read files again that could not be read in an earlier run, though they have not changed. Default: false. */
  readonly retryFailed?: boolean;
}

export interface RunMemoryOptions extends Required<RereadOptions> {
  /** How a document would be cut now; `undefined` if it is unknown whether it would be cut as before. */
  readonly cutName: () => string | undefined;
}

/**
 * Memory of documents and files from earlier runs, so that the next one need not read and cut them again. A note is written
 * with its document or after it: at worst, a run that is killed forgets work that it had done.
 */
export class RunMemory implements FileMemory {
  readonly #store: Pick<Store, "notes" | "documentInfo">;
  readonly #options: RunMemoryOptions;
  /** Documents and files that were read, until their outcome is known. */
  readonly #open = new Map<string, Note>();
  /** Stored notes of files that are being read, by uri; each is asked for once, though three steps need it. */
  readonly #stored = new Map<string, string | undefined>();
  #unsaved = new Map<string, string>();

  constructor(store: Pick<Store, "notes" | "documentInfo">, options: RunMemoryOptions) {
    this.#store = store;
    this.#options = options;
  }

  async recall(files: readonly FileState[]): Promise<ReadonlyMap<string, RecalledFile>> {
    const recalled = new Map<string, RecalledFile>();
    const { reread, cutName } = this.#options;
    const cut = cutName();
    if (reread || cut === undefined || !this.#store.notes) return recalled;
    const notes = await this.#notesOf(files.map(({ uri }) => uri));
    const readings = await Promise.all(
      files.map(async (file) => {
        const note = parseNote(notes.get(file.uri));
        return isAsRead(file, note) ? this.#readingOf(file.uri, note, cut) : undefined;
      }),
    );
    for (const [at, file] of files.entries()) {
      const { uri, digest } = file;
      const reading = readings[at];
      if (!reading) continue;
      recalled.set(uri, reading);
      this.#stored.delete(uri);
      // Touched only: with its new time, the next run need not read it to see that.
      if (digest !== undefined) this.#save(uri, { ...parseNote(notes.get(uri)), file: withoutUri(file) });
    }
    return recalled;
  }

  noteRead(file: FileState, reading: FileReading): void {
    const { uri } = file;
    if ("error" in reading) {
      this.#stored.delete(uri);
      const { code, message, option } = reading.error;
      const error = { code, message, ...(option !== undefined && { option }) };
      this.#save(uri, { file: withoutUri(file), error });
      return;
    }
    const { warnings } = reading;
    const note = { file: withoutUri(file), ...(warnings.length > 0 && { warnings }) };
    // A file that is read twice in a run may have changed in between: it is open which of the two will be stored.
    this.#open.set(uri, this.#open.has(uri) ? {} : note);
  }

  /** The documents that were cut as they would be now. */
  async cutAsNow(uris: readonly string[]): Promise<ReadonlySet<string>> {
    const cut = this.#options.cutName();
    if (cut === undefined) return new Set();
    for (const uri of uris) this.#open.set(uri, { ...this.#open.get(uri), cut });
    const notes = await this.#notesOf(uris);
    for (const uri of uris) this.#stored.delete(uri);
    return new Set(uris.filter((uri) => parseNote(notes.get(uri)).cut === cut));
  }

  /** Notes that a document is stored as it was read. */
  settle(uri: string): void {
    const note = this.#open.get(uri);
    this.#open.delete(uri);
    if (note?.cut !== undefined) this.#save(uri, note);
  }

  /** The notes that the store does not hold yet, to be written; they are handed out once. */
  unsaved(): Pick<StoreWrite, "notes"> {
    const notes = this.#unsaved;
    this.#unsaved = new Map();
    return notes.size > 0 ? { notes } : {};
  }

  async #notesOf(uris: readonly string[]): Promise<ReadonlyMap<string, string | undefined>> {
    const unknown = uris.filter((uri) => !this.#stored.has(uri));
    const found = unknown.length === 0 ? undefined : await this.#store.notes?.(unknown);
    for (const uri of unknown) this.#stored.set(uri, found?.get(uri));
    return new Map(uris.map((uri) => [uri, this.#stored.get(uri)]));
  }

  async #readingOf(uri: string, note: Note, cut: string): Promise<RecalledFile | undefined> {
    const { error, warnings = [] } = note;
    if (error) {
      if (this.#options.retryFailed) return undefined;
      return { error: new LoadError(error.code, uri, error.message, error) };
    }
    const info = note.cut === cut ? await this.#store.documentInfo(uri) : undefined;
    return info && { warnings, chunks: info.chunks };
  }

  #save(uri: string, note: Note): void {
    this.#unsaved.set(uri, JSON.stringify(note));
  }
}

function parseNote(text: string | undefined): Note {
  return text === undefined ? {} : (JSON.parse(text) as Note);
}

function isAsRead({ readBy, sizeBytes, modifiedNs, digest }: FileState, { file }: Note): boolean {
  if (file?.readBy !== inThisVersion(readBy) || file.sizeBytes !== sizeBytes) return false;
  return digest === undefined ? modifiedNs !== undefined && file.modifiedNs === modifiedNs : file.digest === digest;
}

function withoutUri({ readBy, sizeBytes, modifiedNs, digest }: FileState): Note["file"] {
  return { readBy: inThisVersion(readBy), sizeBytes, ...(modifiedNs !== undefined && { modifiedNs }), digest };
}

/** Another version may read the same bytes differently. */
function inThisVersion(readBy: string): string {
  return `${version} ${readBy}`;
}
