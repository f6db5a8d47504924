import { parentPort, workerData } from "node:worker_threads";
import { asError } from "../../errors.js";
import { AllowedLabels } from "../allowed-labels.js";
import { openDatabase } from "../../sqlite/database.js";
import { serveCalls } from "../../thread/serve-calls.js";
import { GraphBuilder } from "./graph-builder.js";
import { isFollow, type GraphCalls, type GraphEvent, type GraphStart } from "./graph-messages.js";
import { type HnswLibrary, loadHnswLibrary } from "./hnsw.js";
import { NativeCode } from "./native-code.js";

// The graph's thread. It reads the vectors from SQLite itself, so that they cross no thread boundary, are in memory once,
// and there is one way for a graph to learn of anything: what is committed.

const port = parentPort!;
const start = workerData as GraphStart;
const say = (message: GraphEvent) => port.postMessage(message);

async function serve(hnsw: HnswLibrary): Promise<void> {
  const { databasePath, folder, store, m, efConstruction, ef } = start;
  const database = openDatabase(databasePath, 1_000_000);
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
    native: new NativeCode(start.flags),
  });
  // A failure shows at the next task that needs the graph level.
  const followAhead = () => void builder.follow().catch(() => {});
  serveCalls<GraphCalls>(
    port,
    {
      search: ({ vector, count, allowed }) => {
        const ranking = builder.search(vector, count, allowed && new AllowedLabels(allowed));
        followAhead();
        return ranking;
      },
      settle: () => builder.follow(),
      save: () => builder.save(),
      close: async () => {
        await builder.stop();
        database.close();
      },
    },
    "close",
  );
  port.on("message", (message: unknown) => {
    if (!isFollow(message)) return;
    builder.prepare();
    followAhead();
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
