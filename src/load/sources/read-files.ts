import { hash } from "node:crypto";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { setImmediate as turn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { BudgetError, LoadError, type LoadErrorCode } from "../../core/errors.js";
import { mapConcurrent, type Source } from "../../core/stream.js";
import type { Document, Metadata } from "../../core/types.js";
import type { Formats, RowFormat, TextFormat } from "../formats/formats.js";
import type { FileOutcome } from "../formats/loader.js";
import type { PictureSettings } from "../pictures/picture-options.js";
import type { PictureDescriber } from "../pictures/picture-describer.js";
import { type LoadBytesOptions, LoadingWorker } from "../worker/load-bytes.js";
import { changedFiles, reportUnchanged, type FoundFile } from "./changed-files.js";
import type { FileState } from "./file-memory.js";
import type { LoadSettings } from "./load-options.js";
import { MailsOfSource } from "./mails-of-source.js";
import { withMetadata } from "./operator-metadata.js";
import { asLoadError, readContents, rowOptions, titleOfName, type ContentOptions } from "./read-contents.js";
import { unreadableName } from "./real-path.js";
import type { RowsSeen } from "./rows-seen.js";
import type { ReadContext } from "./source.js";

/** Files read at once: enough to hide the disk behind the work that follows, and few enough to hold in memory. */
const readAhead = 2;

/**
 * Smaller files are read at once: handing one to the threads of the file system and back four times takes 1.6 ms of the main
 * thread where all cores are busy, reading it some 0.05 ms.
 */
const minBytesToWait = 64 * 1024;

/** How long other work may have to wait, in milliseconds, while files are read at once and loaded in place. */
const maxTurnMs = 8;

export interface ReadFilesOptions
  extends
    Pick<LoadSettings, "maxFileBytes" | "timeoutMs" | "rows" | "archives" | "replies" | "metadata">,
    Pick<ReadContext, "signal" | "report" | "files" | "budget"> {
  readonly source: string;
  /** The path of a file as the caller knows it, with `/`. */
  readonly shownPath: (path: string) => string;
  readonly seen: RowsSeen;
  /** How pictures become words. Default: they are passed over. */
  readonly pictures?: PictureSettings | undefined;
  /** Whether no picture is sent. Default: false. */
  readonly isPlan?: boolean | undefined;
  /** Folders of the source, absolute: pictures that documents name by a path lie in them. Default: none are read. */
  readonly roots?: readonly string[];
  /** Paths of all files of the source, where only some are read. Default: those that are read. */
  readonly listed?: readonly string[];
}

/** The outcome of each file that has changed, in order; files of rows have one for each row. */
export async function* readFiles(
  files: readonly string[],
  formats: Formats,
  given: ReadFilesOptions,
): AsyncGenerator<FileOutcome> {
  const worker = new LoadingWorker();
  const { pictures, signal, report, budget, isPlan = false, roots = [] } = given;
  const describer = pictures && (await describerOf(pictures, { signal, report, budget, isPlan, roots }));
  const concurrency = Math.max(readAhead, pictures?.concurrency ?? 0);
  const options = { ...given, describer, mails: new MailsOfSource(given.listed ?? files) };
  const load = async (file: FoundFile): Promise<Source<FileOutcome>> => {
    const { path, format, failed } = file;
    if (failed) return [failed];
    if ("rows" in format) return readRows(path, format, { ...options, formats, worker });
    if (format.holdsFiles) return readHolder(path, format, { ...options, formats, worker });
    return readWhole({ ...file, format }, worker, options);
  };
  const loadWithMetadata = async (file: FoundFile) => withChosen(await load(file), file.chosen?.metadata ?? {});
  try {
    const changed = withTurns(changedFiles(files, formats, options));
    const loading = mapConcurrent(changed, loadWithMetadata, { concurrency, signal });
    for await (const outcomes of loading) {
      let found = 0;
      for await (const outcome of outcomes) {
        // The file was counted when it was found; its rows are known only now.
        if (++found > 1) options.report({ type: "progress", what: "files-found", count: 1 });
        yield outcome;
      }
    }
  } finally {
    await worker.close();
    await describer?.settled();
  }
}

async function describerOf(...given: ConstructorParameters<typeof PictureDescriber>): Promise<PictureDescriber> {
  const module = await import("../pictures/picture-describer.js");
  return new module.PictureDescriber(...given);
}

async function* withChosen(outcomes: Source<FileOutcome>, metadata: Metadata): AsyncGenerator<FileOutcome> {
  for await (const outcome of outcomes) yield withMetadata(outcome, metadata);
}

/** Lets other work have its turn between files. */
async function* withTurns<Item>(source: AsyncIterable<Item>): AsyncGenerator<Item> {
  let turnedAt = performance.now();
  for await (const item of source) {
    if (performance.now() - turnedAt > maxTurnMs) {
      await turn();
      turnedAt = performance.now();
    }
    yield item;
  }
}

/**
 * Reads one file as a document, titled as the file says, or by its name without the ending. One whose bytes have not changed
 * is reported, and has no outcome.
 */
async function readWhole(
  { path, format, state: found }: FoundFile & { readonly format: TextFormat },
  worker: LoadingWorker,
  options: ReadFilesOptions & Pick<LoadBytesOptions, "describer">,
): Promise<readonly FileOutcome[]> {
  const { source, maxFileBytes, signal, files, report } = options;
  const uri = pathToFileURL(path).href;
  let state: FileState | undefined;
  try {
    const size = found?.sizeBytes ?? (await stat(path)).size;
    mustFit(uri, size, maxFileBytes);
    signal.throwIfAborted();
    const bytes = size < minBytesToWait ? readFileSync(path) : await readFile(path, { signal });
    // A file may have grown since it was found.
    state = found && { ...found, sizeBytes: bytes.length, digest: hash("sha256", bytes, "base64url") };
    const recalled = state && (await files!.recall([state])).get(uri);
    if (recalled && "error" in recalled) return [{ error: recalled.error, isRecalled: true }];
    if (recalled) {
      reportUnchanged(uri, recalled, report);
      return [];
    }
    report({ type: "reading", uri, isOver: false });
    const {
      warnings: remarks = [],
      leftOut = [],
      isPartial = false,
      ...loaded
    } = await worker.load(format, { path, uri, bytes }, options);
    const document = { uri, source, ...loaded, title: loaded.title ?? titleOfName(path) };
    const warnings = remarks.map((remark) => `${uri}: ${remark}`);
    if (state && !isPartial) files!.noteRead(state, { warnings });
    return [{ document, warnings, leftOut }];
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof BudgetError) throw thrown;
    const error = asLoadError(uri, thrown);
    if (state) files!.noteRead(state, { error });
    const isLost = path.includes("\u{fffd}") && !existsSync(path);
    return [
      { error: isLost ? new LoadError("unreadable", uri, `${uri}: ${unreadableName}`, { cause: error }) : error },
    ];
  } finally {
    report({ type: "reading", uri, isOver: true });
  }
}

