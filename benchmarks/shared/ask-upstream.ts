/**
 * A separate process that answers embeddings, reranking and streamed chat after a fixed time: `node ask-upstream.js
 * <dimension>`. It says when each request had arrived and when its reply started, on the machine's clock, which all
 * processes share. Whoever knows its address can steer it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { vectorOf } from "./fixed-latency-upstream.js";

const program = fileURLToPath(import.meta.url);

/** The course of one request. Times are those of `nowMs`. */
export interface ServedCall {
  readonly operation: "embeddings" | "rerank" | "chat";
  readonly arrivedMs: number;
  readonly repliedMs: number;
  /** When its connection or its reply ended. */
  readonly closedMs: number;
}

export interface AskUpstream {
  /** The calls since they were last asked for, once all of them have ended. */
  readonly calls: () => Promise<readonly ServedCall[]>;
  /** From now on, requests wait so many milliseconds for their reply, and a chat streams so many more pieces, one every 5 ms. */
  readonly behave: (behaviour: { readonly latencyMs: number; readonly pieces: number }) => Promise<void>;
}

/** Milliseconds on the clock that all processes of the machine share. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export async function startAskUpstream(
  dimension: number,
): Promise<{ readonly baseUrl: string; readonly close: () => void }> {
  const service: ChildProcess = fork(program, [String(dimension)]);
  const [port] = (await once(service, "message")) as [number];
  return { baseUrl: `http://127.0.0.1:${port}`, close: () => service.disconnect() };
}

export function askUpstreamAt(baseUrl: string): AskUpstream {
  return {
    calls: async () => (await (await fetch(`${baseUrl}/benchmark/calls`)).json()) as readonly ServedCall[],
    behave: async (behaviour) => {
      await (await fetch(`${baseUrl}/benchmark/behaviour`, { method: "POST", body: JSON.stringify(behaviour) })).text();
    },
  };
}

const said = "It is so.";

function serve(dimension: number): void {
  let behaviour = { latencyMs: 0, pieces: 0 };
  let calls: ServedCall[] = [];
  let open = 0;
  let idle: () => void = () => {};

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    if (request.url === "/benchmark/behaviour") {
      behaviour = JSON.parse(body) as typeof behaviour;
      response.end();
      return;
    }
    if (request.url === "/benchmark/calls") {
      if (open > 0) await new Promise<void>((resolve) => (idle = resolve));
      response.end(JSON.stringify(calls));
      calls = [];
      return;
    }
    open++;
    const { latencyMs, pieces } = behaviour;
    const arrivedMs = nowMs();
    const asked = JSON.parse(body) as { readonly input?: readonly string[]; readonly documents?: readonly string[] };
    const operation = asked.input ? "embeddings" : asked.documents ? "rerank" : "chat";
    const reply = JSON.stringify(
      asked.input ? embeddings(asked.input, dimension) : asked.documents ? ranking(asked.documents) : {},
    );
    if (latencyMs > 0) await sleep(latencyMs - (nowMs() - arrivedMs));
    const repliedMs = nowMs();
    response.on("close", () => {
      calls.push({ operation, arrivedMs, repliedMs, closedMs: nowMs() });
      if (--open === 0) idle();
    });
    if (operation !== "chat") {
      response.setHeader("content-type", "application/json").end(reply);
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event({ role: "assistant", content: said }, null));
    for (let piece = 0; piece < pieces && !response.destroyed; piece++) {
      response.write(event({ content: " And so on." }, null));
      await sleep(5);
    }
    response.end(`${event({}, "stop")}data: [DONE]\n\n`);
  };

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));
  process.on("disconnect", () => process.exit());
}

function embeddings(input: readonly string[], dimension: number): object {
  const data = input.map((text, index) => {
    const embedding = Buffer.from(vectorOf(text, dimension).buffer).toString("base64");
    return { object: "embedding", index, embedding };
  });
  return { object: "list", model: "made", data, usage: { prompt_tokens: 1, total_tokens: 1 } };
}

function ranking(documents: readonly string[]): object {
  const results = documents.map((_, index) => ({ index, relevance_score: 1 / (index + 1) }));
  return { id: "1", results, tokens: { input_tokens: 1, output_tokens: 0 } };
}

function event(delta: object, finishReason: string | null): string {
  const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: "made" };
  return `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`;
}

if (process.argv[1] === program) serve(Number(process.argv[2]));
