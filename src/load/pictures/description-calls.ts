import type { Budget, PictureToRead } from "../../core/ports.js";
import { asError, systemMessage } from "../../core/errors.js";
import type { RunContext } from "../../core/pipeline.js";
import { defaultTokens, messageFrameTokens, pictureTokens } from "../../text/tokens/tokens.js";
import { PictureFolder } from "../picture-folder.js";
import type { PictureSettings } from "./picture-options.js";

/** Tokens of a reply where a reader of pictures of the caller's own does not say. */
const usualReplyTokens = 1024;

export type DescriptionRun = Pick<RunContext, "signal" | "report"> & {
  /** Whether nothing is sent, and the pictures that would be are counted. */
  readonly isPlan: boolean;
  /** Budget of the run. Default: no limit. */
  readonly budget?: Budget | undefined;
};

/** A picture that is worth a description, and what goes with it. */
export interface PictureToAskFor extends PictureToRead {
  readonly sha256: string;
}

/** `planned`: a plan would have sent the picture, and has no words for it. */
export type Description = { readonly text: string } | { readonly planned: true };

/** More pictures were met than one run may send. */
export class CapError extends Error {}

/**
 * Asks for descriptions: each picture once in a run and, where a folder keeps them, once at all; some at a time, within the
 * cap of pictures and the budget of the run.
 */
export class DescriptionCalls {
  readonly #settings: PictureSettings;
  readonly #run: DescriptionRun;
  readonly #folder: PictureFolder | undefined;
  /** Descriptions by hash, so that a picture in two documents that are read at once is sent once. */
  readonly #known = new Map<string, Promise<Description>>();
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;
  #sent = 0;

  constructor(settings: PictureSettings, run: DescriptionRun) {
    this.#settings = settings;
    this.#run = run;
    this.#folder = settings.folder === undefined ? undefined : new PictureFolder(settings.folder);
  }

  /**
   * The words for a picture.
   *
   * @throws CapError beyond the cap, BudgetError when the run's budget does not pay for it, and whatever the reader throws.
   */
  describe(picture: PictureToAskFor): Promise<Description> {
    const known = this.#known.get(picture.sha256);
    if (known) return known;
    const described = this.#inTurn(() => this.#describe(picture));
    this.#known.set(picture.sha256, described);
    return described;
  }

  /** Waits for what is under way: words that are paid for are kept, though the run may have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#known.values());
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#underWay >= this.#settings.concurrency) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#underWay++;
    try {
      return await work();
    } finally {
      // The place goes to the next in line, so that nobody else takes it in between.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#underWay--;
    }
  }

  async #describe(picture: PictureToAskFor): Promise<Description> {
    const { signal, report, isPlan } = this.#run;
    signal.throwIfAborted();
    const kept = await this.#folder?.description(picture.sha256, this.#settings.reader.model);
    if (kept !== undefined) {
      report({ type: "progress", what: "pictures-kept", count: 1 });
      return { text: kept };
    }
    const { maxPictures } = this.#settings;
    if (this.#sent >= maxPictures) {
      throw new CapError(`${maxPictures} pictures were sent in this run: raise maxPictures`);
    }
    this.#sent++;
    return isPlan ? this.#plan(picture) : await this.#pay(picture);
  }

  #plan(picture: PictureToAskFor): Description {
    const { report } = this.#run;
    const { request, maxReply } = this.#expected(picture);
    report({ type: "progress", what: "pictures-planned", count: 1 });
    report({ type: "progress", what: "picture-request-tokens", count: request });
    report({ type: "progress", what: "picture-reply-tokens", count: maxReply });
    return { planned: true };
  }

  async #pay({ sha256, ...picture }: PictureToAskFor): Promise<Description> {
    const { reader, timeoutMs } = this.#settings;
    const { signal, report, budget } = this.#run;
    const { request, maxReply } = this.#expected(picture);
    const charge = await budget?.reserve(request + maxReply);
    let text: string;
    try {
      const described = await reader.describe(picture, { signal, deadlineMs: timeoutMs });
      const { usage } = described;
      const tokens = usage && usage.inputTokens + usage.outputTokens;
      charge?.settle({ tokens });
      report({ type: "progress", what: "pictures", count: 1 });
      if (tokens) report({ type: "progress", what: "picture-tokens", count: tokens });
      text = described.text.trim();
    } catch (error) {
      charge?.settle({ error });
      throw error;
    }
    const { bytes, mediaType } = picture;
    try {
      await this.#folder?.keep({ sha256, bytes, mediaType, model: reader.model, text });
    } catch (thrown) {
      // The words are paid: they go into the document, and only the next run would pay again.
      const message = `A description could not be kept, and will be paid again: ${systemMessage(asError(thrown))}`;
      report({ type: "warning", message });
    }
    return { text };
  }

  #expected(picture: PictureToRead): { readonly request: number; readonly maxReply: number } {
    const { reader } = this.#settings;
    if (reader.expectedTokens) return reader.expectedTokens(picture);
    const { caption = "", surroundings = "" } = picture;
    const words = defaultTokens.count(caption) + defaultTokens.count(surroundings);
    return { request: messageFrameTokens + words + pictureTokens(picture), maxReply: usualReplyTokens };
  }
}
