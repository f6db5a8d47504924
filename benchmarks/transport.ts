import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createTransport } from "citewell";
import { Agent } from "undici";
import { aimsOf } from "./aims.js";
import type { Benchmark, Contender, RunContext } from "./runner/benchmark.js";
import { loadPeer } from "./runner/packages.js";

const texts = Array.from(
  { length: 32 },
  (_, index) => `Text number ${index}: ${"some words of a passage ".repeat(40)}`,
);
const dimension = 1024;
const streamedChunks = 500;
const piece = " several words";
const messages = [{ role: "user" as const, content: "Say something long." }];

/** A client of the service at an address; each call resolves with what a program goes on with. */
type Client = (baseUrl: string) => {
  readonly float: () => Promise<readonly ArrayLike<number>[]>;
  readonly base64?: () => Promise<readonly ArrayLike<number>[]>;
  readonly chat: () => Promise<string>;
};

export const benchmark: Benchmark<Client, string> = {
  name: "transport",
  question: "How much CPU does a call cost, beside the bare HTTP client?",
  method:
    "The server is another process that sends prepared bytes, and streams a chat one write for each event, so CPU is that of " +
    "the client alone, garbage collection included: milliseconds a call, after `warmUps` calls, since the first hundred or so are slow until V8 has compiled the code for good. Embeddings are " +
    "32 vectors of 1,024 numbers, a chat has 500 pieces. Bare is undici with JSON.parse, and with base64 the decoding that every " +
    "user has to do. The AI SDK asks for no base64. A call that brings other vectors or another text fails.",
  contenders: [bare(), citewell(), openai(), aiSdk()],
  beside: "bare undici",
  measures: Object.fromEntries(
    ["float", "base64", "chat"].map((name) => [name, { unit: "CPU ms/call", better: "lower" }]),
  ),
  sizes: { smoke: { calls: 5, warmUps: 1 }, usual: { calls: 300, warmUps: 100 } },
  rounds: 3,
  aims: aimsOf("transport"),
  prepare: startServer,
  measure: measureCalls,
};

async function measureCalls(client: Client, { size, given, timed }: RunContext<string>) {
  const { calls = 0, warmUps = 0 } = size;
  const { float, base64, chat } = client(given);
  const vectors = async (embed: () => Promise<readonly ArrayLike<number>[]>) => {
    const found = await embed();
    const last = found.at(-1);
    if (found.length !== texts.length || last?.length !== dimension || Math.abs(last[2]! - numbers[2]!) > 1e-6) {
      throw new Error(`${found.length} vectors of ${last?.length} numbers came, not those that were sent`);
    }
  };
  const text = async () => {
    const said = await chat();
    if (said !== piece.repeat(streamedChunks)) throw new Error(`a text of ${said.length} characters came`);
  };
  const kinds = { float: () => vectors(float), ...(base64 && { base64: () => vectors(base64) }), chat: text };
  const measures: Record<string, number> = {};
  for (const [name, call] of Object.entries(kinds)) {
    for (let at = 0; at < warmUps; at++) await call();
    const { cpuSeconds } = await timed(async () => {
      for (let at = 0; at < calls; at++) await call();
    });
    measures[name] = (1000 * cpuSeconds) / calls;
  }
  return measures;
}

function bare(): Contender<Client> {
  const client: Client = (baseUrl) => {
    const agent = new Agent();
    const post = async (path: string, body: object) => {
      const reply = await agent.request({
        origin: baseUrl,
        path: `/llm/v1/${path}`,
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer key" },
        body: JSON.stringify(body),
      });
      return reply.body;
    };
    const embed = async (format: string) => {
      const body = await post("embeddings", { model: "bench", input: texts, encoding_format: format });
      return (JSON.parse(await body.text()) as { readonly data: readonly { readonly embedding: unknown }[] }).data;
    };
    return {
      float: async () => (await embed("float")).map(({ embedding }) => embedding as number[]),
      base64: async () =>
        (await embed("base64")).map(({ embedding }) => {
          const bytes = Buffer.from(embedding as string, "base64");
          return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
        }),
      chat: async () => {
        let text = "";
        let rest = "";
        const decoder = new TextDecoder();
        for await (const bytes of await post("chat/completions", { model: "bench", messages, stream: true })) {
          const events = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split("\n\n");
          rest = events.pop() ?? "";
          for (const event of events) {
            if (event === "data: [DONE]") continue;
            const chunk = JSON.parse(event.slice(6)) as { choices: { delta: { content?: string } }[] };
            text += chunk.choices[0]?.delta.content ?? "";
          }
        }
        return text;
      },
    };
  };
  return { name: "bare undici", kind: "limit", load: async () => client };
}

