import { work, type WorkReport } from "../../knowledge-base/workers/work.js";
import type { WorkedDocument } from "../../knowledge-base/workers/job.js";
import { print, type CommandIo, type StoreFlags } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { counted, duration } from "../output/figures.js";
import { describeOutcomes } from "../output/ingest-report.js";
import { displayReason, oneLine } from "../output/terminal-text.js";
import { progressLine } from "../output/progress.js";
import { withPostgresStore } from "./open-store.js";

export interface WorkFlags extends StoreFlags {
  readonly concurrency?: number;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly deadAfter?: number;
  readonly untilDone?: boolean;
}

/** `citewell work`: takes jobs until Ctrl-C, SIGTERM or, with `--until-done`, the end of the queue. */
export async function workCommand(io: CommandIo, flags: WorkFlags): Promise<number> {
  const { concurrency, requestsPerMinute, tokensPerMinute, deadAfter, untilDone } = flags;
  return withPostgresStore(io, flags, true, async ({ store, embedder }) => {
    io.notes.write("Waiting for jobs. Stop with Ctrl-C: the jobs at work are finished or given back.\n");
    const line = progressLine(io.notes, describeOutcomes);
    const ended = { added: 0, updated: 0, unchanged: 0, skipped: 0, deleted: 0, failed: 0 };
    const sayEnding = () => {
      line.clear();
      io.notes.write("Finishing the jobs at work. Ctrl-C again ends it at once, and others do them.\n");
    };
    io.signal.addEventListener("abort", sayEnding, { once: true });
    const report = await work({
      store,
      embedder,
      concurrency,
      requestsPerMinute,
      tokensPerMinute,
      ...(deadAfter !== undefined && { deadAfterMs: deadAfter * 1000 }),
      untilDone,
      signal: io.signal,
      onDocument: (document) => {
        ended[document.outcome]++;
        if (document.error !== undefined) line.clear();
        show(io, flags, document);
        line.update(ended);
      },
    }).finally(line.clear);
    print(io, flags, report, describe(report));
    return report.documents.failed > 0 ? exitCodes.failures : exitCodes.done;
  });
}

/** With `--json` every document is a line of its own, otherwise those that failed. */
function show(io: CommandIo, flags: WorkFlags, document: WorkedDocument): void {
  if (flags.json) print(io, flags, document, "");
  else if (document.error !== undefined) {
    io.stderr.write(`citewell: ${oneLine(displayReason(document.uri, document.error, io), 200)}\n`);
  }
}

function describe({ documents, seconds }: WorkReport): string {
  const { skipped, ...outcomes } = documents;
  const left = skipped > 0 ? `, ${counted(skipped, "document")} left out by a stage` : "";
  return `Documents  ${describeOutcomes({ ...outcomes, deleted: 0 })}${left} in ${duration(seconds)}\n`;
}
