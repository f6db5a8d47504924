import { parentPort, workerData } from "node:worker_threads";
import { asError } from "../../../core/errors.js";
import { lookupCacheBytes, openForReading } from "../../../sqlite/database.js";
import { serveCalls } from "../../../thread/serve-calls.js";
import { AllowedLabels } from "../../derived/allowed-labels.js";
import { GraphBuilder } from "./graph-builder.js";
import { type GraphCalls, type GraphEvent, type GraphStart, isPrepare } from "./graph-messages.js";
import { hnswEngine, loadHnswLibrary } from "./hnsw.js";
import { NativeCode } from "./native-code.js";
import { quantizedEngine } from "./quantized/quantized-graph.js";
import type { GraphEngine } from "./vector-graph.js";

// The graph's thread. It reads vectors from SQLite itself: they cross no thread boundary, are in memory once, and a graph
// can only ever hold what is committed.

const port = parentPort!;
const start = workerData as GraphStart;
const emit = (event: GraphEvent) => port.postMessage(event);

async function serve(engine: GraphEngine): Promise<void> {
  const { databasePath, ...options } = start;
  const database = openForReading(databasePath, lookupCacheBytes(databasePath));
  const builder = await GraphBuilder.open({
    ...options,
    database,
    engine,
    onWarning: (message) => emit({ event: "warning", message }),
    onUnsaved: () => emit({ event: "unsaved" }),
  });
  // A failure is reported by the next call that needs an up-to-date graph.
  const catchUp = () => void builder.catchUp().catch(() => {});
  serveCalls<GraphCalls>(
    port,
    {
      search: ({ vector, count, allowed }) => {
        const ranking = builder.search(vector, count, allowed && new AllowedLabels(allowed));
        catchUp();
        return ranking;
      },
      catchUp: () => builder.catchUp(),
      save: () => builder.save(),
      close: async () => {
        await builder.stop();
        database.close();
      },
    },
    "close",
  );
  port.on("message", (message: unknown) => {
    if (!isPrepare(message)) return;
    builder.prepareSearch();
    catchUp();
  });
  emit({ event: "ready" });
  catchUp();
}

async function loadEngine(): Promise<GraphEngine> {
  if (start.quantization !== "none") {
    const bits = start.quantization === "int4" ? 4 : 8;
    try {
      return quantizedEngine(bits);
    } catch (error) {
      throw new Error(`The graph of ${bits}-bit vectors cannot be used here (${asError(error).message})`, {
        cause: error,
      });
    }
  }
  try {
    return hnswEngine(await loadHnswLibrary(start.graphModule), new NativeCode(start.flags));
  } catch (error) {
    const reason = asError(error).message.split("\n")[0];
    throw new Error(`hnswlib-node cannot be loaded (${reason}); install it with npm install hnswlib-node`, {
      cause: error,
    });
  }
}

try {
  await serve(await loadEngine());
} catch (error) {
  emit({ event: "unavailable", reason: asError(error).message });
  port.close();
}
