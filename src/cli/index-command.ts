import type { IngestProgress, IngestReport } from "../stages/ingest-ledger.js";
import { withKnowledgeBase, type World } from "./command-context.js";
import { exitCodes } from "./failure.js";
import { count, counted } from "./counted.js";
import { describeStop, leavesSomething } from "./describe-stop.js";
import { describeProgress, duration, progressLine } from "./progress-line.js";
import { describeCost, describeOutcomes, describeUnfinished, failuresAsJson, listLeftOut } from "./show-outcomes.js";
import { sourceOf, type SourceFlags } from "./source-flags.js";

export interface IndexFlags extends SourceFlags {
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly watch?: boolean;
}

export async function indexCommand(world: World, paths: readonly string[], flags: IndexFlags): Promise<number> {
  if (flags.watch) {
    const { watchCommand } = await import("./watch-command.js");
    return watchCommand(world, paths, flags);
  }
  const { maxTokens, maxCost } = flags;
  const source = sourceOf(world, paths, flags);
  const line = progressLine(world.stderr, describeProgress);
  let latest: IngestProgress | undefined;
  const report = await withKnowledgeBase(world, flags, true, async (kb, { price }) => {
    try {
      return await kb.ingest(source, {
        signal: world.signal,
        ...(price !== undefined && { price }),
        ...(maxTokens !== undefined && { maxTokens }),
        ...(maxCost !== undefined && { maxCost }),
        onProgress: (progress) => {
          latest = progress;
          line.update(progress);
        },
      });
    } catch (error) {
      line.clear();
      if (world.signal.aborted || leavesSomething(latest)) world.stderr.write(describeStop(latest));
      throw error;
    }
  });
  line.clear();
  if (flags.json) world.stdout.write(`${JSON.stringify(reportAsJson(report))}\n`);
  else world.stdout.write(describeReport(report, world.directory, latest));
  if (report.stopped) world.stderr.write(`citewell: ${report.stopped.reason}.\n`);
  return report.documents.failed > 0 || report.stopped ? exitCodes.failures : exitCodes.done;
}

export function reportAsJson({ failures, ...report }: IngestReport): object {
  return { ...report, failures: failuresAsJson(failures) };
}

export function describeReport(report: IngestReport, directory: string, progress?: IngestProgress): string {
  const { documents, chunks, requests, tokens, cost, seconds } = report;
  const lines = [
    `Documents  ${describeOutcomes(documents)}${describeUnfinished(report, progress)}`,
    `Chunks     ${count(chunks.total)} (${count(chunks.embedded)} embedded, ${count(chunks.reused)} reused)` +
      (chunks.deleted > 0 ? `, ${counted(chunks.deleted, "old one")} deleted` : ""),
    `Upstream   ${counted(requests, "request")}, ${counted(tokens, "token")}${describeCost(cost)}, ${duration(seconds)}`,
    ...listLeftOut(report, directory),
  ];
  return `${lines.join("\n")}\n`;
}
