import { asError, LoadError, systemMessage } from "../../core/errors.js";
import { startThread, WorkerCalls } from "../../thread/worker-calls.js";
import type { TextFormat } from "../formats/formats.js";
import type { HeavyFormat } from "../formats/heavy-loaders.js";
import type { FileToLoad, LoadedText } from "../formats/loader.js";
import type { LoadCall, LoadCalls } from "./loading-thread.js";

/** Heap that one file may take to load, in megabytes. */
const maxMegabytes = 1024;
// Parsers keep many objects alive at once, so that new ones have as much room as V8 gives by default.
const heap = { maxOldGenerationSizeMb: maxMegabytes, maxYoungGenerationSizeMb: 48 };

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
  #thread: LoadingThread | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @throws LoadError as the loader does, or (`timeout`), or (`unreadable`) when the worker ended. */
  load(format: TextFormat, file: FileToLoad, options: LoadBytesOptions): Promise<LoadedText> {
    if (!("worker" in format) || (format.load && file.bytes.length < format.minWorkerBytes)) {
      return withinTime(options, tookTooLong(file.uri, options), (...given) => format.load!(file, ...given));
    }
    const loaded = this.#last.then(() => this.#load(format.worker, file, options));
    this.#last = loaded.catch(() => {});
    return loaded;
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.end();
  }

  async #load(format: HeavyFormat, file: FileToLoad, options: LoadBytesOptions): Promise<LoadedText> {
    options.signal.throwIfAborted();
    if (this.#thread?.hasEnded) this.#thread = undefined;
    const thread = (this.#thread ??= new LoadingThread());
    const end = () => {
      this.#thread = undefined;
      void thread.end();
    };
    const tooLate = tookTooLong(file.uri, options, ", or split the file");
    try {
      return await withinTime(options, tooLate, (stopped, onProgress) => {
        stopped.addEventListener("abort", end, { once: true });
        return thread.load({ format, file }, onProgress);
      });
    } catch (thrown) {
      if (!thread.hasEnded) throw thrown;
      end();
      throw workerEnded(file.uri, asError(thrown));
    }
  }
}

/** Time for a thread to end by itself. One that is busy with a file for longer is torn down. */
const maxEndingMs = 2000;

class LoadingThread {
  readonly #worker = startThread(new URL("./loading-thread.js", import.meta.url), {}, heap);
  readonly #calls = new WorkerCalls<LoadCalls>(this.#worker, (reason, cause) => cause ?? new Error(reason));
  #onProgress = () => {};

  constructor() {
    this.#worker.on("message", (message: unknown) => {
      if (message === "progress") this.#onProgress();
    });
  }

  get hasEnded(): boolean {
    return this.#calls.failure !== undefined;
  }

  load(call: LoadCall, onProgress: () => void): Promise<LoadedText> {
    this.#onProgress = onProgress;
    return this.#calls.call("load", call);
  }

  async end(): Promise<void> {
    const timer = setTimeout(() => void this.#calls.terminate(), maxEndingMs);
    await this.#calls.end("end");
    clearTimeout(timer);
  }
}

/** Does a piece of work for as long as it makes progress, and aborts it with `tooLate` when it makes none. */
async function withinTime<Done>(
  { timeoutMs, signal }: LoadBytesOptions,
  tooLate: LoadError,
  work: (stopped: AbortSignal, onProgress: () => void) => Done | Promise<Done>,
): Promise<Done> {
  const stop = new AbortController();
  const abort = () => stop.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  let timer: NodeJS.Timeout | undefined;
  try {
    const done = work(stop.signal, () => timer?.refresh());
    if (!(done instanceof Promise)) return done;
    return await new Promise<Done>((resolve, reject) => {
      timer = setTimeout(() => stop.abort(tooLate), timeoutMs);
      stop.signal.addEventListener("abort", () => reject(asError(stop.signal.reason)), { once: true });
      done.then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

function tookTooLong(uri: string, { timeoutMs }: LoadBytesOptions, otherWay = ""): LoadError {
  const message = `${uri} took longer than ${timeoutMs} ms to read: raise timeoutMs${otherWay}`;
  return new LoadError("timeout", uri, message, { option: "timeoutMs" });
}

function workerEnded(uri: string, cause: Error & { readonly code?: unknown }): LoadError {
  const reason =
    cause.code === "ERR_WORKER_OUT_OF_MEMORY"
      ? `needs more than ${maxMegabytes} MB of memory to be read: split it`
      : `cannot be read: ${systemMessage(cause)}`;
  return new LoadError("unreadable", uri, `${uri} ${reason}`, { cause });
}
