import { Refusal } from "../guard/refusal.js";
import { AnswerStopped } from "./answer-events.js";
import type { WireEvent } from "./wire.js";

/** How long the events of an answer that has ended can be read again, by who lost the connection at its end. */
const keptMs = 30_000;

/**
 * Answers that are being made. They go on when their reader leaves, and can be followed from the beginning by who comes
 * back: a reload in mid-answer loses nothing.
 */
export class RunningAnswers {
  readonly #max: number;
  readonly #answers = new Map<string, RunningAnswer>();
  #running = 0;

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
  start(name: string, open: (signal: AbortSignal) => AsyncIterable<WireEvent>): RunningAnswer {
    if (this.#answers.get(name)?.isRunning) {
      throw new Refusal(409, "busy", "An answer of this conversation is still being made: follow it, or stop it first");
    }
    const release = this.admit();
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

  /** Counts an answer that is made elsewhere, until the returned function is called. @throws Refusal (503) at the limit. */
  admit(): () => void {
    if (this.#running >= this.#max) {
      const message = `${this.#max} answers are being made: try again in a moment`;
      throw new Refusal(503, "busy", message, { "retry-after": "1" });
    }
    this.#running++;
    let isReleased = false;
    return () => {
      if (!isReleased) this.#running--;
      isReleased = true;
    };
  }

  get(name: string): RunningAnswer | undefined {
    return this.#answers.get(name);
  }

  /** Stops the answers that are being made, and waits until they have ended. */
  async close(reason: Error): Promise<void> {
    const running = [...this.#answers.values()].filter(({ isRunning }) => isRunning);
    for (const answer of running) answer.stop(reason);
    await Promise.all(running.map(({ ended }) => ended));
    this.#answers.clear();
  }
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
