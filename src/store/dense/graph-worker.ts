import { parentPort, workerData } from "node:worker_threads";
import { asError } from "../../errors.js";
import { openDatabase } from "../database.js";
import type { Ranking } from "../top-k.js";
import { GraphBuilder } from "./graph-builder.js";
import { flags, type FromGraph, type GraphStart, type GraphTask, type ToGraph } from "./graph-messages.js";
import { type HnswLibrary, loadHnswLibrary } from "./hnsw.js";

// The graph's thread. It reads the vectors from SQLite itself, so that they cross no thread boundary, are in memory once,
// and there is one way for a graph to learn of anything: what is committed.

const port = parentPort!;
const start = workerData as GraphStart;
const shared = new Int32Array(start.flags);
const say = (message: FromGraph) => port.postMessage(message);

/** Runs `work` unless the process is ending; the main thread waits at its end until this has come out again. */
function native<Result>(work: () => Result): Result {
  Atomics.store(shared, flags.inNativeCode, 1);
  try {
    if (Atomics.load(shared, flags.stop) === 1) throw new Error("The process is ending");
    return work();
  } finally {
    Atomics.store(shared, flags.inNativeCode, 0);
    Atomics.notify(shared, flags.inNativeCode);
  }
}

async function serve(hnsw: HnswLibrary): Promise<void> {
  const { databasePath, folder, store, m, efConstruction, ef } = start;
  const database = openDatabase(databasePath);
  const builder = await GraphBuilder.open({
    database,
    folder,
    store,
    parameters: {
      ...(m !== undefined && { m }),
      ...(efConstruction !== undefined && { efConstruction }),
      ...(ef !== undefined && { ef }),
    },
    library: hnsw,
    onWarning: (message) => say({ event: "warning", message }),
    onUnsaved: () => say({ event: "unsaved" }),
    native,
  });
  // A failure shows at the next task that needs the graph level.
  const followAhead = () => void builder.follow().catch(() => {});
  const carryOut = async (task: GraphTask): Promise<Ranking | undefined> => {
    if (task.task === "search") {
      const ranking = builder.search(task.vector, task.count);
      followAhead();
      return ranking;
    }
    if (task.task === "settle") await builder.follow();
    else if (task.task === "save") await builder.save();
    else {
      await builder.stop();
      database.close();
    }
    return undefined;
  };
  const answer = async (message: GraphTask & { readonly id: number }) => {
    const { id } = message;
    try {
      const ranking = await carryOut(message);
      say({ event: "done", id, ...(ranking && { ranking }) });
      if (message.task === "close") port.close();
    } catch (error) {
      say({ event: "failed", id, error: asError(error) });
    }
  };
  port.on("message", (message: ToGraph) => {
    if (message.task === "follow") followAhead();
    else void answer(message);
  });
  say({ event: "ready" });
  followAhead();
}

async function library(): Promise<HnswLibrary> {
  try {
    return await loadHnswLibrary(start.graphModule);
  } catch (error) {
    const reason = asError(error).message.split("\n")[0];
    throw new Error(`hnswlib-node cannot be loaded (${reason}); install it with npm install hnswlib-node`, {
      cause: error,
    });
  }
}

try {
  await serve(await library());
} catch (error) {
  say({ event: "unavailable", reason: asError(error).message });
  port.close();
}
