import type { StoreWrite, WrittenDocument } from "../../core/ports.js";
import { startThread, WorkerCalls } from "../../thread/worker-calls.js";
import { threadEnded } from "../derived/scheduling.js";
import { encodeWrite, type WriterCalls, type WriterStart } from "./write-message.js";

/**
 * Writes to a store on a thread of its own, because flushing to disk takes tens of milliseconds. The thread also holds the
 * write lock, so that both end together, however the thread ends. Its methods must not overlap.
 */
export class WriterThread {
  readonly #calls: WorkerCalls<WriterCalls>;
  #holdsLock = false;

  /** @param module the thread's program. */
  constructor(start: WriterStart, module = new URL("./writer-worker.js", import.meta.url)) {
    const worker = startThread(module, start);
    worker.unref();
    this.#calls = new WorkerCalls(worker, threadEnded(`The thread that writes to the store at ${start.folder}`));
  }

  get ended(): boolean {
    return this.#calls.failure !== undefined;
  }

  /** Whether the write lock is held: from the first change until it is let go. */
  get holdsLock(): boolean {
    return this.#holdsLock && !this.ended;
  }

  /** @param dimension length that vectors must have, if known. */
  async write(write: StoreWrite, dimension: number | undefined): Promise<readonly WrittenDocument[]> {
    const message = await encodeWrite(write, dimension);
    const written = await this.#calls.call("write", message, [message.vectors.buffer]);
    this.#holdsLock = true;
    return written;
  }

  async deleteDocuments(uris: readonly string[]): Promise<WriterCalls["deleteDocuments"]["result"]> {
    const deleted = await this.#calls.call("deleteDocuments", [...uris]);
    this.#holdsLock = true;
    return deleted;
  }

  /** Takes the write lock. @throws StoreError `locked` while another process has it. */
  async lock(): Promise<void> {
    await this.#calls.call("lock", undefined);
    this.#holdsLock = true;
  }

  /** Takes the write lock if it is free. Returns whether it is held now. */
  async tryLock(): Promise<boolean> {
    return (this.#holdsLock = await this.#calls.call("tryLock", undefined));
  }

  /** Lets go of the write lock, so that another process may write. */
  async unlock(): Promise<void> {
    this.#holdsLock = false;
    await this.#calls.call("unlock", undefined);
  }

  /** Resolves when the thread has closed the store and ended. */
  close(): Promise<void> {
    return this.#calls.end("close");
  }
}
