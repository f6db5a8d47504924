import {
  embedMany,
  experimental_generateVideo as generateVideo,
  generateText,
  type ModelMessage,
  Output,
  rerank,
  stepCountIs,
  streamText,
  tool,
} from "ai";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { aiSdkProvider, toAiSdk } from "citewell/ai-sdk";
import { type ChatModel, collect, createTransport, defaultTokens, embedder, type Transport } from "citewell";
import { localDefaults, type LocalService, startLocalService } from "citewell/local";
import { chunk, streamed, transportFor } from "../support/transport-for.js";

// The warnings are tested as values.
globalThis.AI_SDK_LOG_WARNINGS = false;

let service: LocalService;
let transport: Transport;
beforeAll(async () => {
  service = await startLocalService({ timeScale: 1000 });
  transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
});
afterAll(async () => {
  await transport.close();
  await service.close();
});

const provider = () => aiSdkProvider(transport);
const chat = () => provider().languageModel(localDefaults.chat);
/** The same service by its other dialect, which can be told to call a tool and to follow a schema. */
const openai = () => {
  const other = createTransport({ baseUrl: `${service.url}/v1`, apiKey: service.apiKey, service: "openai" });
  onTestFinished(() => other.close());
  return aiSdkProvider(other).languageModel(localDefaults.chat);
};
const prompt = "Context: Keys expire after 90 days.\n\nQuestion: When do keys expire?";

describe("the service as a provider of the AI SDK gives what the transport gives", () => {
  test("a whole reply and a streamed one", async () => {
    const messages = [{ role: "user", content: prompt }] as const;
    const native = await transport.chat({ model: localDefaults.chat, messages, temperature: 0 });
    const whole = await generateText({ model: chat(), prompt, temperature: 0 });
    const { textStream, usage, finishReason } = streamText({ model: chat(), prompt, temperature: 0 });
    const deltas = await collect(textStream);
    expect(whole.text).toBe(native.text);
    expect(deltas.join("")).toBe(native.text);
    expect(deltas.length).toBeGreaterThan(1);
    const counted = { inputTokens: native.usage!.inputTokens, outputTokens: native.usage!.outputTokens };
    expect(whole.usage).toMatchObject(counted);
    expect(await usage).toMatchObject(counted);
    expect([whole.finishReason, await finishReason]).toEqual(["stop", "stop"]);
    expect(whole.response.modelId).toBe(native.model);
  });

  test("vectors, number for number, of more texts than one request takes", async () => {
    const values = Array.from({ length: 70 }, (_, at) => `text number ${at}`);
    const { embeddings, usage } = await embedMany({
      model: provider().embeddingModel(localDefaults.embedding),
      values,
    });
    const native = await embedder(transport, { model: localDefaults.embedding }).embed(values);
    expect(embeddings).toEqual(native.vectors.map((vector) => [...vector]));
    expect(usage.tokens).toBe(native.tokens);
  });

  test("a ranking of texts and of objects", async () => {
    const documents = ["Locks rust in the rain.", "Keys expire after 90 days.", "Doors open at nine."];
    const query = "When do keys expire?";
    const model = provider().rerankingModel(localDefaults.rerank);
    const native = await transport.rerank({ model: localDefaults.rerank, query, documents, top_n: 2 });
    const { ranking } = await rerank({ model, query, documents, topN: 2 });
    expect(ranking.map(({ originalIndex, score }) => ({ index: originalIndex, score }))).toEqual(native.results);
    const objects = documents.map((body) => ({ body }));
    expect((await rerank({ model, query, documents: objects, topN: 1 })).ranking[0]!.document).toEqual(objects[1]);
  });

  test("a video, from a prompt", async () => {
    const { video, providerMetadata, warnings } = await generateVideo({
      model: provider().videoModel("vendor/vendor-video-2.0"),
      prompt: "A cat on a roof",
      aspectRatio: "16:9",
      resolution: "854x480",
      duration: 4,
      fps: 24,
      // The AI SDK refuses addresses of this machine, where the local service is.
      download: async ({ url }) => {
        const reply = await fetch(url);
        return { data: new Uint8Array(await reply.arrayBuffer()), mediaType: "video/mp4" };
      },
    });
    expect(Buffer.from(video.uint8Array.slice(4, 8)).toString()).toBe("ftyp");
    expect(warnings).toEqual([{ type: "unsupported", feature: "fps" }]);
    const { taskId } = providerMetadata["citewell"] as unknown as { readonly taskId: string };
    const task = await transport.videoTask(taskId);
    expect(task).toMatchObject({ status: "succeeded", resolution: "480p", ratio: "16:9", durationSeconds: 4 });
  });

  test("a resolution that the service has no name for is refused before anything is paid", async () => {
    const { transport: own, upstream } = await transportFor([]);
    const model = aiSdkProvider(own).videoModel("vendor/vendor-video-2.0");
    const asked = generateVideo({ model, prompt: "A cat", resolution: "100x100", maxRetries: 0 });
    await expect(asked).rejects.toThrow("100x100 has a shorter side of 100");
    expect(upstream.requests).toEqual([]);
  });
});

