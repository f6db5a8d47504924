import type { Outcome } from "./adaptive-limit.js";
import { type Stopping, longestTimerMs } from "./stopping.js";
import { FailedAttempt } from "./failure.js";
import { Lane, type LaneLimits, type Load } from "./lane.js";

export interface AdmissionLimits extends LaneLimits {
  /** Longest wait for a cool-down or a budget, for calls without a deadline. */
  readonly maxRetryAfterMs: number;
}

/** The right to be sent now, and a slot until it is given back. */
export interface Leave {
  /** Spent waiting for it. */
  readonly waitedMs: number;
  /** Gives the slot back, and says what came of the call. Only the first time counts. */
  readonly release: (outcome: Outcome) => void;
}

interface Waiter {
  /** When its call began: a call that is sent again goes before those that came after it. */
  readonly order: number;
  readonly load: Load;
  readonly since: number;
  /** On the clock of `performance.now()`; waits that are known to last longer fail at once. */
  readonly untilMs: number;
  readonly admit: (leave: Leave) => void;
  readonly refuse: (why: Error) => void;
}

/**
 * Decides when each call may be sent: one queue in order of age for each model, one cap for all. Cool-down, budgets and
 * slots are looked at together when a call leaves, so none of them can change while it waits for another.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #lanes = new Map<string, { readonly lane: Lane; readonly queue: Waiter[] }>();
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
  async enter(model: string, load: Load, scope: Stopping): Promise<Leave> {
    scope.throwIfStopped();
    const { lane, queue } = this.#laneOf(model);
    try {
      return await new Promise<Leave>((admit, reject) => {
        const since = performance.now();
        const untilMs = scope.deadlineAtMs ?? since + this.#limits.maxRetryAfterMs;
        // Out of the queue at once: a slot given to a call that is over would never come back.
        const refuse = (why: Error) => {
          queue.splice(queue.indexOf(waiter), 1);
          reject(why);
          this.#pump();
        };
        const waiter: Waiter = { order: scope.startedAtMs, load, since, untilMs, admit, refuse };
        const place = enqueue(queue, waiter);
        const waitMs = Math.max(lane.coolMs(since), lane.metered ? lane.budgetMs(load, since, sum(queue, place)) : 0);
        if (waitMs > 0 && since + waitMs > untilMs) refuse(tooLong(model, waitMs, lane.coolMs(since) > 0));
        else {
          scope.listen(refuse);
          this.#pump();
        }
      });
    } finally {
      scope.listen(undefined);
    }
  }

  /** No call to this model leaves for so long. True when that is longer than before. */
  cool(model: string, delayMs: number): boolean {
    const { lane, queue } = this.#laneOf(model);
    const nowMs = performance.now();
    if (!lane.cool(nowMs + delayMs)) return false;
    const hopeless = queue.filter(({ untilMs }) => nowMs + delayMs > untilMs);
    for (const { refuse } of hopeless) refuse(tooLong(model, delayMs, true));
    return true;
  }

  /** A call took more of its budgets than was thought, or less where the numbers are negative. */
  correct(model: string, load: Load): void {
    this.#laneOf(model).lane.take(load, performance.now());
    this.#pump();
  }

  #laneOf(model: string) {
    let entry = this.#lanes.get(model);
    if (!entry) {
      entry = { lane: new Lane(this.#limits, performance.now()), queue: [] };
      this.#lanes.set(model, entry);
    }
    return entry;
  }

  /** Lets go who may go. */
  #pump(): void {
    clearTimeout(this.#timer);
    const nowMs = performance.now();
    for (;;) {
      // With no slot free, the next that is given back calls again.
      if (this.#inFlight >= this.#limits.concurrency) return;
      let next: { readonly lane: Lane; readonly queue: Waiter[] } | undefined;
      let soonestMs = Infinity;
      for (const entry of this.#lanes.values()) {
        const { lane, queue } = entry;
        const [head] = queue;
        if (!head || lane.inFlight >= lane.room) continue;
        const waitMs = Math.max(lane.coolMs(nowMs), lane.budgetMs(head.load, nowMs));
        if (waitMs > 0) soonestMs = Math.min(soonestMs, waitMs);
        else if (!next || head.order < next.queue[0]!.order) next = entry;
      }
      if (next) this.#admit(next.lane, next.queue.shift()!, nowMs);
      else {
        if (soonestMs < Infinity) {
          this.#timer = setTimeout(() => this.#pump(), Math.min(Math.ceil(soonestMs), longestTimerMs));
        }
        return;
      }
    }
  }

  #admit(lane: Lane, { load, since, admit }: Waiter, nowMs: number): void {
    this.#inFlight++;
    lane.inFlight++;
    lane.take(load, nowMs);
    let released = false;
    const release = (outcome: Outcome) => {
      if (released) return;
      released = true;
      this.#inFlight--;
      lane.inFlight--;
      lane.learn(outcome, nowMs, performance.now());
      this.#pump();
    };
    admit({ waitedMs: nowMs - since, release });
  }
}

/** Puts a waiter where its age belongs, and says where that is. */
function enqueue(queue: Waiter[], waiter: Waiter): number {
  let place = queue.length;
  while (place > 0 && queue[place - 1]!.order > waiter.order) place--;
  queue.splice(place, 0, waiter);
  return place;
}

/** What the first `count` of them will take. */
function sum(queue: readonly Waiter[], count: number): Load {
  let tokens = 0;
  for (let at = 0; at < count; at++) tokens += queue[at]!.load.tokens;
  return { requests: count, tokens };
}

function tooLong(model: string, waitMs: number, cooling: boolean): FailedAttempt {
  return new FailedAttempt({
    code: "rate-limited",
    message: cooling
      ? `the service wants no calls to ${model} now`
      : `the calls before this one fill the budget per minute of ${model} for ${Math.ceil(waitMs)} ms`,
    retryable: true,
    undelivered: true,
    retryAfterMs: waitMs,
  });
}
