/**
 * Until when a model wants no calls. Limits are the account's, so what one caller hears holds for all that share the
 * key; a transport has one key, so models are enough to tell them apart.
 */
export class CoolDown {
  readonly #until = new Map<string, number>();

  /** Milliseconds from `nowMs` for which `model` wants no calls; 0 if it takes them. */
  remainingMs(model: string, nowMs: number): number {
    const until = this.#until.get(model);
    if (until === undefined) return 0;
    if (until > nowMs) return until - nowMs;
    this.#until.delete(model);
    return 0;
  }

  /** Never shortens a longer cool-down. True when it is longer now. */
  extend(model: string, untilMs: number): boolean {
    if (untilMs <= (this.#until.get(model) ?? 0)) return false;
    this.#until.set(model, untilMs);
    return true;
  }
}
