import { asError } from "../../errors.js";
import { startThread } from "../../thread/start-thread.js";
import { WorkerCalls } from "../../thread/worker-calls.js";
import { endedThread } from "../ended-thread.js";
import type { DenseIndex } from "./dense-index.js";
import { followMessage, type GraphCalls, type GraphEvent, type GraphStart } from "./graph-messages.js";
import { sharedFlags, waitForNativeCode } from "./native-code.js";

export interface GraphDenseOptions extends Omit<GraphStart, "flags"> {
  readonly onWarning: (message: string) => void;
  /** Asked when so much is unsaved that losing it would cost: whether to save now. */
  readonly maySave: () => boolean;
}

/** The graph cannot be used here: the reason, for people. */
export interface GraphUnavailable {
  readonly reason: string;
}

/** A vector at a time, and what was found for one. */
const youngGenerationMb = 4;

/** Search by an HNSW graph in a thread of its own; resolves when its file is loaded, or it is clear that it will not be. */
export async function graphDense(options: GraphDenseOptions): Promise<DenseIndex | GraphUnavailable> {
  const { onWarning, maySave, ...start } = options;
  const flags = sharedFlags();
  const module = new URL("./graph-worker.js", import.meta.url);
  const worker = startThread(module, { ...start, flags } satisfies GraphStart, youngGenerationMb);
  const calls = new WorkerCalls<GraphCalls>(
    worker,
    endedThread(`The thread that holds the graph of the store at ${start.folder}`),
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
          if (maySave()) save().catch((error) => onWarning(`The graph was not saved: ${asError(error).message}`));
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
    // What the graph lacks yet, its thread reads and compares.
    followAhead: async () => calls.tell(followMessage),
    follow: () => calls.call("settle", undefined),
    save,
    close: () => calls.end("close"),
  };
}
