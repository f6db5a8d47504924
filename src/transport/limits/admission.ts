import { type Cancellation, maxTimerMs } from "../failures/cancellation.js";
import { FailedAttempt } from "../failures/failure.js";
import type { Outcome } from "./adaptive-limit.js";
import type { Load } from "./load.js";
import { ModelLimiter, type ModelLimits } from "./model-limiter.js";

export interface AdmissionLimits extends ModelLimits {
  /** Maximum wait for a cool-down or a budget, for calls without a deadline. */
  readonly maxRetryAfterMs: number;
}

/** Permission to send now, and a slot until it is given back. */
export interface Permit {
  /** Milliseconds spent waiting for it. */
  readonly waitedMs: number;
  /** Returns the slot with the outcome of the call. Only the first call counts. */
  readonly release: (outcome: Outcome) => void;
}

interface Waiter {
  /** When its call began: a call that is sent again goes before those that came after it. */
  readonly order: number;
  readonly load: Load;
  readonly since: number;
  /** On the clock of `performance.now()`; waits that are known to last longer fail at once. */
  readonly untilMs: number;
  readonly admit: (permit: Permit) => void;
  readonly refuse: (why: Error) => void;
}

interface ModelQueue {
  readonly limiter: ModelLimiter;
  readonly queue: Waiter[];
}

/**
 * Decides when each call may be sent: one queue in order of age for each model, one cap for all models. Cool-down,
 * budgets and slots are checked together when a call leaves, so none of them can change while it waits for another.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #models = new Map<string, ModelQueue>();
  #inFlight = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /**
   * Waits for the call's turn.
   *
   * @throws Stopped when the call is stopped first, FailedAttempt when the wait is known to be longer than the call has.
   */
  async enter(model: string, load: Load, call: Cancellation): Promise<Permit> {
    call.throwIfStopped();
    const { limiter, queue } = this.#queueOf(model);
    try {
      return await new Promise<Permit>((admit, reject) => {
        const since = performance.now();
        const untilMs = call.deadlineAtMs ?? since + this.#limits.maxRetryAfterMs;
        // The waiter leaves the queue at once: a slot given to a call that is over would never come back.
        const refuse = (why: Error) => {
          queue.splice(queue.indexOf(waiter), 1);
          reject(why);
          this.#pump();
        };
        const waiter: Waiter = { order: call.startedAtMs, load, since, untilMs, admit, refuse };
        const place = enqueue(queue, waiter);
        const waitMs = limiter.waitMs(load, since, () => sum(queue.slice(0, place)));
        if (waitMs > 0 && since + waitMs > untilMs) refuse(tooLong(model, waitMs, limiter.coolDownMs(since) > 0));
        else {
          call.listen(refuse);
          this.#pump();
        }
      });
    } finally {
      call.listen(undefined);
    }
  }

  /** Pauses all calls to this model. True when the pause is longer than before. */
  coolDown(model: string, delayMs: number): boolean {
    const { limiter, queue } = this.#queueOf(model);
    const nowMs = performance.now();
    if (!limiter.coolDownUntil(nowMs + delayMs)) return false;
    const hopeless = queue.filter(({ untilMs }) => nowMs + delayMs > untilMs);
    for (const { refuse } of hopeless) refuse(tooLong(model, delayMs, true));
    return true;
  }

  /** Corrects the budgets by what a call took beyond its estimate; negative numbers give back. */
  correct(model: string, load: Load): void {
    this.#queueOf(model).limiter.take(load, performance.now());
    this.#pump();
  }

  #queueOf(model: string): ModelQueue {
    let entry = this.#models.get(model);
    if (!entry) {
      entry = { limiter: new ModelLimiter(this.#limits, performance.now()), queue: [] };
      this.#models.set(model, entry);
    }
    return entry;
  }

  /** Admits every call that may go now, and sets a timer for the next. */
  #pump(): void {
    clearTimeout(this.#timer);
    const nowMs = performance.now();
    // With no slot free, the next one that is given back calls again.
    while (this.#inFlight < this.#limits.concurrency) {
      let next: ModelQueue | undefined;
      let soonestMs = Infinity;
      for (const entry of this.#models.values()) {
        const { limiter, queue } = entry;
        const [head] = queue;
        if (!head || !limiter.hasFreeSlot) continue;
        const waitMs = limiter.waitMs(head.load, nowMs);
        if (waitMs > 0) soonestMs = Math.min(soonestMs, waitMs);
        else if (!next || head.order < next.queue[0]!.order) next = entry;
      }
      if (!next) {
        if (soonestMs < Infinity) {
          this.#timer = setTimeout(() => this.#pump(), Math.min(Math.ceil(soonestMs), maxTimerMs));
        }
        return;
      }
      this.#admit(next.limiter, next.queue.shift()!, nowMs);
    }
  }

  #admit(limiter: ModelLimiter, { load, since, admit }: Waiter, nowMs: number): void {
    this.#inFlight++;
    limiter.inFlight++;
    limiter.take(load, nowMs);
    let released = false;
    const release = (outcome: Outcome) => {
      if (released) return;
      released = true;
      this.#inFlight--;
      limiter.inFlight--;
      limiter.learn(outcome, nowMs, performance.now());
      this.#pump();
    };
    admit({ waitedMs: nowMs - since, release });
  }
}

/** Inserts a waiter by its age, and returns its place. */
function enqueue(queue: Waiter[], waiter: Waiter): number {
  const place = queue.findLastIndex(({ order }) => order <= waiter.order) + 1;
  queue.splice(place, 0, waiter);
  return place;
}

function sum(waiters: readonly Waiter[]): Load {
  return { requests: waiters.length, tokens: waiters.reduce((tokens, { load }) => tokens + load.tokens, 0) };
}

function tooLong(model: string, waitMs: number, cooling: boolean): FailedAttempt {
  const message = cooling
    ? `the service asked to pause calls to ${model}`
    : `the calls before this one fill the budget per minute of ${model} for ${Math.ceil(waitMs)} ms`;
  return new FailedAttempt({
    code: "rate-limited",
    message,
    retryable: true,
    undelivered: true,
    retryAfterMs: waitMs,
  });
}
