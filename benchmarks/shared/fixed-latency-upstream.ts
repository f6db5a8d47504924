/**
 * An embeddings service in its own process that answers after a fixed time: `node fixed-latency-upstream.js <latency in ms>
 * <dimension> <share of requests that fail with 500>`. Vectors depend on the text alone. It reports its port by IPC, and on any message the number of requests and
 * texts since the last one.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { seededRandom } from "../../test/support/seeded-random.js";

const program = fileURLToPath(import.meta.url);

export interface UpstreamCounts {
  readonly requests: number;
  readonly texts: number;
}

export interface FixedLatencyUpstream {
  readonly baseUrl: string;
  /** Requests since the last call, those that failed included, and texts that were answered. */
  readonly counts: () => Promise<UpstreamCounts>;
  readonly close: () => void;
}

export async function startFixedLatencyUpstream(
  latencyMs: number,
  dimension: number,
  failureShare = 0,
  textMs = 0,
): Promise<FixedLatencyUpstream> {
  const service: ChildProcess = fork(program, [latencyMs, dimension, failureShare, textMs].map(String));
  const [port] = (await once(service, "message")) as [number];
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    counts: async () => {
      service.send("counts");
      const [counts] = (await once(service, "message")) as [UpstreamCounts];
      return counts;
    },
    close: () => service.disconnect(),
  };
}

/** Vectors spread evenly enough for a graph, and equal for equal texts. */
export function vectorOf(text: string, dimension: number): Float32Array<ArrayBuffer> {
  let seed = 7;
  for (let at = 0; at < text.length; at++) seed = (Math.imul(seed, 31) + text.charCodeAt(at)) | 0;
  const next = seededRandom(seed >>> 0);
  const vector = new Float32Array(dimension);
  for (let at = 0; at < dimension; at++) vector[at] = next() - 0.5;
  return vector;
}

function serve(latencyMs: number, dimension: number, failureShare: number, textMs: number): void {
  const random = seededRandom(1);
  let counts: UpstreamCounts = { requests: 0, texts: 0 };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const startedAt = performance.now();
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    const { input, encoding_format: encoding } = JSON.parse(body) as {
      readonly input: readonly string[];
      readonly encoding_format?: string;
    };
    const data = input.map((text, index) => {
      const vector = vectorOf(text, dimension);
      const embedding = encoding === "base64" ? Buffer.from(vector.buffer).toString("base64") : Array.from(vector);
      return { object: "embedding", index, embedding };
    });
    const reply = JSON.stringify({ object: "list", model: "made", data, usage: { prompt_tokens: 1, total_tokens: 1 } });
    await sleep(startedAt + latencyMs + textMs * input.length - performance.now());
    const fails = random() < failureShare;
    counts = { requests: counts.requests + 1, texts: counts.texts + (fails ? 0 : input.length) };
    if (fails) {
      response.writeHead(500).end();
      return;
    }
    response.setHeader("content-type", "application/json").end(reply);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));
  process.on("message", () => {
    process.send!(counts);
    counts = { requests: 0, texts: 0 };
  });
  process.on("disconnect", () => process.exit());
}

if (process.argv[1] === program) {
  const [latencyMs, dimension, failureShare, textMs] = process.argv.slice(2).map(Number);
  serve(latencyMs!, dimension!, failureShare!, textMs!);
}
