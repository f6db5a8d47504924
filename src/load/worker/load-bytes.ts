import { asError, LoadError, systemMessage } from "../../core/errors.js";
import { WorkerCalls } from "../../thread/worker-calls.js";
import { startProcess } from "../../thread/worker-process.js";
import type { TextFormat } from "../formats/formats.js";
import type { HeavyFormat } from "../formats/heavy-loaders.js";
import type { FileToLoad, LoadedText } from "../formats/loader.js";
import type { LoadCall, LoadCalls } from "./loading-process.js";

/** Heap that one file may take to load, in megabytes. */
const maxMegabytes = 1024;

export interface LoadBytesOptions {
  /** Maximum time for one file without progress. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Turns the bytes of files into text: light formats in place, heavy ones one after the other in a process of their own,
 * which is started with the first. A file that takes too long, or more memory than there is for it, ends that process, and
 * the next file gets a new one. No file fails by what another one left.
 */
export class LoadingWorker {
  #process: LoadingProcess | undefined;
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
    const process = this.#process;
    this.#process = undefined;
    await process?.end();
  }

  async #load(format: HeavyFormat, file: FileToLoad, options: LoadBytesOptions): Promise<LoadedText> {
    options.signal.throwIfAborted();
    if (this.#process?.hasEnded) this.#process = undefined;
    const isFirst = this.#process === undefined;
    const process = (this.#process ??= new LoadingProcess());
    const end = () => {
      this.#process = undefined;
      void process.end();
    };
    const tooLate = tookTooLong(file.uri, options, ", or split the file");
    try {
      return await withinTime(options, tooLate, (stopped, onProgress) => {
        stopped.addEventListener("abort", end, { once: true });
        return process.load({ format, file }, onProgress);
      });
    } catch (thrown) {
      if (!process.hasEnded) throw thrown;
      end();
      // What the files before it left behind may be what ended the process: the file gets one of its own.
      if (!isFirst) return await this.#load(format, file, options);
      throw workerEnded(file.uri, asError(thrown));
    }
  }
}

class LoadingProcess {
  readonly #worker = startProcess(new URL("./loading-process.js", import.meta.url), maxMegabytes);
  readonly #calls = new WorkerCalls<LoadCalls>(this.#worker, (reason, cause) => cause ?? new Error(reason));
  #onProgress = () => {};

  constructor() {
    this.#worker.on("message", (message) => {
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

  /** Ends the process, also in the midst of a file: it holds nothing else. */
  async end(): Promise<void> {
    await this.#worker.terminate();
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

/** The engine ends a process that needs more memory than it may have by a signal, and Windows has numbers for those. */
function workerEnded(uri: string, cause: Error): LoadError {
  const reason = /^(?:SIG(?!KILL)|exit code (?:134|\d{5,}))/.test(cause.message)
    ? `needs more than ${maxMegabytes} MB of memory to be read: split it`
    : `cannot be read: ${systemMessage(cause)}`;
  return new LoadError("unreadable", uri, `${uri} ${reason}`, { cause });
}
