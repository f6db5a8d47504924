export interface IdleLimits {
  /** Longest silence. */
  readonly idleMs: number;
  /** Longest time with nothing but keep-alive. */
  readonly payloadIdleMs: number;
}

/**
 * Watches the silence of a stream. Two limits, since keep-alive comments end a silence but bring nothing. Only time
 * spent waiting for the stream counts, not time in which the reader was busy elsewhere.
 *
 * The timer is set again only when it fires: a stream of thousands of pieces costs clock readings, not timers.
 */
export class IdleWatch {
  readonly #limits: IdleLimits;
  readonly #expire: (silentMs: number, limit: keyof IdleLimits) => void;
  #timer: NodeJS.Timeout | undefined;
  #waitingSince: number | undefined;
  /** Waited in earlier waits since the last payload. */
  #waitedMs = 0;

  constructor(limits: IdleLimits, expire: (silentMs: number, limit: keyof IdleLimits) => void) {
    this.#limits = limits;
    this.#expire = expire;
  }

  waiting(): void {
    this.#waitingSince = performance.now();
    if (this.#timer === undefined) this.#check();
  }

  /** Bytes came, with or without a payload. */
  arrived(payload: boolean): void {
    if (payload) this.#waitedMs = 0;
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
    const { idleMs, payloadIdleMs } = this.#limits;
    const silentMs = performance.now() - this.#waitingSince;
    const payloadSilentMs = this.#waitedMs + silentMs;
    // A timer may fire a fraction of a millisecond early.
    const leftMs = Math.ceil(Math.min(idleMs - silentMs, payloadIdleMs - payloadSilentMs));
    if (leftMs > 0) this.#timer = setTimeout(() => this.#check(), Math.min(leftMs, 2 ** 31 - 1));
    else if (silentMs >= idleMs) this.#expire(silentMs, "idleMs");
    else this.#expire(payloadSilentMs, "payloadIdleMs");
  }
}
