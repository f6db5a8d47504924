import { TransportError, type TransportErrorCode } from "../../../core/errors.js";

/** Errors caused by the items sent: sending fewer, or others, may work. */
const inputErrors: ReadonlySet<TransportErrorCode> = new Set([
  "request",
  "refused",
  "too-large",
  "context-length",
  "reply",
]);

/** Attempts at a call whose reply is invalid: mostly an accident that has nothing to do with the texts. */
const maxAttempts = 4;

/** Consecutive refusals of single texts after which the texts are not to blame: fewer when the service never took any. */
const maxRefusalsInARow = { beforeSuccess: 16, afterSuccess: 256 };

/** Consecutive successful calls of the maximum size after which a larger one is tried. */
const growAfter = 16;
/** The factor by which the maximum size grows. */
const growth = 1.25;
/** The factor by which growing slows down after a larger call was refused. */
const growthBackoff = 4;

export interface RefusalIsolatorOptions {
  /** Maximum items that a call ever has. Default: as many as are sent at once. */
  readonly maxItems?: number;
  /** Maximum items of a call to begin with. Default: `maxItems`. */
  readonly initialItems?: number | undefined;
  /** Called when the maximum items of a call change. */
  readonly onChange?: ((maxItems: number) => void) | undefined;
}

export interface RefusedText<T> {
  readonly item: T;
  readonly error: TransportError;
}

/** The result of sending items. */
export interface SentItems<T> {
  /** Items that were refused on their own. */
  readonly refused: readonly RefusedText<T>[];
  /** Items of the largest call that succeeded. */
  readonly largestSuccess: number;
}

/**
 * Sends items so that a refused one costs no other: a refused call is bisected until the refused item is alone. When all
 * items of a refused call succeed in smaller calls, its size was the reason, and later calls are no larger than the
 * largest that succeeded; after many successes in a row they grow again, by a quarter. One isolator serves a whole run. A
 * call with an invalid reply is repeated first.
 *
 * Errors that are not caused by the items are thrown, and so is a refusal that item after item meets.
 */
export class RefusalIsolator<T> {
  readonly #send: (items: readonly T[]) => Promise<void>;
  readonly #limit: number;
  readonly #onChange: (maxItems: number) => void;
  #maxItems: number;
  /** The largest call that succeeded since one of its size or smaller was refused. */
  #largestSuccess: number;
  #grownTo: number | undefined;
  #fullInARow = 0;
  #growAfter = growAfter;
  #succeeded = false;
  #refusalsInARow = 0;

  constructor(
    send: (items: readonly T[]) => Promise<void>,
    { maxItems = Infinity, initialItems = maxItems, onChange = () => {} }: RefusalIsolatorOptions = {},
  ) {
    this.#send = send;
    this.#limit = maxItems;
    this.#onChange = onChange;
    this.#maxItems = Math.min(initialItems, maxItems);
    this.#largestSuccess = initialItems < maxItems ? initialItems : 0;
  }

  /** Sends all items in as few calls as are known to work. */
  async send(items: readonly T[]): Promise<SentItems<T>> {
    if (items.length > this.#maxItems) return this.#sendParts(items, this.#maxItems);
    let isInvalidReply = false;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#send(items);
        this.#succeeded = true;
        this.#refusalsInARow = 0;
        this.#noteSuccess(items.length);
        return { refused: [], largestSuccess: items.length };
      } catch (error) {
        if (!(error instanceof TransportError && inputErrors.has(error.code))) throw error;
        isInvalidReply = error.code === "reply";
        if (isInvalidReply && attempt < maxAttempts) continue;
        if (items.length > 1) break;
        this.#refusalsInARow++;
        if (this.#refusalsInARow >= maxRefusalsInARow[this.#succeeded ? "afterSuccess" : "beforeSuccess"]) throw error;
        return { refused: [{ item: items[0]!, error }], largestSuccess: 0 };
      }
    }
    const halves = await this.#sendParts(items, Math.ceil(items.length / 2));
    // An invalid reply says nothing about sizes.
    if (halves.refused.length === 0 && !isInvalidReply) this.#noteTooLarge(items.length, halves.largestSuccess);
    return halves;
  }

  /** Sends parts of at most `size` items, one after the other. */
  async #sendParts(items: readonly T[], size: number): Promise<SentItems<T>> {
    const refused: RefusedText<T>[] = [];
    let largestSuccess = 0;
    for (let offset = 0; offset < items.length;) {
      const part = items.slice(offset, offset + Math.min(size, this.#maxItems));
      offset += part.length;
      const sent = await this.send(part);
      refused.push(...sent.refused);
      largestSuccess = Math.max(largestSuccess, sent.largestSuccess);
    }
    return { refused, largestSuccess };
  }

  #noteSuccess(size: number): void {
    this.#largestSuccess = Math.max(this.#largestSuccess, size);
    if (size < this.#maxItems || this.#maxItems === this.#limit) return;
    this.#fullInARow++;
    if (this.#fullInARow < this.#growAfter) return;
    this.#grownTo = Math.min(this.#limit, Math.ceil(this.#maxItems * growth));
    this.#change(this.#grownTo);
  }

  #noteTooLarge(size: number, largestSuccess: number): void {
    // The earlier success may have had shorter items.
    if (size <= this.#largestSuccess) this.#largestSuccess = largestSuccess;
    else if (size === this.#maxItems && size === this.#grownTo) this.#growAfter *= growthBackoff;
    this.#change(Math.min(this.#maxItems, Math.max(largestSuccess, this.#largestSuccess)));
  }

  #change(maxItems: number): void {
    this.#fullInARow = 0;
    if (maxItems === this.#maxItems) return;
    this.#maxItems = maxItems;
    this.#onChange(maxItems);
  }
}
