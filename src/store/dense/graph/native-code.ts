import { performance } from "node:perf_hooks";

/** Indexes into the numbers that the graph's thread shares with the main thread. */
const flags = {
  /** 1 when the process is ending: the graph's thread must not enter native code again. */
  stop: 0,
  /** Number of calls that are in native code. */
  calls: 1,
} as const;

// The longest native call writes the whole graph.
const maxCallMs = 30_000;

/** Memory that both threads see. */
export function sharedFlags(): SharedArrayBuffer {
  return new SharedArrayBuffer(8);
}

/** On the graph's thread: runs work in native code, or throws when the process is ending. */
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

  /** Runs work that goes on in a thread of the library. */
  async runAsync<Result>(work: () => Promise<Result>): Promise<Result> {
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
 * On the main thread, when the process ends: waits until no native code runs, and lets none begin. The end of the process
 * tears the graph's thread down, and the native library aborts the process if that happens during a call.
 */
export function waitForNativeCode(sharedMemory: SharedArrayBuffer): void {
  const shared = new Int32Array(sharedMemory);
  Atomics.store(shared, flags.stop, 1);
  const until = performance.now() + maxCallMs;
  for (;;) {
    const calls = Atomics.load(shared, flags.calls);
    const leftMs = until - performance.now();
    if (calls === 0 || leftMs <= 0) return;
    Atomics.wait(shared, flags.calls, calls, leftMs);
  }
}
