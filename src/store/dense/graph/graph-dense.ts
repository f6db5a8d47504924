import { asError } from "../../../core/errors.js";
import { startThread, WorkerCalls } from "../../../thread/worker-calls.js";
import { threadEnded } from "../../derived/scheduling.js";
import type { DenseIndex } from "../dense-index.js";
import { type GraphCalls, type GraphEvent, type GraphStart, prepareMessage } from "./graph-messages.js";
import { sharedFlags, waitForNativeCode } from "./native-code.js";

export interface GraphDenseOptions extends Omit<GraphStart, "flags"> {
  readonly onWarning: (message: string) => void;
  /** Called when much is unsaved: saves it now, or leaves it. */
  readonly whenUnsaved: (save: () => Promise<unknown>) => Promise<void>;
}

/** The graph cannot be used here. `reason` is meant for people. */
export interface GraphUnavailable {
  readonly reason: string;
}

/** The thread creates one vector at a time, and the results of one search. With 4 MB it holds 4 MB more, and is not faster. */
const heap = { maxYoungGenerationSizeMb: 1 };

/** Search by an HNSW graph on a thread of its own. Resolves when the saved graph is loaded, or cannot be. */
export async function graphDense(options: GraphDenseOptions): Promise<DenseIndex | GraphUnavailable> {
  const { databasePath, folder, store, quantization, m, efConstruction, ef, graphModule, onWarning, whenUnsaved } =
    options;
  const flags = sharedFlags();
  const start: GraphStart = { databasePath, folder, store, quantization, m, efConstruction, ef, graphModule, flags };
  const worker = startThread(new URL("./graph-worker.js", import.meta.url), start, heap);
  const calls = new WorkerCalls<GraphCalls>(
    worker,
    threadEnded(`The thread that holds the graph of the store at ${folder}`),
  );

  const atExit = () => waitForNativeCode(flags);
  process.on("exit", atExit);
  worker.once("exit", () => process.off("exit", atExit));

  const save = () => calls.call("save", undefined);
  const opened = await new Promise<"ready" | GraphUnavailable>((resolve) => {
    worker.on("message", (message: GraphEvent | { readonly event?: undefined }) => {
      switch (message.event) {
        case "ready":
          return resolve("ready");
        case "unavailable":
          return resolve(message);
        case "warning":
          return onWarning(message.message);
        case "unsaved":
          whenUnsaved(save).catch((error) => onWarning(`The graph was not saved: ${asError(error).message}`));
          return undefined;
        case undefined:
          return undefined; // the answer to a call
      }
    });
    void calls.exited.then(() => resolve({ reason: calls.failure!.message }));
  });
  if (opened !== "ready") {
    await calls.exited;
    return opened;
  }
  worker.unref();

  return {
    failure: () => calls.failure,
    search: (vector, count, { allowed } = {}) => {
      const copy = vector.slice();
      return calls.call("search", { vector: copy, count, allowed: allowed?.shared }, [copy.buffer]);
    },
    // A search waits for nothing: the thread compares the vectors that the graph lacks.
    prepare: async () => calls.tell(prepareMessage),
    catchUp: () => calls.call("catchUp", undefined),
    // Only the thread knows.
    isUnsaved: () => true,
    save,
    close: () => calls.end("close"),
  };
}
