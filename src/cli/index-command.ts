import { resolve } from "node:path";
import { allSources } from "../load/all-sources.js";
import { readPath } from "../load/read-file.js";
import type { IngestProgress, IngestReport } from "../stages/ingest-ledger.js";
import { withKnowledgeBase, type StoreFlags, type World } from "./command-context.js";
import { exitCodes } from "./failure.js";
import { count, describeProgress, duration, progressLine } from "./progress-line.js";
import { displayReason, oneLine } from "./terminal-text.js";

export interface IndexFlags extends StoreFlags {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

const mostListed = 20;

export async function indexCommand(world: World, paths: readonly string[], flags: IndexFlags): Promise<number> {
  const { include, exclude } = flags;
  const globs = { ...(include && { include: [...include] }), ...(exclude && { exclude: [...exclude] }) };
  const source = allSources(paths.map((path) => readPath(resolve(world.directory, path), globs)));
  const line = progressLine(world.stderr, describeProgress);
  let latest: IngestProgress | undefined;
  const report = await withKnowledgeBase(world, flags, true, async (kb) => {
    try {
      return await kb.ingest(source, {
        signal: world.signal,
        onProgress: (progress) => {
          latest = progress;
          line.update(progress);
        },
      });
    } catch (error) {
      line.clear();
      if (world.signal.aborted && latest) world.stderr.write(describeStop(latest));
      throw error;
    }
  });
  line.clear();
  if (flags.json) world.stdout.write(`${JSON.stringify(reportAsJson(report))}\n`);
  else world.stdout.write(describeReport(report, world.directory));
  return report.documents.failed > 0 ? exitCodes.failures : exitCodes.done;
}

function describeStop({ documentsDone, chunksEmbedded }: IngestProgress): string {
  return (
    `Stopped with ${count(documentsDone)} documents done and ${count(chunksEmbedded)} chunks embedded; they are kept. ` +
    "Run the same command again to go on.\n"
  );
}

function reportAsJson({ failures, ...report }: IngestReport): object {
  return { ...report, failures: failures.map(({ uri, error }) => ({ uri, error: error.message })) };
}

function describeReport(report: IngestReport, directory: string): string {
  const { documents, chunks, skipped, failures } = report;
  const outcomes = (["added", "updated", "unchanged", "deleted", "failed"] as const)
    .filter((outcome) => documents[outcome] > 0)
    .map((outcome) => `${count(documents[outcome])} ${outcome}`);
  const lines = [
    `Documents  ${outcomes.join(", ") || "none"}`,
    `Chunks     ${count(chunks.total)} (${count(chunks.embedded)} embedded, ${count(chunks.reused)} reused)` +
      (chunks.deleted > 0 ? `, ${count(chunks.deleted)} old ones deleted` : ""),
    `Upstream   ${count(report.requests)} requests, ${count(report.tokens)} tokens, ${duration(report.seconds)}`,
    ...listed(
      "Skipped",
      skipped.map(({ uri, reason }) => displayReason(uri, reason, directory)),
    ),
    ...listed(
      "Failed",
      failures.map(({ uri, error }) => displayReason(uri, error.message, directory)),
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function listed(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const shown = items.slice(0, mostListed).map((item) => `  ${oneLine(item, 200)}`);
  const more = items.length > mostListed ? [`  and ${count(items.length - mostListed)} more`] : [];
  return [`${title}    ${count(items.length)}`, ...shown, ...more];
}
