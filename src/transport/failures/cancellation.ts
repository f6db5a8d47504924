import type { CallOptions } from "../../core/ports.js";

/** Node's timers hold no more than this; longer waits are as good as endless. */
export const maxTimerMs = 2 ** 31 - 1;

/** Reason why a call was ended from outside. */
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

/**
 * Everything that ends work from outside, made one: the caller's signal, the deadline, and the closing of the transport.
 * The work does one thing at a time, and that thing listens.
 */
export class Cancellation {
  /** On the clock of `performance.now()`. */
  readonly startedAtMs = performance.now();
  /** On the clock of `performance.now()`. */
  readonly deadlineAtMs: number | undefined;
  readonly #deadlineMs: number | undefined;
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
    if (deadlineMs <= 0) this.#expire();
    else if (deadlineMs <= maxTimerMs) this.#timer = setTimeout(() => this.#expire(), deadlineMs);
  }

  stop(why: StopReason): void {
    if (this.#stopped) return;
    this.#stopped = new Stopped(why);
    this.#listener?.(this.#stopped);
  }

  throwIfStopped(): void {
    // The deadline is checked again: the timer may be late, or the process busy.
    if (this.deadlineAtMs !== undefined && performance.now() >= this.deadlineAtMs) this.#expire();
    if (this.#stopped) throw this.#stopped;
  }

  /** Replaces the listener; calls the new one at once when the stop has come already. */
  listen(listener: ((stopped: Stopped) => void) | undefined): void {
    this.#listener = listener;
    if (this.#stopped) listener?.(this.#stopped);
  }

  /** Waits. @throws Stopped when the call is stopped meanwhile. */
  async sleep(milliseconds: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        timer = setTimeout(resolve, Math.min(milliseconds, maxTimerMs));
        this.listen(reject);
      });
    } finally {
      clearTimeout(timer);
      this.listen(undefined);
    }
  }

  /** Releases the caller's signal and the timer. */
  end(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#listener = undefined;
  }

  #expire(): void {
    this.stop({ kind: "deadline", deadlineMs: this.#deadlineMs ?? 0 });
  }
}
