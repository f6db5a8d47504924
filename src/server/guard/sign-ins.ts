import { setTimeout as sleep } from "node:timers/promises";
import { isIP } from "node:net";
import { Refusal } from "./refusal.js";

/** Maximum number of remembered addresses; the one idle for longest is forgotten first. */
const maxAddresses = 10_000;
/** Wrong tokens that an address may send at once, and in a minute from then on. */
const maxWrong = 10;
const wrongPerMinute = 10;
/** Delay before each further token of such an address is compared, one at a time. */
const waitMs = 500;

interface Attempts {
  /** Wrong tokens that are still allowed. */
  left: number;
  atMs: number;
  /** Whether the right token has come from there: it is then never kept waiting. */
  known: boolean;
  isComparing: boolean;
}

/**
 * Slows down token guessing. After ten wrong ones an address gets 429, and its next ones are compared one at a time, half
 * a second after they came; the right one is let in then, too. An address that the right token has come from is not kept
 * waiting with it: behind a proxy all callers have one address, and nobody is to lock the others out.
 */
export class SignIns {
  readonly #now: () => number;
  readonly #wait: (ms: number) => Promise<unknown>;
  /** Attempts by address, in order of the last attempt. */
  readonly #attempts = new Map<string, Attempts>();

  constructor(now: () => number = () => performance.now(), wait: (ms: number) => Promise<unknown> = sleep) {
    this.#now = now;
    this.#wait = wait;
  }

  /**
   * @param address of the caller, where it is known.
   * @param isRight compares the token that was sent.
   * @throws Refusal (429) with the time to wait, for a wrong token when there were too many, or several at once.
   */
  async check(address: string | undefined, isRight: () => boolean): Promise<boolean> {
    const attempts = this.#attemptsOf(networkOf(address ?? ""));
    if (attempts.left < 1 && !attempts.known) {
      if (attempts.isComparing) throw tooMany(attempts.left);
      attempts.isComparing = true;
      await this.#wait(waitMs).finally(() => (attempts.isComparing = false));
    }
    if (isRight()) {
      attempts.known = true;
      return true;
    }
    if (attempts.left < 1) throw tooMany(attempts.left);
    attempts.left--;
    return false;
  }

  #attemptsOf(address: string): Attempts {
    const atMs = this.#now();
    const attempts = this.#attempts.get(address) ?? { left: maxWrong, atMs, known: false, isComparing: false };
    attempts.left = Math.min(maxWrong, attempts.left + ((atMs - attempts.atMs) / 60_000) * wrongPerMinute);
    attempts.atMs = atMs;
    this.#attempts.delete(address);
    this.#attempts.set(address, attempts);
    if (this.#attempts.size > maxAddresses) this.#attempts.delete(this.#attempts.keys().next().value!);
    return attempts;
  }
}

function tooMany(left: number): Refusal {
  const seconds = Math.ceil(((1 - left) / wrongPerMinute) * 60);
  const message = `Too many wrong tokens came from this address: try again in ${seconds} s`;
  return new Refusal(429, "rate-limited", message, { "retry-after": String(seconds) });
}

/** The address, or for IPv6 its /64, which usually belongs to one caller. */
function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const v4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const groups = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = tail === undefined ? 0 : 8 - groups.length - after.length;
  return [...groups, ...Array.from({ length: missing }, () => "0"), ...after]
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""))
    .join(":");
}
