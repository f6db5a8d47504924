/**
 * Measures the CPU time of a call with bare undici and JSON.parse, with the transport of this library, and with the openai
 * client, for the same calls in one run. The server is a child process that sends prepared bytes, so the figure is that of
 * the client process alone: user and system time, including garbage collection.
 *
 * For base64 there are two bare clients: one leaves the vectors as text, and one decodes them, as every user has to. Both are
 * printed; ratios are to the first, which is cheaper.
 *
 *     npm run build:examples && node build/benchmarks/transport.js [rounds]
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import OpenAI from "openai";
import { Agent } from "undici";
import { createTransport } from "../src/transport/transport.js";

const texts = Array.from(
  { length: 32 },
  (_, index) => `Text number ${index}: ${"some words of a passage ".repeat(40)}`,
);
const dimension = 1024;
const streamedChunks = 500;
const messages = [{ role: "user" as const, content: "Say something long." }];

if (process.argv[2] === "serve") serve();
else await measure(Number(process.argv[2] ?? 9));

function serve(): void {
  const numbers = Array.from({ length: dimension }, (_, index) => Math.fround(Math.sin(index + 1) / 32));
  const base64 = Buffer.from(Float32Array.from(numbers).buffer).toString("base64");
  const embeddings = (embedding: unknown) =>
    Buffer.from(
      JSON.stringify({
        object: "list",
        model: "bench",
        data: texts.map((_, index) => ({ object: "embedding", index, embedding })),
        usage: { prompt_tokens: 9, total_tokens: 9 },
      }),
    );
  const replies = { float: embeddings(numbers), base64: embeddings(base64) };
  const chunkOf = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: "chat-1", object: "chat.completion.chunk", created: 1, model: "bench", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const events = Array.from({ length: streamedChunks }, () => chunkOf({ content: " several words" }, null));
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
      // One write per event, as services flush them. Any merging by the machine affects all clients alike.
      const write = () => {
        if (next < events.length) {
          response.write(events[next++]);
          setImmediate(write);
        } else response.end(`${chunkOf({}, "stop")}data: [DONE]\n\n`);
      };
      write();
    });
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.on("disconnect", () => process.exit());
}

interface Contestant {
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

async function measure(rounds: number): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), ["serve"]);
  const [port] = (await once(child, "message")) as [number];
  const baseUrl = `http://127.0.0.1:${port}`;
  const agent = new Agent();
  const transport = createTransport({ baseUrl, apiKey: "key" });
  const openai = new OpenAI({ baseURL: `${baseUrl}/llm/v1`, apiKey: "key", maxRetries: 0 });

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
  const embed = (format: "float" | "base64"): readonly Contestant[] => {
    const request = { model: "bench", input: texts, encoding_format: format };
    return [
      { name: "bare", run: async () => JSON.parse(await (await post("embeddings", request)).text()) as unknown },
      ...(format === "base64"
        ? [{ name: "bare, decoded", run: async () => decoded(await (await post("embeddings", request)).text()) }]
        : []),
      { name: "transport", run: () => transport.embeddings(request) },
      // The client asks for base64 and decodes it when no format is named; with base64 named, it returns text.
      {
        name: "openai",
        run: () => openai.embeddings.create({ ...request, encoding_format: format === "float" ? format : undefined }),
      },
    ];
  };
  const chat: readonly Contestant[] = [
    {
      name: "bare",
      run: async () => {
        let text = "";
        let rest = "";
        const decoder = new TextDecoder();
        for await (const piece of await post("chat/completions", { model: "bench", messages, stream: true })) {
          const events = (rest + decoder.decode(piece as Uint8Array, { stream: true })).split("\n\n");
          rest = events.pop() ?? "";
          for (const event of events) {
            if (event === "data: [DONE]") continue;
            const chunk = JSON.parse(event.slice(6)) as { choices: { delta: { content?: string } }[] };
            text += chunk.choices[0]?.delta.content ?? "";
          }
        }
        return text;
      },
    },
    {
      name: "transport",
      run: async () => {
        let text = "";
        for await (const event of transport.chatStream({ model: "bench", messages })) {
          if (event.type === "text-delta") text += event.text;
        }
        return text;
      },
    },
    {
      name: "openai",
      run: async () => {
        let text = "";
        for await (const chunk of await openai.chat.completions.create({ model: "bench", messages, stream: true })) {
          text += chunk.choices[0]?.delta.content ?? "";
        }
        return text;
      },
    },
  ];

  const version = (name: string) =>
    (JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")) as { readonly version: string }).version;
  console.log(
    `${cpus()[0]?.model} (${cpus().length} cores), Node ${process.version}, undici ${version("undici")}, openai ${version("openai")}`,
  );
  console.log(`node ${process.argv.slice(1).join(" ")}`);
  console.log(`median CPU milliseconds a call of ${rounds} rounds in turn; in brackets the ratio to bare\n`);
  await compare(`embeddings, float, ${texts.length} texts of ${dimension} dimensions`, embed("float"), 40, rounds);
  await compare(`embeddings, base64, ${texts.length} texts of ${dimension} dimensions`, embed("base64"), 80, rounds);
  await compare(`chat, streamed, ${streamedChunks} chunks`, chat, 20, rounds);

  await transport.close();
  await agent.close();
  child.disconnect();
}

async function compare(
  title: string,
  contestants: readonly Contestant[],
  calls: number,
  rounds: number,
): Promise<void> {
  const spent = new Map(contestants.map(({ name }) => [name, [] as number[]]));
  // The first round warms up the compiler.
  for (let round = -1; round < rounds; round++) {
    for (const { name, run } of contestants) {
      const before = process.cpuUsage();
      for (let call = 0; call < calls; call++) await run();
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) spent.get(name)!.push((user + system) / 1000 / calls);
    }
  }
  const medians = [...spent].map(([name, all]) => ({ name, cpuMs: median(all) }));
  const bare = medians[0]!.cpuMs;
  console.log(title);
  for (const { name, cpuMs } of medians) {
    console.log(`  ${name.padEnd(14)} ${cpuMs.toFixed(3).padStart(8)}  (${(cpuMs / bare).toFixed(2)})`);
  }
}

/** The minimum that any user of base64 has to do. */
function decoded(text: string): readonly Float32Array[] {
  const { data } = JSON.parse(text) as { readonly data: readonly { readonly embedding: string }[] };
  return data.map(({ embedding }) => {
    const bytes = Buffer.from(embedding, "base64");
    return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
