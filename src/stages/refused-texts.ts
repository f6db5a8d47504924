import { TransportError, type TransportErrorCode } from "../errors.js";

/** Errors that are about what was sent, so that sending less, or something else, may work. */
const aboutTheInput: ReadonlySet<TransportErrorCode> = new Set([
  "request",
  "refused",
  "too-large",
  "context-length",
  "reply",
]);

/** Times that a call is sent of which the reply makes no sense: most often that is an accident, and not about the texts. */
const sendsOfNonsense = 4;

/** Refusals of single texts in a row after which the texts are not what is wrong: sooner when none was ever taken. */
const hopelessAfter = { before: 16, after: 256 };

/** Calls of the most items, taken one after the other, after which a larger one is tried. */
const growAfter = 16;
/** A larger call has so many times as many items. */
const growth = 1.25;
/** After a larger one was refused, so many times as many calls have to be taken before the next is tried. */
const patience = 4;

export interface RefusalIsolatorOptions {
  /** Most items that a call ever has. Default: as many as are sent at once. */
  readonly mostItems?: number;
  /** Most items of a call to begin with. Default: `mostItems`. */
  readonly firstItems?: number | undefined;
  /** Is told how many items a call has at most, whenever that changes. */
  readonly onChange?: ((mostItems: number) => void) | undefined;
}

export interface RefusedText<T> {
  readonly item: T;
  readonly error: TransportError;
}

/**
 * Sends items so that one the service refuses costs no other: a refused call is halved until the refused item is alone.
 * When every item of a refused call went through in smaller calls, its size was the reason, and later calls are no larger
 * than the largest that was taken; they grow again, by a quarter, when many of that size were taken in a row. One of these
 * serves a whole run. A reply that makes no sense is asked for again first.
 *
 * Errors that are not about what was sent are thrown, and so is a refusal that item after item meets.
 */
export class RefusalIsolator<T> {
  readonly #send: (items: readonly T[]) => Promise<void>;
  readonly #limit: number;
  readonly #onChange: (mostItems: number) => void;
  #mostItems: number;
  /** The largest call that was taken since one of its size, or of a smaller one, was refused. */
  #largestTaken: number;
  #grownTo: number | undefined;
  #fullInARow = 0;
  #growAfter = growAfter;
  #taken = false;
  #refusalsInARow = 0;

  constructor(
    send: (items: readonly T[]) => Promise<void>,
    { mostItems = Infinity, firstItems = mostItems, onChange = () => {} }: RefusalIsolatorOptions = {},
  ) {
    this.#send = send;
    this.#limit = mostItems;
    this.#onChange = onChange;
    this.#mostItems = Math.min(firstItems, mostItems);
    this.#largestTaken = firstItems < mostItems ? firstItems : 0;
  }

  /** Sends all items, in as few calls as is known to work; returns those that were refused on their own. */
  async send(items: readonly T[]): Promise<RefusedText<T>[]> {
    const refused: RefusedText<T>[] = [];
    for (let at = 0; at < items.length;) {
      const part = items.slice(at, at + this.#mostItems);
      at += part.length;
      refused.push(...(await this.#isolate(part)).refused);
    }
    return refused;
  }

  async #isolate(items: readonly T[]): Promise<{ refused: RefusedText<T>[]; largestTaken: number }> {
    let nonsense = false;
    try {
      await this.#sendAgain(items);
      this.#taken = true;
      this.#refusalsInARow = 0;
      this.#noteTaken(items.length);
      return { refused: [], largestTaken: items.length };
    } catch (error) {
      if (!(error instanceof TransportError && aboutTheInput.has(error.code))) throw error;
      if (items.length === 1) {
        this.#refusalsInARow++;
        if (this.#refusalsInARow >= (this.#taken ? hopelessAfter.after : hopelessAfter.before)) throw error;
        return { refused: [{ item: items[0]!, error }], largestTaken: 0 };
      }
      nonsense = error.code === "reply";
    }
    const middle = Math.ceil(items.length / 2);
    const first = await this.#isolate(items.slice(0, middle));
    const second = await this.#isolate(items.slice(middle));
    const refused = [...first.refused, ...second.refused];
    const largestTaken = Math.max(first.largestTaken, second.largestTaken);
    // Nonsense says nothing of sizes.
    if (refused.length === 0 && !nonsense) this.#noteTooLarge(items.length, largestTaken);
    return { refused, largestTaken };
  }

  #noteTaken(size: number): void {
    this.#largestTaken = Math.max(this.#largestTaken, size);
    if (size < this.#mostItems || this.#mostItems === this.#limit) return;
    this.#fullInARow++;
    if (this.#fullInARow < this.#growAfter) return;
    this.#grownTo = Math.min(this.#limit, Math.ceil(this.#mostItems * growth));
    this.#change(this.#grownTo);
  }

  #noteTooLarge(size: number, largestTaken: number): void {
    // What was taken once may have been of shorter items.
    if (size <= this.#largestTaken) this.#largestTaken = largestTaken;
    else if (size === this.#mostItems && size === this.#grownTo) this.#growAfter *= patience;
    this.#change(Math.min(this.#mostItems, Math.max(largestTaken, this.#largestTaken)));
  }

  #change(mostItems: number): void {
    this.#fullInARow = 0;
    if (mostItems === this.#mostItems) return;
    this.#mostItems = mostItems;
    this.#onChange(mostItems);
  }

  async #sendAgain(items: readonly T[]): Promise<void> {
    for (let sends = 1; ; sends++) {
      try {
        return await this.#send(items);
      } catch (error) {
        if (!(error instanceof TransportError && error.code === "reply") || sends === sendsOfNonsense) throw error;
      }
    }
  }
}