const getWeather = (cities: string[], needsApproval = false) =>
  tool({
    description: "Weather of a city",
    inputSchema: z.object({ city: z.string() }),
    needsApproval,
    execute: ({ city }) => {
      cities.push(city);
      return { temperature: 21 };
    },
  });

const weatherCall = { index: 0, id: "call_1", type: "function" };
const callsWeather = {
  sse: [
    chunk({ tool_calls: [{ ...weatherCall, function: { name: "get_weather", arguments: '{"city":' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '"Rome"}' } }] }),
    chunk({}, { finish_reason: "tool_calls" }),
    "[DONE]",
  ],
};

describe("tools of the AI SDK", () => {
  test.each(["generateText", "streamText"])("run in the loop of %s", async (way) => {
    const cities: string[] = [];
    const request = {
      model: chat(),
      prompt: "What is the weather in Paris?",
      stopWhen: stepCountIs(4),
      tools: { get_weather: getWeather(cities) },
    };
    const text = way === "streamText" ? await streamText(request).text : (await generateText(request)).text;
    expect(cities).toEqual(["Paris"]);
    expect(text).toBe("get_weather says: temperature: 21");
  });

  test("a streamed call comes as the parts that the AI SDK's own providers make of one", async () => {
    const { fullStream } = streamText({
      model: chat(),
      prompt: "What is the weather in Paris?",
      tools: { get_weather: tool({ inputSchema: z.object({ city: z.string() }) }) },
    });
    const types = (await collect(fullStream)).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith("tool"))).toEqual([
      "tool-input-start",
      "tool-input-delta",
      "tool-input-end",
      "tool-call",
    ]);
  });

  test.each([
    { approved: true, ran: ["Rome"], told: "21" },
    { approved: false, ran: [], told: "Error: the user refused this call: too far" },
  ])("a call that needs approval waits for it (approved: $approved)", async ({ approved, ran, told }) => {
    const { transport: own, upstream } = await transportFor([callsWeather, streamed("Done.")]);
    const model = aiSdkProvider(own).languageModel("test/chat");
    const cities: string[] = [];
    const tools = { get_weather: getWeather(cities, true) };
    const asked: ModelMessage = { role: "user", content: "What is the weather in Rome?" };
    const first = await generateText({ model, messages: [asked], tools });
    const request = first.content.find(({ type }) => type === "tool-approval-request");
    expect({ cities, reason: first.finishReason }).toEqual({ cities: [], reason: "tool-calls" });
    const { approvalId } = request as unknown as { readonly approvalId: string };
    const decision: ModelMessage = {
      role: "tool",
      content: [{ type: "tool-approval-response", approvalId, approved, reason: "too far" }],
    };
    const messages = [asked, ...first.response.messages, decision];
    expect(await streamText({ model, messages, tools }).text).toBe("Done.");
    expect(cities).toEqual(ran);
    expect(JSON.stringify(upstream.requests[1]!.body)).toContain(told);
  });

  test("a chosen tool is the only one that is offered, and none of them where none may be called", async () => {
    const tools = {
      get_weather: tool({ inputSchema: z.object({ city: z.string() }) }),
      save_note: tool({ inputSchema: z.object({ note: z.string() }) }),
    };
    const called = async (toolChoice: "none" | { type: "tool"; toolName: "save_note" }) =>
      (
        await generateText({ model: openai(), prompt: "What is the weather in Paris?", tools, toolChoice })
      ).toolCalls.map(({ toolName }) => toolName);
    expect(await called("none")).toEqual([]);
    expect(await called({ type: "tool", toolName: "save_note" })).toEqual(["save_note"]);
  });

  test("a call that the model writes into its text is a call", async () => {
    const written = `<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>`;
    const { transport: own } = await transportFor([streamed("I will look. ", written.slice(0, 20), written.slice(20))]);
    const model = aiSdkProvider(own).languageModel("test/chat");
    const tools = { get_weather: tool({ inputSchema: z.object({ city: z.string() }) }) };
    const reply = await generateText({ model, prompt: "Weather in Rome?", tools });
    expect(reply).toMatchObject({ text: "I will look. ", finishReason: "tool-calls" });
    expect(reply.toolCalls).toMatchObject([{ toolName: "get_weather", input: { city: "Rome" } }]);
  });
});

