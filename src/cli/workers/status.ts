import { setTimeout as sleep } from "node:timers/promises";
import { status, type IngestStatus } from "../../knowledge-base/workers/status.js";
import { print, type CommandIo, type StoreFlags } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { count, counted, duration } from "../output/figures.js";
import { displayReason, oneLine, type KnownFolders } from "../output/terminal-text.js";
import { progressLine } from "../output/progress.js";
import { withPostgresStore } from "./open-store.js";

export interface StatusFlags extends StoreFlags {
  readonly watch?: boolean;
}

const everyMs = 1000;
const maxListed = 20;

/** `citewell status`: how far the workers are; with `--watch` every second until the queue is empty. */
export async function statusCommand(io: CommandIo, flags: StatusFlags): Promise<number> {
  return withPostgresStore(io, flags, false, async ({ store }) => {
    const line = progressLine(io.notes, describeProgress);
    let now = await status({ store });
    try {
      while (flags.watch && !now.isDone) {
        if (flags.json) print(io, flags, now, "");
        else line.update(now);
        await sleep(everyMs, undefined, { signal: io.signal }).catch(() => io.signal.throwIfAborted());
        now = await status({ store });
      }
    } finally {
      line.clear();
    }
    print(io, flags, now, `${describe(now, io).join("\n")}\n`);
    return now.failures.length > 0 || now.documents.failed > 0 ? exitCodes.failures : exitCodes.done;
  });
}

function describeProgress({ documents, documentsPerSecond, secondsLeft, members }: IngestStatus): string {
  const workers = members.filter(({ role }) => role === "worker").length;
  return [
    `${counted(documents.waiting, "document")} waiting`,
    counted(workers, "worker"),
    `${documentsPerSecond.toFixed(1)} documents/s`,
    ...(secondsLeft === undefined ? [] : [`about ${duration(secondsLeft)} left`]),
  ].join("  ");
}

function describe(now: IngestStatus, folders: KnownFolders): string[] {
  const { documents, spent, members, failures, interruptedRuns, isDone } = now;
  const { waiting, working, retrying, ...ended } = documents;
  const parts = Object.entries(ended).filter(([, number]) => number > 0);
  if (isDone && parts.length === 0) return ["Nothing was queued yet. Queue a source: citewell index PATH --enqueue"];
  const noWorker = waiting > 0 && !members.some(({ role }) => role === "worker");
  return [
    isDone ? "Done       nothing waits" : `Waiting    ${describeProgress(now)}`,
    ...(waiting > 0 ? [`           ${count(working)} with a worker, ${count(retrying)} tried again later`] : []),
    `Documents  ${parts.map(([what, number]) => `${count(number)} ${what}`).join(", ") || "none"}`,
    `Upstream   ${counted(spent.requests, "request")}, ${counted(spent.tokens, "token")}, ${counted(spent.embedded, "chunk")} embedded`,
    ...members.map(
      ({ role, host, pid, documents: held, silentSeconds }) =>
        `${role === "worker" ? "Worker" : "Reader"}     ${host} ${pid}: ${counted(held, "document")}, last heard of ${duration(silentSeconds)} ago`,
    ),
    ...failures
      .slice(0, maxListed)
      .map(({ uri, state, error }) =>
        oneLine(`${state === "failed" ? "Failed" : "Poison"}     ${displayReason(uri, error, folders)}`, 200),
      ),
    ...(failures.length > maxListed ? [`           and ${count(failures.length - maxListed)} more`] : []),
    ...(documents.quarantined > 0
      ? [
          "Each of the poison documents ended several workers. Queue them again with citewell index --enqueue --retry-failed.",
        ]
      : []),
    ...(noWorker ? ["No worker is at work. Start one: citewell work"] : []),
    ...(interruptedRuns > 0 ? ["A source was not read to its end. Run citewell index --enqueue again."] : []),
  ];
}
