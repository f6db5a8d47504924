import { Refusal } from "../guard/refusal.js";
import { AnswerStopped } from "./answer-events.js";
import type { WireEvent } from "./wire.js";

/** Time for which the events of an ended answer can be read again, after a connection lost at its end. */
const keptMs = 30_000;

/**
 * Answers that are being made. They go on when their reader leaves, and can be followed from the beginning by who comes
 * back: a reload in mid-answer loses nothing.
 */
export class RunningAnswers {
  readonly #max: number;
  readonly #answers = new Map<string, RunningAnswer>();
  #running = 0;
  #whenIdle: (() => void) | undefined;
  #ending: Error | undefined;

  /** @param max answers at once. */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Starts one, unless one of that name is running.
   *
   * @param open its signal is aborted when the answer is stopped.
   * @throws Refusal (409 `busy`, 503) when it may not start.
   */
  start(
    name: string,
    open: (signal: AbortSignal) => AsyncIterable<WireEvent>,
    admit = () => this.admit(),
  ): RunningAnswer {
    if (this.#answers.get(name)?.isRunning) {
      throw new Refusal(409, "busy", "An answer of this conversation is still being made: follow it, or stop it first");
    }
    const release = admit();
    const answer = new RunningAnswer();
    const events = orRelease(release, () => open(answer.signal));
    this.#answers.set(name, answer);
    void answer.run(events).finally(() => {
      release();
      const forget = () => {
        if (this.#answers.get(name) === answer) this.#answers.delete(name);
      };
      setTimeout(forget, keptMs).unref();
    });
    return answer;
  }

  /** Counts an answer that is made elsewhere, until the returned function is called. @throws Refusal (503) at the limit, and at the end. */
  admit(): () => void {
    if (this.#ending) throw this.#ending;
    if (this.#running >= this.#max) {
      const message = `${this.#max} answers are being made: try again in a moment`;
      throw new Refusal(503, "busy", message, { "retry-after": "1" });
    }
    this.#running++;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      if (--this.#running === 0) this.#whenIdle?.();
    };
  }

  /** The answers as one caller starts them. @param admitCaller counts an answer of the caller's, and refuses one too many */
  forCaller(admitCaller: () => () => void): CallersAnswers {
    const admit = () => {
      const releaseCaller = admitCaller();
      const release = orRelease(releaseCaller, () => this.admit());
      return () => {
        release();
        releaseCaller();
      };
    };
    return { admit, start: (name, open) => this.start(name, open, admit), get: (name) => this.get(name) };
  }

  get(name: string): RunningAnswer | undefined {
    return this.#answers.get(name);
  }

  /** Waits until no answer is being made, and no longer than this. */
  async #idle(limitMs: number): Promise<void> {
    if (this.#running === 0) return;
    let late: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      late = setTimeout(resolve, limitMs);
    });
    clearTimeout(late);
  }

  /** Number of answers being made. */
  get running(): number {
    return this.#running;
  }

  /**
   * Waits until the answers that are being made have ended. After `graceMs` those of conversations are stopped and kept, and the
   * others are not waited for any longer.
   */
  async close(reason: Error, graceMs: number): Promise<void> {
    this.#ending = reason;
    const running = [...this.#answers.values()].filter(({ isRunning }) => isRunning);
    const stop = () => {
      for (const answer of running) answer.stop(reason);
    };
    const late = graceMs > 0 ? setTimeout(stop, graceMs) : undefined;
    if (!late) stop();
    await Promise.all([this.#idle(graceMs), ...running.map(({ ended }) => ended)]);
    clearTimeout(late);
    this.#answers.clear();
  }
}

/** The answers as one caller starts and follows them. */
export interface CallersAnswers {
  readonly admit: () => () => void;
  readonly start: (name: string, open: (signal: AbortSignal) => AsyncIterable<WireEvent>) => RunningAnswer;
  readonly get: (name: string) => RunningAnswer | undefined;
}

function orRelease<Result>(release: () => void, open: () => Result): Result {
  try {
    return open();
  } catch (error) {
    release();
    throw error;
  }
}

/** One answer with all its events so far. */
export class RunningAnswer {
  readonly #events: WireEvent[] = [];
  readonly #stopping = new AbortController();
  readonly #readers = new Set<() => void>();
  #isRunning = true;
  #end = () => {};
  /** Resolves when its last event is there. */
  readonly ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Collects its events. They never throw, since `answerEvents` ends them. */
  async run(events: AsyncIterable<WireEvent>): Promise<void> {
    for await (const event of events) {
      this.#events.push(event);
      this.#wake();
    }
    this.#isRunning = false;
    this.#wake();
    this.#end();
  }

  stop(reason: Error = new AnswerStopped()): void {
    this.#stopping.abort(reason);
  }

  /** Its events from `next` on, each with its number from 0; ends with the answer. Leaving the loop leaves the answer running. */
  async *follow(next = 0): AsyncGenerator<readonly [number: number, event: WireEvent]> {
    for (let number = next; ;) {
      while (number < this.#events.length) {
        yield [number, this.#events[number]!];
        number++;
      }
      if (!this.#isRunning) return;
      await new Promise<void>((resolve) => this.#readers.add(resolve));
    }
  }

  #wake(): void {
    for (const wake of this.#readers) wake();
    this.#readers.clear();
  }
}
