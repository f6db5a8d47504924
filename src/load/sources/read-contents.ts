import { basename, extname } from "node:path";
import { Readable } from "node:stream";
import { asError, BudgetError, LoadError, systemMessage } from "../../core/errors.js";
import { noLoaderReason } from "../formats/conversions.js";
import { type Format, type Formats, jsonLines } from "../formats/formats.js";
import type { FileOutcome, FileToLoad, InnerFile, LoadedText, RowOptions } from "../formats/loader.js";
import type { PictureDescriber } from "../pictures/picture-describer.js";
import type { LoadingWorker } from "../worker/load-bytes.js";
import { ArchiveAllowance } from "./archive-allowance.js";
import type { LoadSettings } from "./load-options.js";
import type { MailsOfSource } from "./mails-of-source.js";
import { generated, mayHoldSecrets } from "./unwanted-names.js";

export interface ContentOptions extends Pick<
  LoadSettings,
  "maxFileBytes" | "timeoutMs" | "rows" | "archives" | "replies"
> {
  readonly formats: Formats;
  readonly worker: LoadingWorker;
  /** Id that the documents carry as `source`. */
  readonly source: string;
  readonly signal: AbortSignal;
  readonly describer?: PictureDescriber | undefined;
  /** The mails of the whole source. */
  readonly mails: MailsOfSource;
}

/** Files inside one another: an archive may hold itself. */
const maxDepth = 5;

/** Reads all documents of a file whose bytes are held in memory: those of its own, and of the files that lie in it. */
export function readContents(format: Format, file: FileToLoad, options: ContentOptions): AsyncGenerator<FileOutcome> {
  return contents(format, file, options, { depth: 0, allowance: new ArchiveAllowance(options.archives) });
}

/** Options for the reader of a file of rows. */
export function rowOptions(uri: string, options: ContentOptions): RowOptions {
  return rowOptionsWithin(uri, options, { depth: 0, allowance: new ArchiveAllowance(options.archives) });
}

interface Place {
  readonly depth: number;
  readonly allowance: ArchiveAllowance;
}

async function* contents(
  named: Format,
  file: FileToLoad,
  options: ContentOptions,
  place: Place,
): AsyncGenerator<FileOutcome> {
  const { uri, path, bytes } = file;
  const { source, worker } = options;
  const format = ("rows" in named ? undefined : named.instead?.(bytes)) ?? named;
  const forRows = rowOptionsWithin(uri, options, place);
  if ("rows" in format) {
    yield* format.rows({ uri, chunks: Readable.from([bytes]) }, forRows);
    return;
  }
  const {
    warnings: remarks = [],
    leftOut = [],
    inner = [],
    rows,
    isPartial: _,
    ...loaded
  } = await withMailsElsewhere(await worker.load(format, file, options), options);
  if (rows) {
    for (const { name, lines } of rows) {
      const within = name === undefined ? uri : `${uri}#${encodedPath(name)}`;
      yield* jsonLines({ uri: within, chunks: Readable.from([lines]) }, forRows);
    }
    return;
  }
  const warnings = remarks.map((remark) => `${uri}: ${remark}`);
  yield { document: { uri, source, ...loaded, title: loaded.title ?? titleOfName(path) }, warnings, leftOut };
  for (const row of inner) yield* forRows.readInner(row);
}

/** Puts the mails that a reply repeats back into its text, unless the source holds them. */
async function withMailsElsewhere(
  { withEarlierMails, ...loaded }: LoadedText,
  { mails, replies, signal }: ContentOptions,
): Promise<LoadedText> {
  mails.add(loaded.metadata?.["messageId"]);
  if (!withEarlierMails) return loaded;
  const { text, answersTo } = withEarlierMails;
  if (replies === "once" && (await mails.hold(answersTo, signal))) return loaded;
  return { ...loaded, text, leftOut: [] };
}

function rowOptionsWithin(uri: string, options: ContentOptions, place: Place): RowOptions {
  const counts = new Map<string, number>();
  const readInner = async function* (file: InnerFile): AsyncGenerator<FileOutcome> {
    options.signal.throwIfAborted();
    place.allowance.take(uri, file);
    const { name, path = name, bytes, metadata } = file;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const address = `${uri}#${encodedPath(name)}${count === 1 ? "" : `;${count}`}`;
    const format = options.formats.ofFile(path);
    const reason = reasonToSkip({ path, uri: address, bytes }, format);
    if (format === undefined || reason !== undefined) {
      yield { uri: address, skipped: reason! };
      return;
    }
    if (place.depth === maxDepth && ("rows" in format || format.holdsFiles)) {
      const message = `${address} lies in ${maxDepth} files inside one another, and deeper ones are not read: unpack it`;
      yield { error: new LoadError("too-large", address, message) };
      return;
    }
    try {
      const deeper = { ...place, depth: place.depth + 1 };
      for await (const outcome of contents(format, { path, uri: address, bytes }, options, deeper)) {
        yield "document" in outcome && metadata ? withOuter(outcome, metadata) : outcome;
      }
    } catch (thrown) {
      options.signal.throwIfAborted();
      if (thrown instanceof BudgetError) throw thrown;
      const error = asLoadError(address, thrown);
      yield error.code === "binary" ? { uri: address, skipped: error.message } : { error };
    }
  };
  const admit: RowOptions["admit"] = (archive) => place.allowance.admit(archive);
  return { mapping: options.rows, source: options.source, maxRowBytes: options.maxFileBytes, admit, readInner };
}

type Loaded = Extract<FileOutcome, { document: unknown }>;

/** Adds the outer file's metadata; the file's own fields win. */
function withOuter(outcome: Loaded, metadata: NonNullable<InnerFile["metadata"]>): Loaded {
  return { ...outcome, document: { ...outcome.document, metadata: { ...metadata, ...outcome.document.metadata } } };
}

function reasonToSkip({ path, bytes }: FileToLoad, format: Format | undefined): string | undefined {
  if (mayHoldSecrets(path, bytes)) return "its name suggests that it holds secrets";
  if (format === undefined) return noLoaderReason(path);
  return generated.test(path) ? "it looks generated" : undefined;
}

/** A path for an address. The half of a surrogate pair has no UTF-8, and becomes a replacement character. */
function encodedPath(path: string): string {
  return Buffer.from(path)
    .toString()
    .split("/")
    .map((part) => encodeURIComponent(part))
    .join("/");
}

/** The title of a document that has none: the name of its file, without the ending, or the id that Notion's exports add. */
export function titleOfName(path: string): string {
  // A document of Pages or Keynote may be a folder, with its pages as a PDF inside.
  const [, whole] = /([^/\\]+)\.(?:key|pages|numbers)[/\\](?:QuickLook[/\\])?Preview\.pdf$/i.exec(path) ?? [];
  return (whole ?? basename(path, extname(path)))
    .replace(/ [\da-f]{32}$/, "")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
}

export function asLoadError(uri: string, thrown: unknown): LoadError {
  if (thrown instanceof LoadError) return thrown;
  const cause = asError(thrown);
  return new LoadError("unreadable", uri, `${uri} cannot be read: ${systemMessage(cause)}`, { cause });
}
