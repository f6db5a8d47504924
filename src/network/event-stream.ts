const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

const comment = Buffer.from(": keep-alive\n\n");

/**
 * A response of server-sent events. Sends frames as fast as the socket takes them, and a comment whenever none came for `keepAliveMs`. When the socket
 * closes, the iteration is ended; when the iteration fails, the socket is closed.
 */
export function eventStream(frames: AsyncIterable<Uint8Array>, keepAliveMs: number): Response {
  const iterator = frames[Symbol.asyncIterator]();
  let pending: Promise<IteratorResult<Uint8Array>> | undefined;
  // Comments must not come between the bytes of one frame.
  let between = true;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      for (;;) {
        pending ??= iterator.next();
        const next = await orSilence(pending, keepAliveMs);
        if (next !== undefined) {
          pending = undefined;
          if (next.done === true) return controller.close();
          between = next.value.at(-1) === lineFeed;
          return controller.enqueue(next.value);
        }
        if (between) return controller.enqueue(comment);
      }
    },
    cancel: async () => {
      await iterator.return?.();
    },
  });
  return new Response(body, { headers });
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
