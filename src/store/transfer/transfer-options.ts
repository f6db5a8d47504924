import { z } from "zod";
import { functionOption, optionsOf } from "../../core/options.js";
import type { TransferCounts } from "./write-records.js";

export interface TransferOptions {
  /** Stops the transfer, which rejects with the signal's reason; the same call goes on from there. */
  readonly signal?: AbortSignal;
  /** Receives the counts after every write. */
  readonly onProgress?: (counts: TransferCounts) => void;
}

export const transferOptions = optionsOf<TransferOptions>()({
  signal: z.instanceof(AbortSignal).optional(),
  onProgress: functionOption<NonNullable<TransferOptions["onProgress"]>>().optional(),
});

/** What a transfer came to. */
export interface TransferReport extends TransferCounts {
  /** Documents of the source, and of the target when it was done. */
  readonly documents: {
    /** Of the source. */
    readonly source: number;
    /** Of the target: more than the source has where it held others before. */
    readonly target: number;
  };
  /**
   * Documents of the source that the target does not hold as they are: none, unless something wrote to either meanwhile or
   * the target changes what it stores. All documents are compared, also those that were there before: their texts and
   * chunks by fingerprint, their vectors bit by bit.
   */
  readonly differences: readonly string[];
}
