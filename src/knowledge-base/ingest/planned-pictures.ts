import type { RunEvent } from "../../core/pipeline.js";

/** Pictures that an ingest would send to a model that describes them. */
export interface PlannedPictures {
  /** Pictures that would be sent, each once. */
  readonly described: number;
  /** Pictures whose description is kept from an earlier run. */
  readonly reused: number;
  /**
   * Tokens of the requests. Words are counted exactly; for pictures this is an estimate by their size, one token for 28 by 28
   * pixels, since the contract does not say how a service counts them.
   */
  readonly requestTokens: number;
  /** Maximum tokens of all replies together; most descriptions are shorter. */
  readonly maxReplyTokens: number;
}

/** Adds up the pictures of a plan from the events of its run. */
export class PictureCounter {
  readonly #counts = new Map<string, number>();

  add(event: RunEvent): void {
    if (event.type === "progress") this.#counts.set(event.what, this.#count(event.what) + event.count);
  }

  /** `undefined` when none was met. */
  total(): PlannedPictures | undefined {
    const [described, reused] = [this.#count("pictures-planned"), this.#count("pictures-kept")];
    if (described + reused === 0) return undefined;
    const [requestTokens, maxReplyTokens] = [
      this.#count("picture-request-tokens"),
      this.#count("picture-reply-tokens"),
    ];
    return { described, reused, requestTokens, maxReplyTokens };
  }

  #count(what: string): number {
    return this.#counts.get(what) ?? 0;
  }
}
