import { unlessAborted } from "../../core/stream.js";
import { startThread, WorkerCalls } from "../../thread/worker-calls.js";
import { threadEnded } from "../derived/scheduling.js";
import type { CheckCalls, CheckStart, DatabaseCheck } from "./check-database.js";

/**
 * Checks a database on a thread of its own, because SQLite reads its whole file in one call, gigabytes in a large store.
 *
 * @param signal ends the check at once, with its reason. The thread ends as soon as that call returns.
 */
export async function checkOnThread(databasePath: string, signal?: AbortSignal): Promise<DatabaseCheck> {
  const worker = startThread(new URL("./check-worker.js", import.meta.url), { databasePath } satisfies CheckStart);
  const calls = new WorkerCalls<CheckCalls>(worker, threadEnded(`The thread that checks ${databasePath}`));
  try {
    const checked = calls.call("check", undefined);
    return await (signal ? unlessAborted(checked, signal) : checked);
  } finally {
    // It holds nothing but a connection that only reads, so it may be torn down.
    if (signal?.aborted) void calls.terminate();
    else await calls.end("close");
  }
}
