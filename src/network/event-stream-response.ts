import { setImmediate } from "node:timers/promises";

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

const comment = Buffer.from(": keep-alive\n\n");

/** Frames that are sent together hold no more bytes than one that goes over this. */
const defaultBytesTogether = 65_536;

/**
 * A response of server-sent events. Sends frames as fast as the socket takes them, those together that come in the same turn of the
 * event loop, and a comment after each `keepAliveMs` without a frame. When the socket closes, the iteration is ended; when the
 * iteration fails, the socket is closed.
 *
 * @param maxBytesTogether 0 to send each frame alone.
 */
export function eventStream(
  frames: AsyncIterable<Uint8Array>,
  keepAliveMs: number,
  maxBytesTogether = defaultBytesTogether,
): Response {
  const iterator = frames[Symbol.asyncIterator]();
  let pending: Promise<IteratorResult<Uint8Array>> | undefined;
  // Comments must not come between the bytes of one frame.
  let between = true;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const together: Uint8Array[] = [];
      for (let bytes = 0; together.length === 0 || bytes < maxBytesTogether;) {
        pending ??= iterator.next();
        // A write to the socket costs more than most frames.
        const next = await (together.length > 0 ? orNextTurn(pending) : orSilence(pending, keepAliveMs));
        if (next === undefined) {
          if (together.length > 0) break;
          if (between) return controller.enqueue(comment);
          continue;
        }
        pending = undefined;
        if (next.done === true) {
          if (together.length > 0) controller.enqueue(Buffer.concat(together));
          return controller.close();
        }
        between = next.value.at(-1) === lineFeed;
        bytes += next.value.length;
        together.push(next.value);
      }
      controller.enqueue(Buffer.concat(together));
    },
    cancel: async () => {
      await iterator.return?.();
    },
  });
  return new Response(body, { headers });
}

/** The value of a promise, or `undefined` when it has none in this turn of the event loop. */
async function orNextTurn<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  try {
    return await Promise.race([promise, setImmediate(undefined)]);
  } catch {
    // Frames before it are sent first; whoever awaits the promise next learns of the failure.
    return undefined;
  }
}

const lineFeed = 10;

/** The value of a promise, or `undefined` when it takes longer than `milliseconds`. */
async function orSilence<Value>(promise: Promise<Value>, milliseconds: number): Promise<Value | undefined> {
  let timeout: NodeJS.Timeout | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timeout = setTimeout(() => resolve(undefined), milliseconds).unref();
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timeout);
  }
}
