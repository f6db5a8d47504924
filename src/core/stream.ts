import { setImmediate as immediate } from "node:timers/promises";
import { shown } from "./check-port.js";
import { OptionsError } from "./errors.js";

/** Anything that can be iterated, now or over time. */
export type Source<T> = Iterable<T> | AsyncIterable<T>;

/**
 * Refuses values that are not streams of items. A string is technically an iterable of its letters, but is never meant
 * as one.
 *
 * @throws OptionsError that names the call and the parameter.
 */
export function checkItems(call: string, option: string, given: unknown): void {
  if (typeof given === "object" && given !== null && (Symbol.asyncIterator in given || Symbol.iterator in given))
    return;
  const fix = given instanceof Promise ? "Await it first" : "Put a single item into a list: [item]";
  const message = `${option} must be a stream or list of items (got ${shown(given)}). ${fix}`;
  throw new OptionsError("options", message, { call, option });
}

/**
 * Reads a stream to its end and returns its items in order. They are all held in memory.
 *
 * @example
 * ```ts
 * import { chunk, collect, Pipeline, type Document } from "citewell";
 * const chunks = await collect(
 *   Pipeline.from<Document>()
 *     .pipe(chunk())
 *     .stream([{ uri: "keys", text: "Keys expire after 90 days." }]),
 * );
 * ```
 */
export async function collect<T>(source: Source<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

export interface MapConcurrentOptions {
  /** Maximum number of calls in flight at once. */
  readonly concurrency: number;
  /** Stops taking new items; calls in flight are expected to observe the same signal. */
  readonly signal?: AbortSignal;
  /** Items that are read before there is a slot for them, so that none stands empty while the source works. Default: 0. */
  readonly readAhead?: number;
}

/**
 * `transform` over a sliding window of `concurrency` items, results in the order of the source. A slot is refilled
 * as soon as its own call ends, though results leave in order, so up to `2 × concurrency` results may wait for a slow one
 * ahead of them. The first failure ends the stream after the results before it were handed out.
 */
export async function* mapConcurrent<In, Out>(
  source: Source<In>,
  transform: (item: In, index: number) => Promise<Out>,
  { concurrency, signal, readAhead = 0 }: MapConcurrentOptions,
): AsyncGenerator<Out> {
  type Settled = { readonly value: Out } | { readonly error: unknown };
  const iterator = iterate(source);
  const window: Promise<Settled>[] = [];
  const ahead: In[] = [];
  let inFlight = 0;
  let index = 0;
  let exhausted = false;
  let sourceError: { readonly error: unknown } | undefined;
  let reading: Promise<void> | undefined;
  let stopped = false;
  let wake: () => void = () => {};

  const start = (item: In) => {
    inFlight++;
    const call = transform(item, index++).then(
      (value): Settled => ({ value }),
      (error: unknown): Settled => ({ error }),
    );
    window.push(
      call.finally(() => {
        inFlight--;
        pump();
      }),
    );
    wake();
  };
  const hasSlot = () => inFlight < concurrency && window.length < 2 * concurrency;
  // Reads on its own: a slot that falls free while the consumer is busy is filled at once.
  const pump = () => {
    if (stopped) return;
    if (signal?.aborted && ahead.length > 0) {
      ahead.length = 0;
      exhausted = true;
      sourceError ??= { error: signal.reason };
    }
    while (ahead.length > 0 && hasSlot()) start(ahead.shift()!);
    if (exhausted || reading || !(hasSlot() || ahead.length < readAhead)) return;
    reading = (async () => {
      try {
        signal?.throwIfAborted();
        const next = await iterator.next();
        if (next.done) exhausted = true;
        else if (!stopped) ahead.push(next.value);
      } catch (error) {
        exhausted = true;
        sourceError = { error };
      }
      reading = undefined;
      pump();
      if (exhausted) wake();
    })();
  };

  try {
    pump();
    for (;;) {
      if (window.length === 0) {
        if (exhausted) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (window.length > 0 || exhausted) resolve();
        });
        continue;
      }
      const settled = await window.shift()!;
      pump();
      if ("error" in settled) throw settled.error;
      yield settled.value;
    }
    if (sourceError) throw sourceError.error;
  } finally {
    stopped = true;
    await reading;
    await iterator.return?.();
  }
}

export interface BatchOptions<T> {
  /** Maximum number of items in a batch. */
  readonly count: number;
  /** Maximum weight in a batch, in the unit of `weigh`; an item heavier than that goes alone. Default: no limit. */
  readonly weight?: number;
  readonly weigh?: (item: T) => number;
  /**
   * Hand out a smaller batch once the source has had nothing for this long. 0: as soon as the event loop turns over, so
   * what arrived together leaves together and nothing waits for what is still to come. Default: wait for a full batch.
   */
  readonly waitMs?: number;
}

