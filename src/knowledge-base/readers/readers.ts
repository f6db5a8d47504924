import { asError, StoreError } from "../../core/errors.js";
import { startThread, WorkerCalls } from "../../thread/worker-calls.js";
import { FairQueue } from "./fair-queue.js";
import type { ReaderCalls, ReaderStart } from "./reader-calls.js";

/** Calls that a reader has at once: while one waits for the graph's own thread, the other computes. */
const callsPerReader = 2;

/** Readers that end by themselves, one after the other, before no more are started. */
const maxFailures = 3;

interface Reader {
  readonly calls: WorkerCalls<ReaderCalls>;
  isOpen: boolean;
  running: number;
}

export interface ReaderSettings {
  /** Maximum number of readers. */
  readonly workers: number;
  /** Maximum number of searches that wait. */
  readonly maxWaiting: number;
  readonly onWarning: (message: string) => void;
}

export interface ReaderCall<Result> {
  /** The caller in whose turn it waits; none for a further step of a question that has had its turn, which goes first. */
  readonly caller?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The same on this thread, where there is no reader. Default: an error, for callers that ask again. */
  readonly here?: () => Promise<Result>;
}

/**
 * Threads that read the same store, each by itself. The first is started when two things are to be done at once, and another one
 * when all are busy; until the first has its indexes, this thread does the work as if there were none.
 */
export class Readers {
  readonly #start: ReaderStart;
  readonly #settings: ReaderSettings;
  readonly #readers = new Set<Reader>();
  readonly #waiting = new FairQueue<(reader: Reader | undefined) => void>();
  /** Steps of questions that have begun: ending them frees more than beginning others. */
  readonly #begun = new FairQueue<(reader: Reader | undefined) => void>();
  #here = 0;
  #failures = 0;
  #isClosed = false;

  constructor(start: ReaderStart, settings: ReaderSettings) {
    this.#start = start;
    this.#settings = settings;
  }

  /** Number of searches that wait for their turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Number of readers that have their indexes. */
  get open(): number {
    let open = 0;
    for (const { isOpen } of this.#readers) if (isOpen) open++;
    return open;
  }

  /** @throws StoreError (`busy`) when too many searches wait; the signal's reason when the caller has gone. */
  async run<Name extends "search" | "model">(
    name: Name,
    argument: ReaderCalls[Name]["argument"],
    { caller, signal, here = nowhere }: ReaderCall<ReaderCalls[Name]["result"]>,
  ): Promise<ReaderCalls[Name]["result"]> {
    signal?.throwIfAborted();
    const reader = await this.#turn(caller, signal);
    if (!reader) return this.#doHere(here);
    try {
      const result = await reader.calls.call(name, argument, [], signal);
      this.#failures = 0;
      return result;
    } catch (error) {
      signal?.throwIfAborted();
      // A reader that ended, and an argument that cannot be sent, lose nothing: reading can be done again.
      if (!reader.calls.failure && !(error instanceof DOMException)) throw error;
      return await this.#doHere(here);
    } finally {
      reader.running--;
      this.#giveTurns();
    }
  }

  /** Waits until all readers have ended. Whoever waits is served by this thread. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const readers = [...this.#readers];
    for (const reader of readers) reader.isOpen = false;
    this.#giveTurns();
    await Promise.all(readers.map(({ calls }) => calls.end("close")));
  }

  /** The reader to use, counted as used; `undefined` for this thread. */
  #turn(caller: string | undefined, signal: AbortSignal | undefined): Promise<Reader | undefined> {
    if (this.open === 0) {
      if (this.#here > 0) this.#startOne();
      return Promise.resolve(undefined);
    }
    const free = this.#waiting.size + this.#begun.size === 0 ? this.#free() : undefined;
    if (free) return Promise.resolve(free);
    this.#startOne();
    const { maxWaiting } = this.#settings;
    if (caller !== undefined && this.#waiting.size >= maxWaiting) {
      const message = `${maxWaiting} searches wait already: ask again in a moment`;
      return Promise.reject(new StoreError("busy", message, { path: this.#start.path }));
    }
    return new Promise((resolve, reject) => {
      const queue = caller === undefined ? this.#begun : this.#waiting;
      const leave = () => {
        remove();
        reject(asError(signal!.reason));
      };
      const remove = queue.add(caller ?? "", (reader) => {
        signal?.removeEventListener("abort", leave);
        resolve(reader);
      });
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  /** The open reader with the least to do, counted as used; `undefined` when all are busy. */
  #free(): Reader | undefined {
    let free: Reader | undefined;
    for (const reader of this.#readers) {
      if (reader.isOpen && reader.running < (free?.running ?? callsPerReader)) free = reader;
    }
    if (free) free.running++;
    return free;
  }

  #giveTurns(): void {
    while (this.#begun.size + this.#waiting.size > 0) {
      const isLost = this.open === 0;
      const free = isLost ? undefined : this.#free();
      if (!free && !isLost) return;
      (this.#begun.next() ?? this.#waiting.next())!(free);
    }
  }

  async #doHere<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#here++;
    try {
      return await work();
    } finally {
      this.#here--;
    }
  }

  /** Starts another reader, unless there are enough or one is on its way. */
  #startOne(): void {
    const { workers } = this.#settings;
    if (this.#isClosed || this.#failures >= maxFailures || this.#readers.size >= workers) return;
    if (this.open < this.#readers.size) return;
    const worker = startThread(new URL("./reader-worker.js", import.meta.url), this.#start);
    worker.unref();
    const ended = (reason: string) => new Error(`a reader has ended (${reason})`);
    const reader: Reader = { calls: new WorkerCalls<ReaderCalls>(worker, ended), isOpen: false, running: 0 };
    this.#readers.add(reader);
    void reader.calls.exited.then(() => this.#lose(reader));
    void this.#open(reader);
  }

  async #open(reader: Reader): Promise<void> {
    try {
      await reader.calls.call("open", undefined);
      reader.isOpen = !this.#isClosed;
      this.#giveTurns();
    } catch (error) {
      // One that ended by itself is counted where its end is noticed.
      if (reader.calls.failure) return;
      this.#warn(error);
      await reader.calls.end("close");
    }
  }

  #lose(reader: Reader): void {
    reader.isOpen = false;
    this.#readers.delete(reader);
    if (this.#isClosed) return;
    this.#failures++;
    if (this.#failures === maxFailures) {
      this.#warn(new Error(`${maxFailures} readers ended one after the other, and no more are started`));
    }
    this.#giveTurns();
  }

  #warn(error: unknown): void {
    this.#settings.onWarning(`Searches are made on the thread that answers: ${asError(error).message}`);
  }
}

async function nowhere(): Promise<never> {
  throw new Error("the readers have ended");
}
