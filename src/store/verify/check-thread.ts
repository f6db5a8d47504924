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

/** Checks a database in a thread of its own: SQLite reads all of its file in one call, gigabytes of it in a large store. */
export async function checkApart(databasePath: string): Promise<DatabaseCheck> {
  const worker = startThread(new URL("./check-worker.js", import.meta.url), { databasePath } satisfies CheckStart);
  const calls = new WorkerCalls<CheckCalls>(worker, endedThread(`The thread that checks ${databasePath}`));
  try {
    return await calls.call("check", undefined);
  } finally {
    await calls.end("close");
  }
}
