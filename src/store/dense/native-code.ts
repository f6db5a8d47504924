import { performance } from "node:perf_hooks";

/** Indexes into the numbers that the graph's thread shares with the main thread. */
const flags = {
  /** 1 when the process ends: the graph's thread must not go into native code again. */
  stop: 0,
  /** How many calls the graph's thread has in native code: a process that ends then is aborted by the library. */
  calls: 1,
} as const;

// Longest native call is the writing of the whole graph.
const longestCallMs = 30_000;

/** What both threads look at. */
export function sharedFlags(): SharedArrayBuffer {
  return new SharedArrayBuffer(8);
}

/** The graph's thread: runs work in native code, and throws when the process is ending. */
export class NativeCode {
  readonly #shared: Int32Array;

  constructor(shared: SharedArrayBuffer) {
    this.#shared = new Int32Array(shared);
  }

  run<Result>(work: () => Result): Result {
    this.#enter();
    try {
      return work();
    } finally {
      this.#leave();
    }
  }

  /** Work that goes on beside this thread's own. */
  async runAside<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#enter();
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #enter(): void {
    Atomics.add(this.#shared, flags.calls, 1);
    if (Atomics.load(this.#shared, flags.stop) === 0) return;
    this.#leave();
    throw new Error("The process is ending");
  }

  #leave(): void {
    Atomics.sub(this.#shared, flags.calls, 1);
    Atomics.notify(this.#shared, flags.calls);
  }
}

/**
 * The main thread, when the process ends: waits until no native code runs, and lets none begin. Ending tears the graph's
 * thread down, and the native library aborts when that happens in the midst of a call.
 */
export function waitForNativeCode(flagsOfThread: SharedArrayBuffer): void {
  const shared = new Int32Array(flagsOfThread);
  Atomics.store(shared, flags.stop, 1);
  const until = performance.now() + longestCallMs;
  for (;;) {
    const calls = Atomics.load(shared, flags.calls);
    const left = until - performance.now();
    if (calls === 0 || left <= 0) return;
    Atomics.wait(shared, flags.calls, calls, left);
  }
}
