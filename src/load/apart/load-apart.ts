import { Worker } from "node:worker_threads";
import { LoadError } from "../../errors.js";
import type { FileToLoad, LoadedText } from "../loader.js";
import type { HeavyFormat } from "./heavy-loaders.js";
import type { FileMessage, LoadedMessage } from "./messages.js";

/** Most memory that one file may take to load, in megabytes. */
const mostMegabytes = 1024;

export interface ApartOptions {
  /** Most time for one file. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Loads files one after the other in a thread of their own, which is started with the first. A file that takes too long
 * or too much memory ends with its thread and costs nothing else: the next file gets a new one.
 */
export class ApartLoading {
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @throws LoadError as the loader did, or (`timeout`), or (`unreadable`) when the thread ended. */
  load(format: HeavyFormat, file: FileToLoad, options: ApartOptions): Promise<LoadedText> {
    const loaded = this.#last.then(() => this.#load(format, file, options));
    this.#last = loaded.catch(() => {});
    return loaded;
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  async #load(format: HeavyFormat, file: FileToLoad, { timeoutMs, signal }: ApartOptions): Promise<LoadedText> {
    signal.throwIfAborted();
    const worker = (this.#worker ??= startWorker());
    const { uri } = file;
    const answered = new AbortController();
    const end = { signal: answered.signal };
    try {
      worker.ref();
      return await new Promise<LoadedText>((resolve, reject) => {
        const stop = (reason: unknown) => {
          this.#worker = undefined;
          reject(reason);
          void worker.terminate();
        };
        const timer = setTimeout(() => stop(tookTooLong(uri, timeoutMs)), timeoutMs);
        end.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
        signal.addEventListener("abort", () => stop(signal.reason), end);
        const fail = (error: Error) => stop(threadEnded(uri, error));
        const receive = (message: LoadedMessage) => {
          if ("loaded" in message) return resolve(message.loaded);
          const { code, message: text, cause } = message.failed;
          const options = cause === undefined ? {} : { cause: new Error(cause) };
          reject(code === undefined ? new Error(text, options) : new LoadError(code, uri, text, options));
        };
        worker.on("error", fail).on("message", receive);
        const leave = () => worker.off("error", fail).off("message", receive);
        end.signal.addEventListener("abort", leave, { once: true });
        worker.postMessage({ format, file } satisfies FileMessage, []);
      });
    } finally {
      answered.abort();
      worker.unref();
    }
  }
}

function startWorker(): Worker {
  const worker = new Worker(new URL("./loading-thread.js", import.meta.url), {
    // What the process was started with may not fit a file: --input-type of `node --eval` ends the thread at once.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: mostMegabytes },
  });
  // An error between two files has nobody to go to; the next file finds the thread gone.
  worker.on("error", () => {});
  return worker;
}

function tookTooLong(uri: string, timeoutMs: number): LoadError {
  const message = `${uri} took longer than ${timeoutMs} ms to read: raise timeoutMs, or split the file`;
  return new LoadError("timeout", uri, message);
}

function threadEnded(uri: string, cause: Error & { readonly code?: unknown }): LoadError {
  const reason =
    cause.code === "ERR_WORKER_OUT_OF_MEMORY"
      ? `needs more than ${mostMegabytes} MB of memory to be read: split it`
      : `cannot be read: ${cause.message}`;
  return new LoadError("unreadable", uri, `${uri} ${reason}`, { cause });
}
