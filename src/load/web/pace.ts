import { setTimeout as sleep } from "node:timers/promises";

/** Keeps requests to one host apart. */
export class Pace {
  readonly #next = new Map<string, number>();

  /** Waits until a request to the host may be sent, at least `gapMs` after the one before. */
  async turn(host: string, gapMs: number, signal: AbortSignal): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, this.#next.get(host) ?? 0);
    this.#next.set(host, at + gapMs);
    if (at <= now) return;
    // The timer's own error would wrap the caller's reason.
    await sleep(at - now, undefined, { signal }).catch(() => signal.throwIfAborted());
    // Who waited longer than was meant keeps the next one waiting from then on.
    this.#next.set(host, Math.max(this.#next.get(host)!, performance.now() + gapMs));
  }
}
