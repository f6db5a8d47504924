import { setTimeout as sleep } from "node:timers/promises";
import { LoadError, OptionsError } from "../../core/errors.js";
import type { RunEvent } from "../../core/pipeline.js";
import type { IngestReport } from "../../knowledge-base/ingest/ledger.js";
import type { IngestRunAndBudgetOptions, KnowledgeBase } from "../../knowledge-base/options.js";
import type { DocumentSource } from "../../load/sources/source.js";
import { watchSource } from "../../load/sources/watch-source.js";
import { isWebAddress } from "../../load/web/web-address.js";
import { print, withKnowledgeBase, type CommandIo } from "../command-context.js";
import { describeFailure, exitCodes, failureLine, messageOf } from "../output/failure.js";
import { counted } from "../output/figures.js";
import {
  describeOutcomes,
  describeReport,
  describeStop,
  leavesSomething,
  reportAsJson,
} from "../output/ingest-report.js";
import { ingestProgress } from "../output/progress.js";
import { displayReason, displayRemark, displayUri, oneLine, type KnownFolders } from "../output/terminal-text.js";
import { withPictures } from "../settings/picture-flags.js";
import { sourceOf, type SourceFlags } from "../settings/source-flags.js";

export interface IndexFlags extends SourceFlags {
  readonly budgetTokens?: number;
  readonly budgetCost?: number;
  readonly watch?: boolean;
  readonly enqueue?: boolean;
}

const retryAfterMs = 10_000;

/** Indexes once, or with `--watch` keeps the store current until Ctrl-C: each burst of changes is a run with its own budget. */
export async function indexCommand(io: CommandIo, paths: readonly string[], flags: IndexFlags): Promise<number> {
  const { budgetTokens: maxTokens, budgetCost: maxCost, watch, reread, retryFailed } = flags;
  const { signal } = io;
  if (watch) refuseWebAddresses(paths);
  return withPictures(io, flags, async (pictures) => {
    const source = sourceOf(io, paths, flags, pictures);
    if (flags.enqueue) {
      if (watch || maxTokens !== undefined || maxCost !== undefined) {
        const hint = "leave out --watch and --budget-…; citewell work takes --tokens-per-minute";
        throw new OptionsError("options", `--enqueue reads once and embeds nothing: ${hint}`);
      }
      return (await import("../workers/enqueue.js")).enqueueDocuments(io, source, flags);
    }
    return withKnowledgeBase(io, flags, true, async (kb, { price }) => {
      const options = { signal, price, maxTokens, maxCost, reread, retryFailed };
      if (!watch) {
        const report = await indexWhole(io, kb, source, options, flags);
        return report.documents.failed > 0 || report.stopped ? exitCodes.failures : exitCodes.done;
      }
      for await (const part of watchSource(source, { signal })) {
        if (part === source) await indexFirst(io, kb, part, options, flags);
        else await indexPart(io, kb, part, options, flags);
      }
      return exitCodes.done;
    }).catch((error: unknown) => {
      // Ctrl-C is how watching is meant to end.
      if (watch && signal.aborted && error === signal.reason) return exitCodes.done;
      throw error;
    });
  });
}

function refuseWebAddresses(paths: readonly string[]): void {
  const address = paths.find(isWebAddress);
  if (address === undefined) return;
  const hint = "index it again when it may have changed";
  throw new OptionsError("options", `--watch follows files, and ${address} is not made of files: ${hint}`);
}

async function indexWhole(...given: Parameters<typeof indexWithProgress>): Promise<IngestReport> {
  const [io, , , , flags] = given;
  const { report, lines } = await indexWithProgress(...given);
  print(io, flags, reportAsJson(report), lines);
  if (report.stopped) io.stderr.write(`citewell: ${report.stopped.reason}.\n`);
  return report;
}

/** Indexes a source once, with progress on stderr. Returns the report, and its text for people. */
export async function indexWithProgress(
  io: CommandIo,
  kb: KnowledgeBase,
  source: DocumentSource,
  options: IngestRunAndBudgetOptions,
  flags: Pick<IndexFlags, "watch" | "json">,
): Promise<{ readonly report: IngestReport; readonly lines: string }> {
  const { clear, latest, onProgress } = ingestProgress(io);
  try {
    const report = await kb.ingest(source, { ...options, onProgress });
    clear();
    return { report, lines: `${describeReport(report, io, latest()).join("\n")}\n` };
  } catch (error) {
    clear();
    if (!flags.watch && (io.signal.aborted || leavesSomething(latest()))) io.stderr.write(describeStop(latest()));
    throw error;
  }
}

/** The first run of `--watch`. A folder may be watched before there is anything in it. */
async function indexFirst(...[io, kb, source, options, flags]: Parameters<typeof indexWhole>): Promise<void> {
  try {
    await indexWhole(io, kb, source, options, flags);
  } catch (error) {
    if (!(error instanceof LoadError && error.code === "empty")) throw error;
    io.stderr.write(`${describeFailure(error, false)}\n`);
  }
  if (!flags.json) io.stdout.write("Watching for changes. Stop with Ctrl-C.\n");
}

type DocumentEvent = Extract<RunEvent, { type: "document" }>;

/** Changes of one burst that are printed each; of more, how many there were. `--json` prints them all. */
const maxShownChanges = 20;

/** Prints one line for each document that changed. A run that fails is repeated: the next change may be far away. */
async function indexPart(...[io, kb, part, options, flags]: Parameters<typeof indexWhole>): Promise<void> {
  const { stderr, signal } = io;
  const hidden = { added: 0, updated: 0, unchanged: 0, deleted: 0, failed: 0 };
  let shown = 0;
  const report = (event: RunEvent) => {
    if (event.type === "warning") stderr.write(`citewell: ${displayRemark(event.message, io)}\n`);
    if (event.type !== "document" || event.outcome === "unchanged") return;
    if (flags.json || shown++ < maxShownChanges) print(io, flags, changeAsJson(event), describeChange(event, io));
    else hidden[event.outcome]++;
  };
  for (;;) {
    try {
      const { stopped } = await kb.ingest(part, { ...options, report });
      if (shown > maxShownChanges) io.stdout.write(`and ${describeOutcomes(hidden)} more\n`);
      if (stopped) stderr.write(`citewell: ${stopped.reason}.\n`);
      return;
    } catch (error) {
      signal.throwIfAborted();
      stderr.write(`${failureLine(error)}. Trying again in ${retryAfterMs / 1000} s.\n`);
      await sleep(retryAfterMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

function changeAsJson({ uri, outcome, chunks, error }: DocumentEvent): object {
  return { uri, outcome, chunks, ...(error && { error: messageOf(error) }) };
}

function describeChange({ uri, outcome, chunks, error }: DocumentEvent, folders: KnownFolders): string {
  const address = displayUri(uri, folders);
  const line =
    outcome === "failed"
      ? displayReason(uri, error ? messageOf(error) : "", folders)
      : outcome === "deleted"
        ? address
        : `${address} (${counted(chunks, "chunk")})`;
  return `${outcome.padEnd(8)}${oneLine(line, 200)}\n`;
}
