import { seededRandom } from "./seeded-random.js";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const faults = ["429, saying when", "429", "500", "reset", "hang", "truncated", "garbage"] as const;
export type Fault = (typeof faults)[number];

export interface FaultyUpstream {
  readonly baseUrl: string;
  /** The fault or reply that each request got, by its header `x-number`. */
  readonly served: ReadonlyMap<string, Fault | "answered">;
  readonly openConnections: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/**
 * A service that fails one request in five at random, in varying ways, and answers all others correctly: the number in the
 * text comes back as a vector, a score or a stream. The same seed gives the same failures.
 */
export async function startFaultyUpstream(seed: number): Promise<FaultyUpstream> {
  const random = seededRandom(seed);
  const served = new Map<string, Fault | "answered">();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("error", () => {});
    request.on("end", () => {
      const fault = random() < 0.2 ? faults[Math.floor(random() * faults.length)]! : undefined;
      const number = String(request.headers["x-number"]);
      if (served.has(number)) throw new Error(`request ${number} arrived twice`);
      served.set(number, fault ?? "answered");
      const { type, pieces } = answerTo(request, Buffer.concat(parts).toString());
      if (fault) fail(fault, response, type, pieces);
      else {
        response.setHeader("content-type", type);
        for (const piece of pieces) response.write(piece);
        response.end();
      }
    });
  });
  // Closing an idle connection may lose a request that was just sent, which would be an unplanned fault.
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    served,
    openConnections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerTo({ url = "" }: IncomingMessage, body: string): { readonly type: string; readonly pieces: string[] } {
  const number = Number(/number (\d+)/.exec(body)![1]);
  const type = "application/json";
  if (url.endsWith("embeddings")) {
    return { type, pieces: [JSON.stringify({ data: [{ index: 0, embedding: [number, 1] }] })] };
  }
  if (url.endsWith("rerank")) {
    return { type, pieces: [JSON.stringify({ results: [{ index: 0, relevance_score: number }] })] };
  }
  const event = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const digits = String(number)
    .split("")
    .map((content) => event({ content }, null));
  return { type: "text/event-stream", pieces: [...digits, event({}, "stop"), "data: [DONE]\n\n"] };
}

function fail(fault: Fault, response: ServerResponse, type: string, pieces: readonly string[]): void {
  switch (fault) {
    case "429, saying when":
      response.writeHead(429, { "retry-after-ms": "3" }).end();
      break;
    case "429":
      response.writeHead(429).end();
      break;
    case "500":
      response.writeHead(500).end("<html><h1>Internal error</h1></html>");
      break;
    case "reset":
      response.socket?.resetAndDestroy();
      break;
    case "hang":
      break;
    case "truncated":
      response.writeHead(200, { "content-type": type, "content-length": "9999" });
      // A stream is cut after an event, any other reply in the middle.
      response.write(pieces.length > 1 ? pieces[0]! : pieces[0]!.slice(0, 20), () => response.destroy());
      break;
    case "garbage":
      response.writeHead(200, { "content-type": type }).end("data: <html>\n\n");
      break;
  }
}
