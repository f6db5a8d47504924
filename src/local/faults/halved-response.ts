import { setTimeout as sleep } from "node:timers/promises";

/** Time for what was sent to leave this machine before the connection breaks. */
const flushMs = 20;

/** A response of which the first half of the bytes comes, and then `cut` breaks the connection. */
export async function halved(response: Response, cut: () => void): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const half = bytes.subarray(0, Math.ceil(bytes.length / 2));
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(half),
    pull: async () => {
      await sleep(flushMs);
      cut();
    },
  });
  const { status } = response;
  const headers = { ...Object.fromEntries(response.headers), "content-length": String(bytes.length) };
  return new Response(body, { status, headers });
}
