import type { Transferable, Worker } from "node:worker_threads";
import { type Calls, isAnswer, type SentCall } from "./calls.js";
import { received } from "./sent-error.js";

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Calls to a thread, answered in whatever order. The thread keeps the process alive only while somebody waits for an
 * answer.
 */
export class WorkerCalls<Known extends Calls> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #failure: Error | undefined;
  /** Resolves when the thread has ended. */
  readonly exited: Promise<void>;

  /** @param ended makes the error of calls that the thread can no longer answer, of why it has ended. */
  constructor(worker: Worker, ended: (reason: string, cause?: Error) => Error) {
    this.#worker = worker;
    let thrown: Error | undefined;
    worker.on("error", (error: Error) => {
      thrown = error;
    });
    worker.on("message", (message: unknown) => {
      if (!isAnswer(message)) return;
      const waiting = this.#waiting.get(message.answered);
      this.#waiting.delete(message.answered);
      if (this.#waiting.size === 0) worker.unref();
      if ("error" in message) waiting?.reject(received(message.error));
      else waiting?.resolve(message.result);
    });
    this.exited = new Promise((resolve) => {
      worker.once("exit", (code) => {
        this.#failure = ended(thrown?.message ?? `exit code ${code}`, thrown);
        for (const { reject } of this.#waiting.values()) reject(this.#failure);
        this.#waiting.clear();
        resolve();
      });
    });
  }

  /** Set once the thread has ended. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  call<Name extends keyof Known & string>(
    name: Name,
    argument: Known[Name]["takes"],
    transfer: readonly Transferable[] = [],
  ): Promise<Known[Name]["gives"]> {
    if (this.#failure) return Promise.reject(this.#failure);
    const id = this.#nextId++;
    return new Promise<unknown>((resolve, reject) => {
      this.#worker.postMessage({ call: name, id, argument } satisfies SentCall, transfer);
      this.#worker.ref();
      this.#waiting.set(id, { resolve, reject });
    });
  }

  /** Sends what needs no answer; nothing is sent to a thread that has ended. */
  tell(message: object): void {
    if (!this.#failure) this.#worker.postMessage(message, []);
  }

  /** Asks the thread to end by its own means, and waits until it has: it is never torn down in the midst of work. */
  async end(name: keyof Known & string): Promise<void> {
    if (!this.#failure) await this.call(name, undefined).catch(() => {});
    this.#worker.ref();
    await this.exited;
  }
}
