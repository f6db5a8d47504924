import type { StoreWrite, WrittenDocument } from "../../ports.js";
import { startThread } from "../../thread/start-thread.js";
import { WorkerCalls } from "../../thread/worker-calls.js";
import { endedThread } from "../ended-thread.js";
import { sentWrite } from "./sent-write.js";
import type { WriterCalls, WriterStart } from "./writer-calls.js";

/**
 * Changes a store from a thread of its own: flushing to disk takes tens of milliseconds, for which nothing else has to
 * wait. The thread also holds the right to write, so that both are given back together, however it ends. One change
 * at a time: its methods must not overlap.
 */
export class WriterThread {
  readonly #calls: WorkerCalls<WriterCalls>;
  #holdsLock = false;

  /** @param module the thread's program. */
  constructor(start: WriterStart, module = new URL("./writer-worker.js", import.meta.url)) {
    const worker = startThread(module, start);
    worker.unref();
    this.#calls = new WorkerCalls(worker, endedThread(`The thread that writes to the store at ${start.folder}`));
  }

  get ended(): boolean {
    return this.#calls.failure !== undefined;
  }

  /** Whether a change was made: from the first one on, the right to write is held. */
  get holdsLock(): boolean {
    return this.#holdsLock && !this.ended;
  }

  /** @param dimension length that vectors must have, where it is known. */
  async write(write: StoreWrite, dimension: number | undefined): Promise<readonly WrittenDocument[]> {
    const sent = await sentWrite(write, dimension);
    const written = await this.#calls.call("write", sent, [sent.vectors.buffer]);
    this.#holdsLock = true;
    return written;
  }

  async deleteDocuments(uris: readonly string[]): Promise<WriterCalls["deleteDocuments"]["gives"]> {
    const deleted = await this.#calls.call("deleteDocuments", [...uris]);
    this.#holdsLock = true;
    return deleted;
  }

  /** Takes the right to write if it is free; says whether it is held now. */
  tryLock(): Promise<boolean> {
    return this.#calls.call("tryLock", undefined);
  }

  /** Resolves when the thread has let go of the store. */
  close(): Promise<void> {
    return this.#calls.end("close");
  }
}