function citewell(): Contender<Client> {
  const client: Client = (baseUrl) => {
    const transport = createTransport({ baseUrl, apiKey: "key" });
    const embed = async (format: "float" | "base64") =>
      (await transport.embeddings({ model: "bench", input: texts, encoding_format: format })).vectors;
    return {
      float: () => embed("float"),
      base64: () => embed("base64"),
      chat: async () => {
        let text = "";
        for await (const event of transport.chatStream({ model: "bench", messages })) {
          if (event.type === "text-delta") text += event.text;
        }
        return text;
      },
    };
  };
  return { name: "citewell", kind: "citewell", load: async () => client };
}

function openai(): Contender<Client> {
  return {
    name: "openai",
    kind: "peer",
    packages: ["openai"],
    load: async () => {
      const { default: OpenAI } = await loadPeer<typeof import("openai")>("openai");
      return (baseUrl) => {
        const client = new OpenAI({ baseURL: `${baseUrl}/llm/v1`, apiKey: "key", maxRetries: 0 });
        // The client asks for base64 and decodes it when no format is named; with base64 named, it returns text.
        const embed = async (format?: "float") => {
          const { data } = await client.embeddings.create({
            model: "bench",
            input: texts,
            ...(format && { encoding_format: format }),
          });
          return data.map(({ embedding }) => embedding);
        };
        return {
          float: () => embed("float"),
          base64: () => embed(),
          chat: async () => {
            let text = "";
            for await (const chunk of await client.chat.completions.create({
              model: "bench",
              messages,
              stream: true,
            })) {
              text += chunk.choices[0]?.delta.content ?? "";
            }
            return text;
          },
        };
      };
    },
  };
}

interface Compatible {
  readonly createOpenAICompatible: (options: { name: string; baseURL: string; apiKey: string }) => {
    (model: string): import("ai").LanguageModel;
    textEmbeddingModel(model: string): import("ai").EmbeddingModel;
  };
}

function aiSdk(): Contender<Client> {
  return {
    name: "AI SDK",
    kind: "peer",
    packages: ["ai", "@ai-sdk/openai-compatible"],
    load: async () => {
      const { embedMany, streamText } = await loadPeer<typeof import("ai")>("ai");
      const { createOpenAICompatible } = await loadPeer<Compatible>("@ai-sdk/openai-compatible");
      return (baseUrl) => {
        const service = createOpenAICompatible({ name: "bench", baseURL: `${baseUrl}/llm/v1`, apiKey: "key" });
        const model = service.textEmbeddingModel("bench");
        return {
          float: async () => (await embedMany({ model, values: texts, maxRetries: 0 })).embeddings,
          chat: async () => {
            let text = "";
            const { textStream } = streamText({ model: service("bench"), messages, maxRetries: 0 });
            for await (const part of textStream) text += part;
            return text;
          },
        };
      };
    },
  };
}

const numbers = Array.from({ length: dimension }, (_, index) => Math.fround(Math.sin(index + 1) / 32));

/** The server is in the process that starts the contenders, which has nothing else to do meanwhile. */
async function startServer() {
  const embeddings = (embedding: unknown) => {
    const data = texts.map((_, index) => ({ object: "embedding", index, embedding }));
    const usage = { prompt_tokens: 9, total_tokens: 9 };
    return Buffer.from(JSON.stringify({ object: "list", model: "bench", data, usage }));
  };
  const base64 = Buffer.from(Float32Array.from(numbers).buffer).toString("base64");
  const replies = { float: embeddings(numbers), base64: embeddings(base64) };
  const chunkOf = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: "chat-1", object: "chat.completion.chunk", created: 1, model: "bench", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const events = Array.from({ length: streamedChunks }, () => chunkOf({ content: piece }, null));
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      if (request.url?.endsWith("embeddings")) {
        response.setHeader("content-type", "application/json");
        response.end(body.includes('"base64"') ? replies.base64 : replies.float);
        return;
      }
      response.setHeader("content-type", "text/event-stream");
      let next = 0;
      // One write for each event, as services flush them. Any merging by the machine affects all clients alike.
      const write = () => {
        if (next < events.length) {
          response.write(events[next++]);
          setImmediate(write);
        } else response.end(`${chunkOf({}, "stop")}data: [DONE]\n\n`);
      };
      write();
    });
  });
  // A connection that is closed as its client sends on it would fail a call of any of them.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    given: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
