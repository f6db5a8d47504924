import type { Worker } from "node:worker_threads";
import { startThread } from "../../thread/start-thread.js";
import { WorkerCalls } from "../../thread/worker-calls.js";
import type { Document } from "../../types.js";
import type { SplitCalls, SplitDocument, SplitSettings } from "./split-calls.js";

/** A thread that splits documents by the default counter. */
export class SplittingThread {
  readonly #worker: Worker;
  readonly #calls: WorkerCalls<SplitCalls>;

  /** @param module the thread's program. */
  constructor(module = new URL("./splitting-worker.js", import.meta.url)) {
    this.#worker = startThread(module, {});
    this.#worker.unref();
    this.#calls = new WorkerCalls(
      this.#worker,
      (reason, cause) => new Error(`The thread that splits documents has ended: ${reason}`, cause && { cause }),
    );
  }

  /** One entry a document, in their order. Rejects only when the thread has ended. */
  split(documents: readonly Document[], settings: SplitSettings): Promise<readonly SplitDocument[]> {
    const sent = documents.map(({ uri, title, mediaType, text, anchors }) => ({
      uri,
      text,
      // Others change nothing, and may be many.
      ...(anchors && { anchors: anchors.filter(({ heading }) => heading !== undefined) }),
      ...(title !== undefined && { title }),
      ...(mediaType !== undefined && { mediaType }),
    }));
    return this.#calls.call("split", { documents: sent, settings });
  }

  /** Ends it in the midst of whatever it does: it holds nothing but texts. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
