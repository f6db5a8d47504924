import { setTimeout as sleep } from "node:timers/promises";
import { LoadError } from "../errors.js";
import type { IngestOptions, KnowledgeBase } from "../knowledge-base-options.js";
import type { DocumentSource } from "../load/source.js";
import { watchSource } from "../load/watch-source.js";
import type { RunEvent } from "../pipeline.js";
import { withKnowledgeBase, type World } from "./command-context.js";
import { counted } from "./counted.js";
import { describeFailure, exitCodes } from "./failure.js";
import { describeReport, type IndexFlags, reportAsJson } from "./index-command.js";
import { describeProgress, progressLine } from "./progress-line.js";
import { sourceOf } from "./source-flags.js";
import { displayReason, displayRemark, displayUri, oneLine } from "./terminal-text.js";

type DocumentEvent = Extract<RunEvent, { type: "document" }>;

const tryAgainMs = 10_000;

/** Indexes, then keeps the store current until it is stopped: each burst of changes is a run of its own, with its own budget. */
export async function watchCommand(world: World, paths: readonly string[], flags: IndexFlags): Promise<number> {
  const { signal } = world;
  const { maxTokens, maxCost } = flags;
  const source = sourceOf(world, paths, flags);
  try {
    await withKnowledgeBase(world, flags, true, async (kb, { price }) => {
      const budget = {
        ...(price !== undefined && { price }),
        ...(maxTokens !== undefined && { maxTokens }),
        ...(maxCost !== undefined && { maxCost }),
      };
      for await (const part of watchSource(source, { signal })) {
        if (part === source) await indexWhole(world, kb, part, budget, flags.json ?? false);
        else await indexPart(world, kb, part, budget, flags.json ?? false);
      }
    });
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
  }
  return exitCodes.done;
}

async function indexWhole(
  world: World,
  kb: KnowledgeBase,
  source: DocumentSource,
  budget: IngestOptions,
  json: boolean,
): Promise<void> {
  const line = progressLine(world.stderr, describeProgress);
  try {
    const report = await kb.ingest(source, { ...budget, signal: world.signal, onProgress: line.update });
    line.clear();
    world.stdout.write(json ? `${JSON.stringify(reportAsJson(report))}\n` : describeReport(report, world.directory));
    if (report.stopped) world.stderr.write(`citewell: ${report.stopped.reason}.\n`);
  } catch (error) {
    line.clear();
    // A folder may be watched before there is anything in it.
    if (!(error instanceof LoadError && error.code === "empty")) throw error;
    world.stderr.write(`${describeFailure(error, false)}\n`);
  }
  if (!json) world.stdout.write("Watching for changes. Stop with Ctrl-C.\n");
}

/** One line for each document that changed. What fails as a whole is tried again: the next change may be far away. */
async function indexPart(
  world: World,
  kb: KnowledgeBase,
  part: DocumentSource,
  budget: IngestOptions,
  json: boolean,
): Promise<void> {
  const report = (event: RunEvent) => {
    if (event.type === "warning") {
      world.stderr.write(`citewell: ${displayRemark(event.message, world.directory)}\n`);
    }
    if (event.type !== "document" || event.outcome === "unchanged") return;
    world.stdout.write(json ? `${JSON.stringify(changeAsJson(event))}\n` : describeChange(event, world.directory));
  };
  for (;;) {
    try {
      const { stopped } = await kb.ingest(part, { ...budget, signal: world.signal, report });
      if (stopped) world.stderr.write(`citewell: ${stopped.reason}.\n`);
      return;
    } catch (error) {
      world.signal.throwIfAborted();
      world.stderr.write(`${describeFailure(error, false)}. Trying again in ${tryAgainMs / 1000} s.\n`);
      await sleep(tryAgainMs, undefined, { signal: world.signal }).catch(() => world.signal.throwIfAborted());
    }
  }
}

function changeAsJson({ uri, outcome, chunks, error }: DocumentEvent): object {
  return { uri, outcome, chunks, ...(error && { error: error.message }) };
}

function describeChange({ uri, outcome, chunks, error }: DocumentEvent, directory: string): string {
  const address = displayUri(uri, directory);
  const about =
    outcome === "failed"
      ? displayReason(uri, error?.message ?? "", directory)
      : outcome === "deleted"
        ? address
        : `${address} (${counted(chunks, "chunk")})`;
  return `${outcome.padEnd(8)}${oneLine(about, 200)}\n`;
}
