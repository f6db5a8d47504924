import { asError, LoadError, systemMessage } from "../../core/errors.js";
import { WorkerCalls } from "../../thread/worker-calls.js";
import { startProcess } from "../../thread/worker-process.js";
import type { TextRecognizer } from "../../core/ports.js";
import {
  maxPages,
  type PictureText,
  type RecognizedPage,
  recognizedPage,
  recognizedText,
  textOfPages,
} from "../formats/recognized-pages.js";
import type { TextFormat } from "../formats/formats.js";
import type { FileToLoad, FoundPicture, LoadedText } from "../formats/loader.js";
import type { PictureDescriber } from "../pictures/picture-describer.js";
import type { LoadCalls } from "./loading-process.js";

/** Heap that one file may take to load, in megabytes. */
const maxMegabytes = 1024;

/** Pages whose pictures are decoded at once: several share the opening of their file, and few fit into memory. */
const pagesPerCall = 4;

export interface LoadBytesOptions {
  /** Maximum time for one file without progress. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Puts words for its pictures into the text. */
  readonly describer?: PictureDescriber | undefined;
}

/**
 * Turns the bytes of files into text: light formats in place, heavy ones one after the other in a process of their own,
 * which is started with the first. A file that takes too long, or more memory than allowed, ends that process, and
 * the next file gets a new one. Leftovers of one file never make another fail.
 */
export class LoadingWorker {
  #process: LoadingProcess | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @throws LoadError as the loader does, or (`timeout`), or (`unreadable`) when the worker ended. */
  async load(format: TextFormat, file: FileToLoad, options: LoadBytesOptions): Promise<LoadedText> {
    const { describer } = options;
    if (!describer) return await this.#load(format, file, options);
    return await describer.describe(file, await this.#load(format, { ...file, wantsPictures: true }, options));
  }

  #load(format: TextFormat, file: FileToLoad, options: LoadBytesOptions): Promise<LoadedText> {
    if (!("worker" in format) || (format.load && file.bytes.length < format.minWorkerBytes)) {
      return withinTime(options, tookTooLong(file.uri, options), (...given) => format.load!(file, ...given));
    }
    const { worker, recognizer } = format;
    const loaded = this.#last.then(async () => {
      const text = await this.#call("load", { format: worker, file }, options);
      const read = recognizer ? await this.#withScans(text, recognizer, file, options) : text;
      return format.hasPages && file.wantsPictures ? await this.#withPictures(read, text, file, options) : read;
    });
    this.#last = loaded.catch(() => {});
    return loaded;
  }

  async close(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    await process?.end();
  }

  /** Adds the text that is recognised on pages which hold none, some pages at a time. */
  async #withScans(
    { pagesWithoutText: bare = [], warnings = [], anchors = [], ...loaded }: LoadedText,
    recognizer: TextRecognizer,
    file: FileToLoad,
    options: LoadBytesOptions,
  ): Promise<LoadedText> {
    const texts = new Map<number, RecognizedPage>();
    for (let offset = 0; offset < Math.min(bare.length, maxPages); offset += pagesPerCall) {
      const pages = bare.slice(offset, Math.min(offset + pagesPerCall, maxPages));
      const pictures = await this.#call("pictures", { file, pages }, options);
      for (const [index, page] of pages.entries()) {
        const found = await withinTime(options, tookTooLong(file.uri, options), async (signal, onProgress) => {
          const read: PictureText[] = [];
          for (const { bytes, place } of pictures[index]!)
            read.push({ ...(await recognizedText(recognizer, bytes, { signal, onProgress })), place });
          return recognizedPage(read);
        });
        if (found.text !== "") texts.set(page, found);
      }
    }
    const left = bare.length - texts.size;
    const remarks =
      left === 0 ? [] : [`${left} of its pages hold no text, and ${recognizer.name} recognised none there`];
    const { uri } = file;
    if (texts.size === 0 && anchors.length === 0) {
      throw new LoadError("empty", uri, `${uri} holds no text: ${remarks.join()}`);
    }
    const recognizedBy = texts.size > 0 && { recognizedBy: recognizer.name };
    return {
      ...loaded,
      ...textOfPages(loaded.text, anchors, texts),
      metadata: { ...loaded.metadata, ...recognizedBy },
      ...(remarks.length + warnings.length > 0 && { warnings: [...remarks, ...warnings] }),
    };
  }

  /** Adds the pictures of all pages, some pages at a time, each behind the text of its page. */
  async #withPictures(
    loaded: LoadedText,
    { anchors: own = [], pagesWithoutText: bare = [] }: LoadedText,
    file: FileToLoad,
    options: LoadBytesOptions,
  ): Promise<LoadedText> {
    const { pagesWithoutText: _, ...read } = loaded;
    const numbers = new Set([...own.flatMap(({ page }) => page ?? []), ...bare]);
    const pages = [...numbers].toSorted((one, other) => one - other).slice(0, maxPages);
    const starts = (read.anchors ?? []).filter(({ page }) => page !== undefined);
    const found: FoundPicture[] = [];
    for (let offset = 0; offset < pages.length; offset += pagesPerCall) {
      const some = pages.slice(offset, offset + pagesPerCall);
      const pictures = await this.#call("pictures", { file, pages: some }, options);
      for (const [index, page] of some.entries()) {
        const next = starts.find((anchor) => anchor.page! > page)?.start ?? read.text.length;
        for (const { bytes } of pictures[index]!) found.push({ bytes, page, offset: endOfWords(read.text, next) });
      }
    }
    return { ...read, pictures: found };
  }

  async #call<Name extends keyof LoadCalls>(
    name: Name,
    argument: LoadCalls[Name]["argument"],
    options: LoadBytesOptions,
  ): Promise<LoadCalls[Name]["result"]> {
    const { uri } = argument.file;
    options.signal.throwIfAborted();
    if (this.#process?.hasEnded) this.#process = undefined;
    const isFirst = this.#process === undefined;
    const process = (this.#process ??= new LoadingProcess());
    const end = () => {
      this.#process = undefined;
      void process.end();
    };
    const tooLate = tookTooLong(uri, options, ", or split the file");
    try {
      return await withinTime(options, tooLate, (stopped, onProgress) => {
        stopped.addEventListener("abort", end, { once: true });
        return process.call(name, argument, onProgress);
      });
    } catch (thrown) {
      if (!process.hasEnded) throw thrown;
      end();
      // Leftovers of earlier files may have ended the process, so the file is tried again in a process of its own.
      if (!isFirst) return await this.#call(name, argument, options);
      throw workerEnded(uri, asError(thrown));
    }
  }
}

/** The end of the last word before an offset. */
function endOfWords(text: string, offset: number): number {
  return text.slice(0, offset).trimEnd().length;
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

  call<Name extends keyof LoadCalls>(
    name: Name,
    argument: LoadCalls[Name]["argument"],
    onProgress: () => void,
  ): Promise<LoadCalls[Name]["result"]> {
    this.#onProgress = onProgress;
    return this.#calls.call(name, argument);
  }

  /** Ends the process, even in the middle of a file: it holds nothing else. */
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
