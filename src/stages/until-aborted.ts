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
 * left behind: it is told to end, but nobody waits for it.
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
    const ending = ended ? undefined : iterator.return?.();
    if (signal.aborted) ending?.catch(() => {});
    else if (ending) await unlessAborted(ending, signal);
  }
}
