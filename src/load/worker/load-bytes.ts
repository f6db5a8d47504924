import { Worker } from "node:worker_threads";
import { asError, LoadError } from "../../core/errors.js";
import type { TextFormat } from "../formats/formats.js";
import type { HeavyFormat } from "../formats/heavy-loaders.js";
import type { FileToLoad, LoadedText, Loader } from "../formats/loader.js";
import type { FileMessage, LoadedMessage, ThreadMessage } from "./loading-thread.js";

/** Heap that one file may take to load, in megabytes. */
const maxMegabytes = 1024;

export interface LoadBytesOptions {
  /** Longest time for one file without progress. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Turns the bytes of files into text: light formats in place, heavy ones one after the other in a worker, which is started
 * with the first. A file that takes too long, or whose heap grows beyond the limit, ends with its worker, and the next file
 * gets a new one. A thread is no wall, though: a single array or string that is too large for the engine ends the whole
 * process. The loaders therefore bound what they unpack and nest before they parse it, and a program that must survive any
 * file whatever reads in a process of its own.
 */
export class LoadingWorker {
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @throws LoadError as the loader does, or (`timeout`), or (`unreadable`) when the worker ended. */
  load(format: TextFormat, file: FileToLoad, options: LoadBytesOptions): Promise<LoadedText> {
    if (!("worker" in format) || (format.load && file.bytes.length < format.minWorkerBytes)) {
      return loadInPlace(format.load!, file, options);
    }
    const loaded = this.#last.then(() => this.#load(format.worker, file, options));
    this.#last = loaded.catch(() => {});
    return loaded;
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  async #load(format: HeavyFormat, file: FileToLoad, { timeoutMs, signal }: LoadBytesOptions): Promise<LoadedText> {
    signal.throwIfAborted();
    const worker = (this.#worker ??= startWorker());
    const { uri } = file;
    let answer: LoadedMessage;
    worker.ref();
    try {
      worker.postMessage({ format, file } satisfies FileMessage, []);
      answer = await answerOf(worker, signal, timeoutMs, () => tookTooLong(uri, timeoutMs, ", or split the file"));
    } catch (thrown) {
      this.#worker = undefined;
      void worker.terminate();
      signal.throwIfAborted();
      throw thrown instanceof LoadError ? thrown : workerEnded(uri, asError(thrown));
    }
    worker.unref();
    if ("loaded" in answer) return answer.loaded;
    const { code, message, cause } = answer.failed;
    const options = cause === undefined ? {} : { cause: new Error(cause) };
    throw code === undefined ? new Error(message, options) : new LoadError(code, uri, message, options);
  }
}

function startWorker(): Worker {
  const worker = new Worker(new URL("./loading-thread.js", import.meta.url), {
    // Flags of the process may not fit a file: --input-type of `node --eval` ends the worker at once.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: maxMegabytes },
  });
  // An error between two files has no caller; the next file gets a new worker.
  worker.on("error", () => {});
  return worker;
}

/** Waits for the answer of a worker, for as long as it makes progress. */
async function answerOf(
  worker: Worker,
  signal: AbortSignal,
  timeoutMs: number,
  tooLate: () => LoadError,
): Promise<LoadedMessage> {
  const listening = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<LoadedMessage>((resolve, reject) => {
      timer = setTimeout(() => reject(tooLate()), timeoutMs);
      const on = (event: string, listener: (value: unknown) => void) => {
        worker.on(event, listener);
        listening.signal.addEventListener("abort", () => worker.off(event, listener));
      };
      on("message", (message) => {
        if ((message as ThreadMessage) === "progress") timer!.refresh();
        else resolve(message as LoadedMessage);
      });
      on("error", reject);
      signal.addEventListener("abort", () => reject(asError(signal.reason)), { signal: listening.signal });
    });
  } finally {
    clearTimeout(timer);
    listening.abort();
  }
}

async function loadInPlace(load: Loader, file: FileToLoad, options: LoadBytesOptions): Promise<LoadedText> {
  const { timeoutMs, signal } = options;
  const stop = new AbortController();
  const abort = () => stop.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  let timer: NodeJS.Timeout | undefined;
  try {
    const loaded = load(file, stop.signal, () => timer?.refresh());
    if (!(loaded instanceof Promise)) return loaded;
    return await new Promise<LoadedText>((resolve, reject) => {
      timer = setTimeout(() => stop.abort(tookTooLong(file.uri, timeoutMs)), timeoutMs);
      stop.signal.addEventListener("abort", () => reject(stop.signal.reason), { once: true });
      loaded.then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

function tookTooLong(uri: string, timeoutMs: number, otherWay = ""): LoadError {
  const message = `${uri} took longer than ${timeoutMs} ms to read: raise timeoutMs${otherWay}`;
  return new LoadError("timeout", uri, message, { option: "timeoutMs" });
}

function workerEnded(uri: string, cause: Error & { readonly code?: unknown }): LoadError {
  const reason =
    cause.code === "ERR_WORKER_OUT_OF_MEMORY"
      ? `needs more than ${maxMegabytes} MB of memory to be read: split it`
      : `cannot be read: ${cause.message}`;
  return new LoadError("unreadable", uri, `${uri} ${reason}`, { cause });
}
