import { unlessAborted } from "../../stream.js";
import { startThread } from "../../thread/start-thread.js";
import { WorkerCalls } from "../../thread/worker-calls.js";
import { endedThread } from "../ended-thread.js";
import type { DatabaseCheck } from "./check-database.js";

/** What the checking thread starts with. */
export interface CheckStart {
  readonly databasePath: string;
}

export type CheckCalls = {
  readonly check: { readonly takes: undefined; readonly gives: DatabaseCheck };
  readonly close: { readonly takes: undefined; readonly gives: void };
};

/**
 * Checks a database in a thread of its own: SQLite reads all of its file in one call, gigabytes of it in a large store.
 *
 * @param signal ends it with its reason at once. The thread ends by itself as soon as that call is over.
 */
export async function checkApart(databasePath: string, signal?: AbortSignal): Promise<DatabaseCheck> {
  const worker = startThread(new URL("./check-worker.js", import.meta.url), { databasePath } satisfies CheckStart);
  const calls = new WorkerCalls<CheckCalls>(worker, endedThread(`The thread that checks ${databasePath}`));
  try {
    const checked = calls.call("check", undefined);
    return await (signal ? unlessAborted(checked, signal) : checked);
  } finally {
    // It holds nothing but a connection that only reads.
    if (signal?.aborted) void worker.terminate();
    else await calls.end("close");
  }
}
