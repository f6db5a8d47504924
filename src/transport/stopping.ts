import { OptionsError } from "../errors.js";
import type { CallOptions } from "../ports.js";

/** Node's timers hold no more than this; longer waits are as good as endless. */
export const longestTimerMs = 2 ** 31 - 1;

/** Why a call ended from outside. */
export type StopReason =
  | { readonly kind: "aborted"; readonly reason: unknown }
  | { readonly kind: "deadline"; readonly deadlineMs: number }
  | { readonly kind: "closed" };

/** Thrown through whatever a call was doing when it was stopped. Never leaves the transport. */
export class Stopped extends Error {
  readonly why: StopReason;

  constructor(why: StopReason) {
    super(`stopped: ${why.kind}`);
    this.why = why;
  }
}

/** @throws OptionsError for options that would be passed over in silence, or break the call in the middle. */
export function checkCallOptions(owner: string, { signal, deadlineMs }: CallOptions): void {
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.addEventListener !== "function") {
    throw new OptionsError(
      "options",
      `${owner}: signal must be an AbortSignal, such as the signal of an AbortController`,
    );
  }
  if (deadlineMs !== undefined && (typeof deadlineMs !== "number" || Number.isNaN(deadlineMs))) {
    throw new OptionsError(
      "options",
      `${owner}: deadlineMs must be a number of milliseconds (got ${String(deadlineMs)})`,
    );
  }
}

/**
 * What ends something from outside: the caller's signal, the deadline and the transport's closing, made one. What is under
 * way does one thing at a time, and that thing listens.
 */
export class Stopping {
  /** On the clock of `performance.now()`. */
  readonly startedAtMs = performance.now();
  /** On the clock of `performance.now()`. */
  readonly deadlineAtMs: number | undefined;
  #deadlineMs = 0;
  #stopped: Stopped | undefined;
  #listener: ((stopped: Stopped) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.stop({ kind: "aborted", reason: this.#signal?.reason });

  constructor({ signal, deadlineMs }: CallOptions) {
    this.#signal = signal;
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (deadlineMs === undefined) return;
    this.#deadlineMs = deadlineMs;
    this.deadlineAtMs = this.startedAtMs + deadlineMs;
    if (deadlineMs <= 0) this.#late();
    else if (deadlineMs <= longestTimerMs) this.#timer = setTimeout(() => this.#late(), deadlineMs);
  }

  stop(why: StopReason): void {
    if (this.#stopped) return;
    this.#stopped = new Stopped(why);
    this.#listener?.(this.#stopped);
  }

  throwIfStopped(): void {
    // The timer may be late, or the process busy.
    if (this.deadlineAtMs !== undefined && performance.now() >= this.deadlineAtMs) {
      this.#late();
    }
    if (this.#stopped) throw this.#stopped;
  }

  /** What hears of the stop from now on; at once when it has come already. Replaces the listener before it. */
  listen(listener: ((stopped: Stopped) => void) | undefined): void {
    this.#listener = listener;
    if (this.#stopped) listener?.(this.#stopped);
  }

  /** Waits, unless the call is stopped. */
  async sleep(milliseconds: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        timer = setTimeout(resolve, Math.min(milliseconds, longestTimerMs));
        this.listen(reject);
      });
    } finally {
      clearTimeout(timer);
      this.listen(undefined);
    }
  }

  /** Lets go of the caller's signal and of the timer. */
  end(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#listener = undefined;
  }

  #late(): void {
    this.stop({ kind: "deadline", deadlineMs: this.#deadlineMs });
  }
}
