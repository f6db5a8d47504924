const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

/**
 * Sends each event as one `data:` line and `[DONE]` after the last. Events are asked for as fast as the socket takes
 * them; when it closes, the iteration is ended.
 */
export function eventStream(events: AsyncIterable<unknown>): Response {
  const encoder = new TextEncoder();
  const iterator = events[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await iterator.next();
      if (done !== true) return controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`));
      controller.enqueue(encoder.encode("data: [DONE]\n\n"));
      return controller.close();
    },
    cancel: async () => {
      await iterator.return?.();
    },
  });
  return new Response(body, { headers });
}
