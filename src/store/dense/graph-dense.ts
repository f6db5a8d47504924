import { Worker } from "node:worker_threads";
import { StoreError } from "../../errors.js";
import type { Ranking } from "../top-k.js";
import type { DenseIndex } from "./dense-index.js";
import { flags, type FromGraph, type GraphStart, type GraphTask, type ToGraph } from "./graph-messages.js";

export interface GraphDenseOptions extends Omit<GraphStart, "flags"> {
  readonly onWarning: (message: string) => void;
  /** Asked when so much is unsaved that losing it would cost: whether to save now. */
  readonly maySave: () => boolean;
}

/** The graph cannot be used here: the reason, for people. */
export interface GraphUnavailable {
  readonly reason: string;
}

// Longest native call is the writing of the whole graph.
const longestNativeCallMs = 30_000;

/** Search by an HNSW graph in a thread of its own; resolves when its file is loaded, or it is clear that it will not be. */
export async function graphDense(options: GraphDenseOptions): Promise<DenseIndex | GraphUnavailable> {
  const { onWarning, maySave, ...start } = options;
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(new URL("./graph-worker.js", import.meta.url), {
    workerData: { ...start, flags: shared.buffer } satisfies GraphStart,
  });
  const pending = new Map<number, { resolve: (ranking?: Ranking) => void; reject: (error: Error) => void }>();
  let nextId = 1;
  let failure: Error | undefined;

  // Ending the process tears the thread down, and the native library aborts when that happens in the midst of a call.
  const waitForNativeCode = () => {
    Atomics.store(shared, flags.stop, 1);
    Atomics.wait(shared, flags.inNativeCode, 1, longestNativeCallMs);
  };
  process.on("exit", waitForNativeCode);
  const exited = new Promise<void>((resolve) => {
    worker.once("exit", () => {
      process.off("exit", waitForNativeCode);
      failure ??= new StoreError("closed", "The graph's thread has ended");
      for (const { reject } of pending.values()) reject(failure);
      pending.clear();
      resolve();
    });
  });
  worker.on("error", (error: Error) => {
    failure = error;
  });

  const post = (message: ToGraph) =>
    worker.postMessage(message, message.task === "search" ? [message.vector.buffer] : []);
  const run = (task: GraphTask): Promise<Ranking | undefined> => {
    if (failure) return Promise.reject(failure);
    const id = nextId++;
    // The thread keeps the process alive only while somebody waits for it: what it builds meanwhile is safe in SQLite.
    worker.ref();
    return new Promise<Ranking | undefined>((resolve, reject) => {
      pending.set(id, { resolve, reject });
      post({ ...task, id });
    });
  };
  const settle = (id: number, act: (waiting: NonNullable<ReturnType<typeof pending.get>>) => void) => {
    const waiting = pending.get(id);
    pending.delete(id);
    if (pending.size === 0) worker.unref();
    if (waiting) act(waiting);
  };

  const opened = await new Promise<"ready" | GraphUnavailable>((resolve) => {
    worker.on("message", (message: FromGraph) => {
      switch (message.event) {
        case "ready":
          return resolve("ready");
        case "unavailable":
          return resolve(message);
        case "warning":
          return onWarning(message.message);
        case "unsaved":
          if (maySave())
            run({ task: "save" }).catch((error: Error) => onWarning(`The graph was not saved: ${error.message}`));
          return undefined;
        case "done":
          return settle(message.id, ({ resolve: done }) => done(message.ranking));
        case "failed":
          return settle(message.id, ({ reject }) => reject(message.error));
      }
    });
    void exited.then(() => resolve({ reason: failure!.message }));
  });
  if (opened !== "ready") {
    await exited;
    return opened;
  }
  worker.unref();

  return {
    usable: () => failure === undefined,
    search: async (vector, count) => (await run({ task: "search", vector: vector.slice(), count }))!,
    followAhead: () => {
      if (!failure) post({ task: "follow" });
    },
    follow: async () => void (await run({ task: "settle" })),
    save: async () => void (await run({ task: "save" })),
    close: async () => {
      if (!failure) await run({ task: "close" }).catch(() => {});
      worker.ref();
      await exited;
    },
  };
}
