import { existsSync } from "node:fs";
import { type ResourceLimits, type Transferable, Worker } from "node:worker_threads";
import { OptionsError } from "../core/errors.js";
import { type CancelledCall, type Calls, deserialiseError, isAnswer, type SentCall, startedMessage } from "./calls.js";

/**
 * Enough for texts of several hundred megabytes and everything derived from them. These threads create short-lived objects
 * only: by default V8 lets 48 MB of such garbage pile up, and lets the rest of the heap grow fourfold before it collects.
 */
const defaultHeap: ResourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 1536 };

/** The parts of a thread, or of a process, that calls go through. */
export interface CalledWorker {
  on(event: "message", listener: (message: unknown) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Once, with its exit code or the name of the signal that ended it. */
  on(event: "exit", listener: (end: number | string) => void): unknown;
  postMessage(message: object, transfer: readonly Transferable[]): void;
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
}

/**
 * Starts a thread that runs `module` with `data`. It keeps the process alive until it is unreferenced. What it writes to the
 * terminal, such as warnings of Node's own, goes nowhere: it would stand in the middle of the process's output.
 *
 * @param heap limits of its heap, where they differ from those of other threads.
 * @throws OptionsError (`missing-package`) where the module's file is not there, as in a bundle.
 */
export function startThread(module: URL, data: object, heap: ResourceLimits = {}): Worker {
  assertUnbundled(module);
  return new Worker(module, {
    workerData: data,
    // Options of this process may not suit a module in a file: --input-type of `node --eval` ends the thread at once.
    execArgv: [],
    resourceLimits: { ...defaultHeap, ...heap },
    // Never read: a reader would keep the process alive.
    stdout: true,
    stderr: true,
  });
}

/** @throws OptionsError (`missing-package`) where the file is not there. */
export function assertUnbundled(module: URL): void {
  if (!existsSync(module)) {
    throw new OptionsError(
      "missing-package",
      "citewell runs threads from files of its own, which a bundle leaves out. Leave citewell, better-sqlite3 and " +
        "hnswlib-node external when you bundle (esbuild: --external:citewell), and install them beside the bundle",
    );
  }
}

interface PendingCall {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Calls to a thread, answered in any order. After the first answer the thread keeps the process alive only while a call
 * is pending.
 */
export class WorkerCalls<Known extends Calls> {
  readonly #worker: CalledWorker;
  readonly #pending = new Map<number, PendingCall>();
  #nextId = 1;
  #failure: Error | undefined;
  /** Resolves when the thread has ended. */
  readonly exited: Promise<void>;
  /** Resolves when the thread has read its modules, or has ended. */
  readonly #started: Promise<unknown>;

  /** @param ended creates the error for calls that the thread can no longer answer, from the reason why it ended. */
  constructor(worker: CalledWorker, ended: (reason: string, cause?: Error) => Error) {
    this.#worker = worker;
    let thrown: Error | undefined;
    worker.on("error", (error: Error) => {
      // The first one is the cause: a process that could not be started then has nowhere to write to, either.
      thrown ??= error;
    });
    worker.on("message", (message: unknown) => {
      if (!isAnswer(message)) return;
      const pending = this.#pending.get(message.answered);
      this.#pending.delete(message.answered);
      if (this.#pending.size === 0) worker.unref();
      if ("error" in message) pending?.reject(deserialiseError(message.error));
      else pending?.resolve(message.result);
    });
    this.exited = new Promise((resolve) => {
      worker.on("exit", (end) => {
        const reason = typeof end === "string" ? end : `exit code ${end}`;
        this.#failure = ended(thrown?.message ?? reason, thrown);
        for (const { reject } of this.#pending.values()) reject(this.#failure);
        this.#pending.clear();
        resolve();
      });
    });
    const started = new Promise<void>((resolve) => {
      worker.on("message", (message: unknown) => {
        if (message === startedMessage) resolve();
      });
    });
    this.#started = Promise.race([started, this.exited]);
  }

  /** Set once the thread has ended. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** @param signal tells the thread that nobody waits any more; the call still ends when the thread has answered. */
  call<Name extends keyof Known & string>(
    name: Name,
    argument: Known[Name]["argument"],
    transfer: readonly Transferable[] = [],
    signal?: AbortSignal,
  ): Promise<Known[Name]["result"]> {
    if (this.#failure) return Promise.reject(this.#failure);
    const id = this.#nextId++;
    const cancel = () => this.tell({ cancelled: id } satisfies CancelledCall);
    signal?.addEventListener("abort", cancel, { once: true });
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#worker.postMessage({ call: name, id, argument } satisfies SentCall, transfer);
      this.#worker.ref();
      this.#pending.set(id, { resolve, reject });
    });
    return signal ? answered.finally(() => signal.removeEventListener("abort", cancel)) : answered;
  }

  /** Sends a message that needs no answer. A thread that has ended gets none. */
  tell(message: object): void {
    if (!this.#failure) this.#worker.postMessage(message, []);
  }

  /** Asks the thread to end by the call `name` and waits until it has: it is never torn down while it works. */
  async end(name: keyof Known & string): Promise<void> {
    if (!this.#failure) await this.call(name, undefined).catch(() => {});
    this.#worker.ref();
    await this.exited;
  }

  /**
   * Tears the thread down in the midst of its work, but not while it reads its modules: Node 20 would leave their files
   * open for as long as the process runs.
   */
  async terminate(): Promise<void> {
    this.#worker.ref();
    await this.#started;
    await this.#worker.terminate();
  }
}
