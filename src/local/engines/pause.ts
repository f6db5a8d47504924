import { setImmediate as nextTurn } from "node:timers/promises";

/** Maximum time of work between two turns of the event loop, in milliseconds. */
const stretchMs = 8;

/**
 * Returns a function to be awaited between units of work: it gives the event loop a turn once a stretch has passed,
 * and throws the signal's reason when the caller has gone.
 */
export function pauses(signal: AbortSignal): () => Promise<void> {
  let until = performance.now() + stretchMs;
  return async () => {
    signal.throwIfAborted();
    if (performance.now() < until) return;
    await nextTurn();
    until = performance.now() + stretchMs;
  };
}