/** Items in groups, in order, nothing lost: on a failing source the group so far comes first, then the failure. */
export async function* batch<T>(source: Source<T>, options: BatchOptions<T>): AsyncGenerator<T[]> {
  const { count, weight = Infinity, weigh = () => 1, waitMs } = options;
  const iterator = iterate(source);
  const silence = waitMs === undefined ? undefined : new Silence(waitMs);
  let group: T[] = [];
  let load = 0;
  let failure: { readonly thrown: unknown } | undefined;
  let pending: Promise<IteratorResult<T> | { readonly thrown: unknown }> | undefined;
  try {
    for (;;) {
      pending ??= iterator.next().catch((thrown: unknown) => ({ thrown }));
      const next = await (group.length > 0 && silence ? silence.orSooner(pending) : pending);
      if (next === "quiet") {
        yield group;
        group = [];
        load = 0;
        continue;
      }
      pending = undefined;
      if ("thrown" in next) {
        failure = next;
        break;
      }
      if (next.done) break;
      const itemWeight = weigh(next.value);
      if (group.length > 0 && (group.length >= count || load + itemWeight > weight)) {
        yield group;
        group = [];
        load = 0;
      }
      group.push(next.value);
      load += itemWeight;
    }
    if (group.length > 0) yield group;
    if (failure) throw failure.thrown;
  } finally {
    silence?.end();
    await iterator.return?.();
  }
}

/** Tells when nothing has come for a while. One for a whole stream: a timer for each item would cost more than the item. */
class Silence {
  readonly #waitMs: number;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #tell: (quiet: "quiet") => void = () => {};

  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  /** Resolves with the pending value, or with `quiet` when nothing has come for `waitMs`. */
  orSooner<T>(pending: Promise<T>): Promise<T | "quiet"> {
    return new Promise((resolve, reject) => {
      this.#tell = resolve;
      this.#listen();
      pending.then(resolve, reject);
    });
  }

  end(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
  }

  #listen(): void {
    if (this.#waitMs > 0) {
      if (this.#timer) this.#timer.refresh();
      else this.#timer = setTimeout(() => this.#tell("quiet"), this.#waitMs);
      return;
    }
    // One immediate serves everybody who waits for the same turn of the event loop.
    this.#immediate ??= setImmediate(() => {
      this.#immediate = undefined;
      this.#tell("quiet");
    });
  }
}

/** Runs of neighbours that share a key, each run as one array. */
export async function* groupRuns<T>(source: Source<T>, key: (item: T) => unknown): AsyncGenerator<[T, ...T[]]> {
  let run: [T, ...T[]] | undefined;
  for await (const item of source) {
    if (run && key(run[0]) === key(item)) run.push(item);
    else {
      if (run) yield run;
      run = [item];
    }
  }
  if (run) yield run;
}

/** A promise, unless the signal comes first: then its reason is thrown, whether or not the promise ever settles. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => {});
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Items of a source until the signal aborts, whose reason is then thrown at once. A source that ignores the signal is
 * left behind: it is told to end, but not waited for.
 */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  let ended = false;
  try {
    for (;;) {
      const next = await unlessAborted(iterator.next(), signal);
      if (next.done) {
        ended = true;
        return;
      }
      yield next.value;
    }
  } finally {
    if (!ended) await endUnlessAborted(iterator, signal);
  }
}

/** Tells a source to end, and waits until it has, but no longer than until the signal aborts. */
export async function endUnlessAborted(iterator: AsyncIterator<unknown>, signal: AbortSignal): Promise<void> {
  const ending = (async () => iterator.return?.())();
  if (signal.aborted) ending.catch(() => {});
  else await unlessAborted(ending, signal);
}

function iterate<T>(source: Source<T>): AsyncIterator<T> {
  if (Symbol.asyncIterator in source) return source[Symbol.asyncIterator]();
  const iterator = source[Symbol.iterator]();
  return {
    next: () => Promise.resolve(iterator.next()),
    return: () => Promise.resolve(iterator.return?.() ?? { done: true, value: undefined }),
  };
}

let lastTurn: Promise<unknown> = Promise.resolve();

/**
 * Waits for a turn of the event loop that nobody else waits for by this. Two hundred replies may arrive in one turn, and if each were
 * followed at once by milliseconds of work, nothing else would be read or written for seconds.
 */
export function ownTurn(): Promise<unknown> {
  return (lastTurn = lastTurn.then(() => immediate()));
}