type ReadContents = ReadFilesOptions & ContentOptions;

/** Reads the rows of a file on demand. */
function readRows(path: string, { rows }: RowFormat, options: ReadContents): AsyncGenerator<FileOutcome> {
  const uri = pathToFileURL(path).href;
  const chunks = createReadStream(path, { signal: options.signal });
  return noted(uri, rows({ uri, chunks }, rowOptions(uri, options)), options);
}

/** Reads a file and the files inside it. */
async function* readHolder(path: string, format: TextFormat, options: ReadContents): AsyncGenerator<FileOutcome> {
  const uri = pathToFileURL(path).href;
  const { maxFileBytes, signal } = options;
  const outcomes = async function* () {
    mustFit(uri, (await stat(path)).size, maxFileBytes);
    yield* readContents(format, { path, uri, bytes: await readFile(path, { signal }) }, options);
  };
  yield* noted(uri, outcomes(), options);
}

/** Notes that all documents of a file were met, if none failed. */
async function* noted(
  uri: string,
  outcomes: AsyncIterable<FileOutcome>,
  { signal, seen }: ReadFilesOptions,
): AsyncGenerator<FileOutcome> {
  try {
    let failed = false;
    for await (const outcome of outcomes) {
      failed ||= "error" in outcome;
      yield outcome;
    }
    if (!failed) seen.addComplete(uri);
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof BudgetError) throw thrown;
    yield { error: asLoadError(uri, thrown) };
  }
}

function mustFit(uri: string, size: number, maxFileBytes: number): void {
  if (size <= maxFileBytes) return;
  const message = `${uri} has ${size} bytes, and files of more than ${maxFileBytes} bytes are passed over`;
  throw new LoadError("too-large", uri, message);
}

/**
 * Yields the documents among outcomes, and reports the rest: errors with one of `skippedCodes` as
 * skipped, others as failures. A blank document is passed over, as if it were not there.
 */
export async function* reportOutcomes(
  outcomes: AsyncIterable<FileOutcome>,
  { failures, report }: ReadContext,
  { skippedCodes = [] }: { readonly skippedCodes?: readonly LoadErrorCode[] } = {},
): AsyncGenerator<Document, { skipped: number; failed: number }> {
  let [skipped, failed] = [0, 0];
  for await (const outcome of outcomes) {
    if ("document" in outcome) {
      const { document, warnings, leftOut = [] } = outcome;
      for (const message of warnings) report({ type: "warning", message });
      for (const part of leftOut) report({ type: "left-out", uri: document.uri, ...part });
      if (document.text.trim() === "") report({ type: "skipped", uri: document.uri, reason: "blank" });
      else yield document;
    } else if ("skipped" in outcome) {
      report({ type: "skipped", uri: outcome.uri, reason: outcome.skipped });
    } else if (skippedCodes.includes(outcome.error.code)) {
      skipped++;
      report({ type: "skipped", uri: outcome.error.uri, reason: outcome.error.message });
    } else {
      failed++;
      reportFailed(outcome, { failures, report });
    }
  }
  return { skipped, failed };
}

export function reportFailed(
  { error, isRecalled = false }: Extract<FileOutcome, { error: unknown }>,
  { failures, report }: Pick<ReadContext, "failures" | "report">,
): void {
  failures.set(error.uri, error);
  const failed = { type: "document", uri: error.uri, outcome: "failed", chunks: 0, error } as const;
  report(isRecalled ? { ...failed, isRecalled } : failed);
}
