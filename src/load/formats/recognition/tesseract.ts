import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve as absolutePath } from "node:path";
import type { Worker as Thread } from "node:worker_threads";
import { z } from "zod";
import { abortSignal } from "../../../core/call-options.js";
import { asError, OptionsError } from "../../../core/errors.js";
import { functionOption, listOption, optionsOf, resolve } from "../../../core/options.js";
import type { RecognizeCall, RecognizedText, TextRecognizer } from "../../../core/ports.js";

export interface TesseractOptions {
  /**
   * Folder with the language data of Tesseract 4 or 5: `eng.traineddata` or `eng.traineddata.gz`, as the packages
   * `@tesseract.js-data/…` have it (`node_modules/@tesseract.js-data/eng/4.0.0_best_int`). Nothing is downloaded.
   */
  readonly dataFolder: string;
  /** Languages of the texts, by the names of their files: `["eng", "chi_sim"]`. Default: all in the folder. */
  readonly languages?: readonly string[];
}

const tesseractOptions = optionsOf<TesseractOptions>()({
  dataFolder: z.string().min(1),
  languages: listOption(z.array(z.string().regex(/^\w+$/)).min(1)).optional(),
});

const recognizeCall = optionsOf<RecognizeCall>()({
  signal: abortSignal.optional(),
  onProgress: functionOption<NonNullable<RecognizeCall["onProgress"]>>().optional(),
});

/** Tesseract, which has a thread of its own from its first picture until it is closed. */
export interface Tesseract extends TextRecognizer {
  /** The text of a picture with the places of its words. */
  readonly recognizeWords: NonNullable<TextRecognizer["recognizeWords"]>;
  /** Ends the thread, even in the middle of a picture. An idle thread does not keep the process alive. */
  readonly close: () => Promise<void>;
}

/**
 * Recognises the words of pictures by Tesseract, with the package `tesseract.js`: one picture at a time, in a thread.
 *
 * @throws OptionsError (`missing-package`) without the package, or when the folder lacks the data of a language.
 * @example
 * ```ts
 * import { openKnowledgeBase, readFolder } from "citewell";
 * import { tesseract } from "citewell/load";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const recognizer = tesseract({ dataFolder: "./tessdata", languages: ["eng", "deu"] });
 * await kb.ingest(readFolder("./scans", { recognizer }));
 * ```
 */