describe("messages", () => {
  test("more of them than the service takes are folded, and the first are still known", async () => {
    const { transport: own, upstream } = await transportFor([streamed("Yes.")]);
    const turns = Array.from({ length: 20 }, (_, at): ModelMessage[] => [
      { role: "user", content: `Question ${at}` },
      { role: "assistant", content: `Answer ${at}` },
    ]);
    const messages = [...turns.flat(), { role: "user", content: "The last one" } as const];
    const { text } = await generateText({ model: aiSdkProvider(own).languageModel("test/chat"), messages });
    expect(text).toBe("Yes.");
    const { messages: sent } = upstream.requests[0]!.body as {
      readonly messages: readonly { readonly role: string; readonly content: string }[];
    };
    expect(sent.length).toBeLessThanOrEqual(10);
    expect(sent.at(-1)).toEqual({ role: "user", content: "The last one" });
    expect(sent[0]!.content).toContain("user: Question 0\nassistant: Answer 0");
  });

  test("an answer and the calls on the way to it stay one turn of the history", async () => {
    const seen: string[][] = [];
    const model: ChatModel = {
      model: "own",
      contextTokens: 8192,
      maxOutputTokens: 512,
      maxMessages: 10,
      tokens: defaultTokens,
      stream: async function* ({ messages }) {
        seen.push(messages.map(({ role }) => role));
        yield { type: "finish", reason: "stop", model: "own" };
      },
    };
    const call = { toolCallId: "1", toolName: "look" };
    await generateText({
      model: toAiSdk({ chatModel: model }).languageModel!,
      messages: [
        { role: "user", content: "Look." },
        { role: "assistant", content: [{ type: "tool-call", ...call, input: {} }] },
        { role: "tool", content: [{ type: "tool-result", ...call, output: { type: "text", value: "blue" } }] },
        { role: "assistant", content: "It is blue." },
        { role: "user", content: "And now?" },
      ],
    });
    expect(seen).toEqual([["user", "assistant", "user", "assistant", "user"]]);
  });

  test("a schema holds for the reply", async () => {
    const schema = z.object({ days: z.number() });
    const { output } = await generateText({ model: openai(), prompt, output: Output.object({ schema }) });
    expect(output.days).toBe(90);
  });

  test("settings that the port has no field for are named in warnings, and the others are sent", async () => {
    const { transport: own, upstream } = await transportFor([streamed("Yes.")]);
    const model = aiSdkProvider(own).languageModel("test/chat");
    const sent = { temperature: 0.5, maxOutputTokens: 50, stopSequences: ["END"] };
    const { warnings } = await generateText({ model, prompt, ...sent, topP: 0.5, seed: 7 });
    expect(warnings).toEqual([
      { type: "unsupported", feature: "topP" },
      { type: "unsupported", feature: "seed" },
    ]);
    expect(upstream.requests[0]!.body).toMatchObject({ temperature: 0.5, max_tokens: 50, stop: ["END"] });
  });

  test("a file is refused, since the port carries text", async () => {
    const file = { type: "file", mediaType: "image/png", data: new Uint8Array([1]) } as const;
    const asked = generateText({ model: chat(), messages: [{ role: "user", content: [file] }], maxRetries: 0 });
    await expect(asked).rejects.toThrow("a file of type image/png");
  });
});

describe("failures", () => {
  test("an upstream that is down is the transport's error, sent as often as the transport tries and no more", async () => {
    const { transport: own, upstream } = await transportFor(() => ({ status: 503 }), { maxRetries: 1 });
    const model = aiSdkProvider(own).languageModel("test/chat");
    await expect(generateText({ model, prompt })).rejects.toMatchObject({ code: "upstream", status: 503 });
    expect(upstream.requests).toHaveLength(2);
  });

  test("a stream that breaks gives what came, and then the error", async () => {
    const broken = { sse: [chunk({ content: "Keys " }), chunk({ content: "exp" })], destroy: true };
    const { transport: own } = await transportFor([broken]);
    const errors: unknown[] = [];
    const { textStream } = streamText({
      model: aiSdkProvider(own).languageModel("test/chat"),
      prompt,
      onError: ({ error }) => void errors.push(error),
    });
    const text = await collect(textStream).catch(() => []);
    expect(text.join("")).toBe("Keys exp");
    expect(errors).toMatchObject([{ name: "TransportError", code: "truncated" }]);
  });

  test.each(["generateText", "streamText"])("an abort of %s ends the request", async (way) => {
    const { transport: own, upstream } = await transportFor([{ sse: [chunk({ content: "a" })], hang: true }]);
    const model = aiSdkProvider(own).languageModel("test/chat");
    const stop = new AbortController();
    if (way === "generateText") {
      const asked = generateText({ model, prompt, abortSignal: stop.signal });
      asked.catch(() => {});
      await expect.poll(() => upstream.requests.length).toBe(1);
      stop.abort();
      await expect(asked).rejects.toMatchObject({ name: "AbortError" });
    } else {
      const types: string[] = [];
      for await (const part of streamText({ model, prompt, abortSignal: stop.signal }).fullStream) {
        types.push(part.type);
        if (part.type === "text-delta") stop.abort();
      }
      expect(types.at(-1)).toBe("abort");
    }
    expect(await upstream.requests[0]!.end).toBe("closed");
  });

  test("what is no port and no transport is refused with a word on what it must be", () => {
    expect(() => toAiSdk({ chatModel: "gpt" as never })).toThrow("chatModel: must be a chat model, with stream()");
    expect(() => aiSdkProvider({ baseUrl: "http://localhost" } as never)).toThrow(
      "createTransport({ baseUrl, apiKey })",
    );
  });
});
