import { FailedAttempt } from "../../failures/failure.js";
import { maxTimerMs } from "../../failures/cancellation.js";
import type { TransportSettings } from "../../options.js";

export type IdleLimits = Pick<TransportSettings, "streamIdleMs" | "streamPayloadIdleMs">;

/**
 * Watches the silence of a stream. There are two limits, since keep-alive comments end a silence but bring nothing. Only
 * time spent waiting for the stream counts, not time in which the reader was busy elsewhere.
 *
 * The timer is set again only when it fires: a stream of thousands of pieces costs clock readings, not timers.
 */
export class IdleWatch {
  readonly #limits: IdleLimits;
  readonly #expire: (why: FailedAttempt) => void;
  #timer: NodeJS.Timeout | undefined;
  #waitingSince: number | undefined;
  /** Time of earlier waits since the last payload. */
  #waitedMs = 0;

  constructor(limits: IdleLimits, expire: (why: FailedAttempt) => void) {
    this.#limits = limits;
    this.#expire = expire;
  }

  waiting(): void {
    this.#waitingSince = performance.now();
    if (this.#timer === undefined) this.#check();
  }

  /** Notes that bytes came, with or without a payload. */
  arrived(hasPayload: boolean): void {
    if (hasPayload) this.#waitedMs = 0;
    else if (this.#waitingSince !== undefined) this.#waitedMs += performance.now() - this.#waitingSince;
    this.#waitingSince = undefined;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#waitingSince = undefined;
  }

  #check(): void {
    this.#timer = undefined;
    // The reader is busy: the next wait sets the timer again.
    if (this.#waitingSince === undefined) return;
    const { streamIdleMs, streamPayloadIdleMs } = this.#limits;
    const silentMs = performance.now() - this.#waitingSince;
    const payloadSilentMs = this.#waitedMs + silentMs;
    // A timer may fire a fraction of a millisecond early.
    const leftMs = Math.ceil(Math.min(streamIdleMs - silentMs, streamPayloadIdleMs - payloadSilentMs));
    if (leftMs > 0) this.#timer = setTimeout(() => this.#check(), Math.min(leftMs, maxTimerMs));
    else if (silentMs >= streamIdleMs) this.#expire(tooQuiet("silent", silentMs));
    else this.#expire(tooQuiet("without anything but keep-alive", payloadSilentMs));
  }
}

function tooQuiet(what: string, silentMs: number): FailedAttempt {
  const message = `the stream was ${what} for ${Math.round(silentMs)} ms`;
  return new FailedAttempt({ code: "timeout", message, retryable: true, undelivered: false });
}
