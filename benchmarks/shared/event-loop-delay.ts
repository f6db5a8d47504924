import { createHistogram } from "node:perf_hooks";

const everyMs = 5;

/**
 * Measures how late timers fire while work is in progress. Node's own monitor would count a pause between two stretches of
 * work as a delay.
 */
export class EventLoopDelay {
  readonly #histogram = createHistogram();

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    let due = performance.now() + everyMs;
    const record = () => {
      const now = performance.now();
      this.#histogram.record(Math.max(1, Math.round((now - due) * 1e6)));
      due = now + everyMs;
    };
    const timer = setInterval(record, everyMs);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      if (performance.now() > due) record();
    }
  }

  toString(): string {
    const milliseconds = (nanoseconds: number) => (nanoseconds / 1e6).toFixed(0);
    const { max } = this.#histogram;
    const [p50, p99] = [50, 99].map((percentile) => milliseconds(this.#histogram.percentile(percentile)));
    return `event loop delay p50 ${p50} ms, p99 ${p99} ms, longest ${milliseconds(max)} ms`;
  }
}
