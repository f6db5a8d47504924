import { TransportError, type TransportErrorCode } from "../../../core/errors.js";

/** Errors caused by what was sent: sending less, or something else, may work. */
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

/**
 * Sends items so that a refused one costs no other: a refused call is bisected until the refused item is alone. When all
 * items of a refused call succeed in smaller calls, its size was the reason, and later calls are no larger than the
 * largest that succeeded; after many successes in a row they grow again, by a quarter. One isolator serves a whole run. A
 * call with an invalid reply is repeated first.
 *
 * Errors that are not caused by what was sent are thrown, and so is a refusal that item after item meets.
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

  /** Sends all items in as few calls as are known to work; returns those that were refused on their own. */
  async send(items: readonly T[]): Promise<RefusedText<T>[]> {
    const refused: RefusedText<T>[] = [];
    for (let at = 0; at < items.length;) {
      const part = items.slice(at, at + this.#maxItems);
      at += part.length;
      refused.push(...(await this.#isolate(part)).refused);
    }
    return refused;
  }

  async #isolate(items: readonly T[]): Promise<{ refused: RefusedText<T>[]; largestSuccess: number }> {
    let isInvalidReply = false;
    try {
      await this.#sendRepeatedly(items);
      this.#succeeded = true;
      this.#refusalsInARow = 0;
      this.#noteSuccess(items.length);
      return { refused: [], largestSuccess: items.length };
    } catch (error) {
      if (!(error instanceof TransportError && inputErrors.has(error.code))) throw error;
      if (items.length === 1) {
        this.#refusalsInARow++;
        if (this.#refusalsInARow >= maxRefusalsInARow[this.#succeeded ? "afterSuccess" : "beforeSuccess"]) throw error;
        return { refused: [{ item: items[0]!, error }], largestSuccess: 0 };
      }
      isInvalidReply = error.code === "reply";
    }
    const middle = Math.ceil(items.length / 2);
    const first = await this.#isolate(items.slice(0, middle));
    const second = await this.#isolate(items.slice(middle));
    const refused = [...first.refused, ...second.refused];
    const largestSuccess = Math.max(first.largestSuccess, second.largestSuccess);
    // An invalid reply says nothing about sizes.
    if (refused.length === 0 && !isInvalidReply) this.#noteTooLarge(items.length, largestSuccess);
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

  async #sendRepeatedly(items: readonly T[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#send(items);
      } catch (error) {
        if (!(error instanceof TransportError && error.code === "reply") || attempt === maxAttempts) throw error;
      }
    }
  }
}
