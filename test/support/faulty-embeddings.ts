import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { embeddingReply } from "./embedding-service.js";
import { seededRandom } from "./seeded-random.js";

export interface FaultyEmbeddings {
  readonly baseUrl: string;
  /** How often each text was answered: requests that failed are not among them. */
  readonly answered: ReadonlyMap<string, number>;
  /** Requests that failed. */
  readonly faults: () => number;
  /** Maximum number of texts in one request. */
  readonly maxTexts: () => number;
  readonly close: () => Promise<void>;
}

const faults = ["429", "500", "reset", "truncated"] as const;

/** An embedding service that fails that share of its requests at random, in varying ways, and counts what it answers. */
export async function startFaultyEmbeddings(faultRate: number, seed: number, latencyMs = 0): Promise<FaultyEmbeddings> {
  const random = seededRandom(seed);
  const answered = new Map<string, number>();
  let failed = 0;
  let maxTexts = 0;
  const answer = async (request: string, response: ServerResponse) => {
    const body = JSON.parse(request) as { readonly input: readonly string[] };
    maxTexts = Math.max(maxTexts, body.input.length);
    const { json } = embeddingReply({ body } as Parameters<typeof embeddingReply>[0]);
    const reply = JSON.stringify(json);
    const isFault = random() < faultRate;
    const fault = faults[Math.floor(random() * faults.length)]!;
    await sleep(latencyMs);
    if (isFault) {
      failed++;
      fail(fault, response, reply);
      return;
    }
    // A caller that is gone was not answered, but a service may have counted its texts all the same.
    for (const text of body.input) answered.set(text, (answered.get(text) ?? 0) + 1);
    response.writeHead(200, { "content-type": "application/json" }).end(reply);
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("error", () => {});
    request.on("end", () => void answer(Buffer.concat(parts).toString(), response));
  });
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answered,
    faults: () => failed,
    maxTexts: () => maxTexts,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function fail(fault: (typeof faults)[number], response: ServerResponse, reply: string): void {
  switch (fault) {
    case "429":
      response.writeHead(429, { "retry-after-ms": "5" }).end();
      break;
    case "500":
      response.writeHead(500).end("<html><h1>Internal error</h1></html>");
      break;
    case "reset":
      response.socket?.resetAndDestroy();
      break;
    case "truncated":
      response.writeHead(200, { "content-type": "application/json", "content-length": String(reply.length) });
      response.write(reply.slice(0, 20), () => response.destroy());
      break;
  }
}