export function tesseract(options: TesseractOptions): Tesseract {
  const { dataFolder, languages: wanted } = resolve("tesseract", tesseractOptions, options);
  assertInstalled();
  const folder = absolutePath(dataFolder);
  const { languages, isPacked } = languagesIn(folder, wanted);
  let running: Promise<Engine> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const recognizeNow = async (picture: Uint8Array, { signal, onProgress = () => {} }: RecognizeCall) => {
    signal?.throwIfAborted();
    running ??= Engine.start(folder, languages, isPacked);
    const engine = await running.catch((cause: unknown) => {
      running = undefined;
      throw asError(cause);
    });
    const stop = () => {
      running = undefined;
      void engine.end(asError(signal!.reason));
    };
    signal?.addEventListener("abort", stop, { once: true });
    try {
      return await engine.recognize(picture, onProgress);
    } catch (thrown) {
      if (engine.hasEnded) running = undefined;
      throw thrown;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  };

  const inTurn = async (picture: Uint8Array, call: RecognizeCall) => {
    const text = last.then(() => recognizeNow(picture, call));
    last = text.catch(() => {});
    return text;
  };

  return {
    name: `tesseract ${languages.join("+")}`,
    recognize: async (picture, given = {}) => (await inTurn(picture, resolve("recognize", recognizeCall, given))).text,
    recognizeWords: async (picture, given = {}) => inTurn(picture, resolve("recognizeWords", recognizeCall, given)),
    close: async () => {
      const engine = await running?.catch(() => undefined);
      running = undefined;
      await engine?.end(new Error("Tesseract was closed"));
    },
  };
}

/** One thread of Tesseract, once it has read its languages. */
class Engine {
  readonly #tesseract: import("tesseract.js").Worker;
  readonly #thread: Thread;
  readonly #progress: { onProgress: () => void };
  #fail: (reason: Error) => void = () => {};
  #ended: Error | undefined;

  private constructor(tesseractWorker: import("tesseract.js").Worker, progress: { onProgress: () => void }) {
    this.#tesseract = tesseractWorker;
    this.#progress = progress;
    this.#thread = (tesseractWorker as unknown as { readonly worker: Thread }).worker;
    // Its messages about a damaged picture would otherwise appear amid the process's own output.
    for (const stream of [this.#thread.stdout, this.#thread.stderr]) stream.unpipe().resume();
    this.#thread.on("error", (error) => this.#end(error));
    this.#thread.on("exit", (code) => this.#end(new Error(`Tesseract ended with exit code ${code}`)));
    this.#thread.unref();
  }

  static async start(langPath: string, languages: string[], gzip: boolean): Promise<Engine> {
    const { createWorker } = await import("tesseract.js");
    const progress = { onProgress: () => {} };
    const how = { langPath, gzip, cacheMethod: "none", logger: () => progress.onProgress(), errorHandler: () => {} };
    return new Engine(await createWorker(languages, 1, how), progress);
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  async recognize(picture: Uint8Array, onProgress: () => void): Promise<RecognizedText> {
    if (this.#ended) throw this.#ended;
    this.#progress.onProgress = onProgress;
    this.#thread.ref();
    try {
      const failed = new Promise<never>((_, reject) => (this.#fail = reject));
      const asked = this.#tesseract.recognize(Buffer.from(picture), {}, { text: true, blocks: true });
      const { data } = await Promise.race([asked, failed]);
      const lines = (data.blocks ?? []).flatMap(({ paragraphs }) => paragraphs.flatMap((paragraph) => paragraph.lines));
      const words = lines.flatMap((line) => line.words);
      return {
        text: data.text,
        words: words.map(({ text, bbox: { x0, y0, x1, y1 } }) => ({ text, left: x0, top: y0, right: x1, bottom: y1 })),
      };
    } catch (thrown) {
      if (typeof thrown !== "string") throw asError(thrown);
      // Its library reads no TIFF that is packed by Deflate, JPEG or WebP.
      const message = `Tesseract does not read it (${thrown}): save it as PNG, or a TIFF with LZW compression`;
      throw new Error(message, { cause: thrown });
    } finally {
      this.#thread.unref();
    }
  }

  async end(reason: Error): Promise<void> {
    this.#end(reason);
    await this.#thread.terminate();
  }

  #end(reason: Error): void {
    this.#ended ??= reason;
    this.#fail(this.#ended);
  }
}

function languagesIn(
  folder: string,
  wanted: readonly string[] | undefined,
): { languages: string[]; isPacked: boolean } {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (cause) {
    throw new OptionsError("options", `There is no folder of language data at ${folder}`, {
      option: "dataFolder",
      cause,
    });
  }
  const found = (ending: string) =>
    names.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length));
  const [packed, plain] = [found(".traineddata.gz"), found(".traineddata")];
  // Tesseract takes all of its languages packed, or none.
  const isPacked = (wanted ?? packed.slice(0, 1)).every((name) => packed.includes(name)) && packed.length > 0;
  const there = isPacked ? packed : plain;
  // `osd` detects the orientation of a page; it is not a language.
  const languages = [...(wanted ?? there.filter((name) => name !== "osd"))].toSorted();
  if (languages.length > 0 && languages.every((name) => there.includes(name))) return { languages, isPacked };
  const lacks = wanted ? wanted.join(", ") : "any language";
  const has = [...packed, ...plain].join(", ") || "none";
  const message = `${folder} has no data of ${lacks} (it has ${has}): files such as eng.traineddata or eng.traineddata.gz, as in the package @tesseract.js-data/eng`;
  throw new OptionsError("options", message, { option: "dataFolder" });
}

function assertInstalled(): void {
  try {
    createRequire(import.meta.url).resolve("tesseract.js");
  } catch (cause) {
    const message = "Recognising text needs the package tesseract.js. Install it: npm install tesseract.js";
    throw new OptionsError("missing-package", message, { cause });
  }
}
