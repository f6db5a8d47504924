import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";

/** The upstream's behaviour for one request. At most one of `json`, `text`, `sse` and `chunks` is the body. */
export interface ScriptedReply {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The header `retry-after`. */
  readonly retryAfterSeconds?: number;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged, as `text/plain` unless `headers` say otherwise. */
  readonly text?: string;
  /** An event stream: each item becomes one `data:` event, objects as JSON. Write the last `"[DONE]"` yourself. */
  readonly sse?: readonly unknown[];
  /** A body written piece by piece, so that events can break anywhere. `text/event-stream` unless `headers` say otherwise. */
  readonly chunks?: readonly (string | Uint8Array)[];
  /** Delay before the headers. */
  readonly delayMs?: number;
  /** Answers once this is fulfilled. */
  readonly after?: Promise<void>;
  /** Delay between two pieces of `sse` or `chunks`. */
  readonly gapMs?: number;
  /** Never answers; with a body: sends it and never ends. */
  readonly hang?: boolean;
  /** Cuts the connection instead of answering; with a body, after that part of it. */
  readonly destroy?: boolean;
}

/** A request as it arrived. */
export interface RecordedRequest {
  /** When it had arrived completely, by `performance.now()`. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON, or the text if it is not JSON. */
  readonly body: unknown;
  /** Settles when the exchange is over: `finished` if the whole reply left, `closed` if the client went away first. */
  readonly end: Promise<"finished" | "closed">;
}

export interface ScriptedUpstream {
  /** Argument for `createTransport({ baseUrl })`. */
  readonly baseUrl: string;
  /** In order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Milliseconds between the arrivals of consecutive requests. */
  readonly gapsMs: readonly number[];
  /** Maximum number of requests that were being answered at once. */
  readonly maxInFlight: number;
  /** Total number of connections opened. */
  readonly connections: number;
  readonly close: () => Promise<void>;
}

type Script =
  | readonly ScriptedReply[]
  | ((request: RecordedRequest, index: number) => ScriptedReply | Promise<ScriptedReply>);

/**
 * A real HTTP server on loopback that answers by script: the nth request gets the nth reply, or the function's. Requests
 * beyond the script get a 418, which no client repeats. It is closed when the test ends.
 */
export async function scriptedUpstream(script: Script): Promise<ScriptedUpstream> {
  const upstream = await startScriptedUpstream(script);
  onTestFinished(upstream.close);
  return upstream;
}

/** The same server for use outside a test: the caller closes it. */
export async function startScriptedUpstream(script: Script): Promise<ScriptedUpstream> {
  const requests: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  let inFlight = 0;
  let maxInFlight = 0;
  let connections = 0;
  const replyTo = (request: RecordedRequest, index: number): ScriptedReply | Promise<ScriptedReply> =>
    typeof script === "function"
      ? script(request, index)
      : (script[index] ?? { status: 418, text: `The script has ${script.length} replies` });

  const server = createServer((incoming, outgoing) => {
    maxInFlight = Math.max(maxInFlight, ++inFlight);
    outgoing.once("close", () => inFlight--);
    void record(incoming, outgoing).then(
      async (request) => play(await replyTo(request, requests.push(request) - 1), outgoing),
      () => outgoing.destroy(),
    );
  });
  server.on("connection", (socket) => {
    connections++;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get gapsMs() {
      return requests.slice(1).map(({ at }, index) => at - requests[index]!.at);
    },
    get maxInFlight() {
      return maxInFlight;
    },
    get connections() {
      return connections;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function record(incoming: IncomingMessage, outgoing: ServerResponse): Promise<RecordedRequest> {
  const end = new Promise<"finished" | "closed">((resolve) => {
    outgoing.once("close", () => resolve(outgoing.writableFinished ? "finished" : "closed"));
  });
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // It stays text.
  }
  const { method = "", url = "", headers } = incoming;
  return { at: performance.now(), method, path: url, headers, body, end };
}

async function play(reply: ScriptedReply, outgoing: ServerResponse): Promise<void> {
  if (reply.delayMs !== undefined) await sleep(reply.delayMs);
  await reply.after;
  const { pieces, type } = content(reply);
  if (pieces.length === 0 && reply.hang) return;
  if (pieces.length === 0 && reply.destroy) {
    outgoing.destroy();
    return;
  }
  outgoing.writeHead(reply.status ?? 200, {
    "content-type": type,
    ...(reply.retryAfterSeconds !== undefined && { "retry-after": String(reply.retryAfterSeconds) }),
    ...reply.headers,
  });
  outgoing.flushHeaders();
  const closed = new Promise((resolve) => outgoing.once("close", resolve));
  for (const [index, piece] of pieces.entries()) {
    if (index > 0 && reply.gapMs !== undefined) await sleep(reply.gapMs);
    if (outgoing.destroyed) return;
    // Each piece reaches the kernel before the next, so pieces stay separate and none is lost when the connection is cut.
    await Promise.race([new Promise((resolve) => outgoing.write(piece, resolve)), closed]);
  }
  if (reply.hang) return;
  if (reply.destroy) outgoing.destroy();
  else outgoing.end();
}

function content({ json, text, sse, chunks }: ScriptedReply): {
  readonly pieces: readonly (string | Uint8Array)[];
  readonly type: string;
} {
  if (json !== undefined) return { pieces: [JSON.stringify(json)], type: "application/json" };
  if (text !== undefined) return { pieces: [text], type: "text/plain" };
  if (chunks !== undefined) return { pieces: chunks, type: "text/event-stream" };
  if (sse === undefined) return { pieces: [], type: "text/plain" };
  const events = sse.map((item) => `data: ${typeof item === "string" ? item : JSON.stringify(item)}\n\n`);
  return { pieces: events, type: "text/event-stream" };
}
