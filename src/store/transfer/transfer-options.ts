import { z } from "zod";
import { observerOption, optionsOf } from "../../core/options.js";
import type { TransferCounts } from "./write-records.js";

export interface TransferOptions {
  /** Stops the transfer, which rejects with the signal's reason; the same call goes on from there. */
  readonly signal?: AbortSignal;
  /** Receives the counts after every write. */
  readonly onProgress?: (counts: TransferCounts) => void;
}

export const transferOptions = optionsOf<TransferOptions>()({
  signal: z.instanceof(AbortSignal).optional(),
  onProgress: observerOption<NonNullable<TransferOptions["onProgress"]>>("onProgress").optional(),
});

/** Result of a transfer. */
export interface TransferReport extends TransferCounts {
  /** Documents of the source, and of the target when it was done. */
  readonly documents: {
    /** Documents of the source. */
    readonly source: number;
    /** Documents of the target: more than those of the source if the target held others before. */
    readonly target: number;
  };
  /**
   * Documents of the source that the target does not hold as they are: none, unless something wrote to either meanwhile or
   * the target changes what it stores. All documents are compared, also those that were there before: their texts and
   * chunks by fingerprint, their vectors bit by bit.
   */
  readonly differences: readonly string[];
}
