import { enqueue, type EnqueueReport } from "../../knowledge-base/workers/enqueue.js";
import type { DocumentSource } from "../../load/sources/source.js";
import { explainStop, print, type CommandIo } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { count } from "../output/figures.js";
import { listLeftOut, reportAsJson } from "../output/ingest-report.js";
import { ingestProgress } from "../output/progress.js";
import type { KnownFolders } from "../output/terminal-text.js";
import type { SourceFlags } from "../settings/source-flags.js";
import { withPostgresStore } from "./open-store.js";

/** `citewell index --enqueue`: reads the source, and leaves the rest to the workers. */
export async function enqueueDocuments(io: CommandIo, source: DocumentSource, flags: SourceFlags): Promise<number> {
  const { reread, retryFailed } = flags;
  return withPostgresStore(io, flags, true, async ({ store, embedder, settings: { chunk } }) => {
    const { clear, onProgress } = ingestProgress(io);
    const options = { store, embedder, chunk, reread, retryFailed, signal: io.signal, onProgress };
    const stopped = "Stopped; what is queued stays queued. Run the same command again to queue the rest.\n";
    const report = await explainStop(io, stopped, enqueue(source, options).finally(clear));
    print(io, flags, reportAsJson(report), `${describe(report, io).join("\n")}\n`);
    return report.documents.failed + report.documents.quarantined > 0 ? exitCodes.failures : exitCodes.done;
  });
}

function describe(report: EnqueueReport, folders: KnownFolders): string[] {
  const { documents } = report;
  const parts = Object.entries(documents).filter(([, number]) => number > 0);
  return [
    `Documents  ${parts.map(([what, number]) => `${count(number)} ${what}`).join(", ") || "none"}`,
    ...(documents.queued > 0 ? ["Workers take them now: citewell work. See how far they are: citewell status."] : []),
    ...(documents.quarantined > 0
      ? ["Those in quarantine, which citewell status names, are queued again with --retry-failed."]
      : []),
    ...listLeftOut(report, folders),
  ];
}
