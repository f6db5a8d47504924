import { createCohere } from "@ai-sdk/cohere";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createOpenAICompatible as createForVersion5 } from "ai-sdk-5-openai-compatible";
import { createOpenAICompatible as createForVersion7 } from "ai-sdk-7-openai-compatible";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { fromAiSdk } from "../../src/entries/ai-sdk.js";
import {
  type ChatModel,
  chatModel,
  type ChatRequest,
  collect,
  collectAnswer,
  createTransport,
  type Document,
  embedder,
  openKnowledgeBase,
  reranker,
  tool,
  type Transport,
} from "../../src/index.js";
import { type LocalService, localDefaults, startLocalService } from "../../src/entries/local.js";
import { type ScriptedReply, scriptedUpstream } from "../support/scripted-upstream.js";
import { streamed } from "../support/transport-for.js";

let service: LocalService;
let transport: Transport;
beforeAll(async () => {
  service = await startLocalService();
  transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
});
afterAll(async () => {
  await transport.close();
  await service.close();
});

const settings = (baseURL: string) => ({ name: "local", baseURL, apiKey: service.apiKey, includeUsage: true });
/** Models for version 4 of the specification have types that version 6 of the AI SDK does not know yet. */
const specifications = {
  v2: (url: string) => createForVersion5(settings(url)) as unknown as ReturnType<typeof createOpenAICompatible>,
  v3: (url: string) => createOpenAICompatible(settings(url)),
  v4: (url: string) => createForVersion7(settings(url)) as unknown as ReturnType<typeof createOpenAICompatible>,
};
const documents: Document[] = [
  { uri: "note:keys", text: "API keys expire after 90 days. Ada renews them." },
  { uri: "note:doors", text: "The doors open at nine." },
  { uri: "note:roof", text: "The roof was mended in May." },
];
const question = "When do API keys expire?";
const hello: ChatRequest = { messages: [{ role: "user", content: "Hello" }] };

describe.each(Object.entries(specifications))("a provider of specification %s", (version, open) => {
  const models = () => {
    const provider = open(`${service.url}/v1`);
    const languageModel = provider.chatModel(localDefaults.chat);
    const embeddingModel =
      version === "v2"
        ? provider.textEmbeddingModel(localDefaults.embedding)
        : provider.embeddingModel(localDefaults.embedding);
    expect([languageModel.specificationVersion, embeddingModel.specificationVersion]).toEqual([version, version]);
    return fromAiSdk({ languageModel, embeddingModel });
  };

  test("gives the vectors of the native transport", async () => {
    const texts = documents.map(({ text }) => text);
    const { vectors, tokens } = await models().embedder!.embed(texts);
    const native = await embedder(transport, { model: localDefaults.embedding }).embed(texts);
    // The provider reads JSON numbers, and the transport base64 of float32.
    for (const [at, vector] of vectors.entries()) expect(vector).toEqual(native.vectors[at]);
    expect(tokens).toBe(native.tokens);
  });

  test("gives the events of the native transport, its finish reason and its usage", async () => {
    const request: ChatRequest = {
      messages: [{ role: "user", content: "Context: Keys expire after 90 days.\n\nQuestion: When do keys expire?" }],
      maxTokens: 100,
      temperature: 0,
    };
    const read = async (model: ChatModel) => {
      const events = await collect(model.stream(request));
      const finish = events.at(-1)!;
      return { text: events.flatMap((event) => (event.type === "text-delta" ? [event.text] : [])).join(""), finish };
    };
    const native = await read(chatModel(transport, { model: localDefaults.chat }));
    const theirs = await read(models().chatModel!);
    expect(theirs.text).toBe(native.text);
    expect(theirs.finish).toMatchObject({ type: "finish", reason: "stop", model: localDefaults.chat });
    const { usage } = native.finish as {
      readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
    };
    const { inputTokens, outputTokens } = usage!;
    expect(theirs.finish).toMatchObject({ usage: { inputTokens, outputTokens } });
  });

  test("answers from a knowledge base as the native models do, tools and approvals included", async () => {
    const sent: string[] = [];
    const mail = tool({
      name: "send_mail",
      description: "Sends a mail to a person.",
      input: z.object({ person: z.string() }),
      writes: true,
      run: ({ person }) => {
        sent.push(person);
        return `mailed ${person}`;
      },
    });
    const ask = async (ports: object) => {
      const path = await mkdtemp(join(tmpdir(), "citewell-"));
      const kb = await openKnowledgeBase({ path, ...ports });
      await kb.ingest(documents);
      const { hits } = await kb.search(question);
      const answer = await collectAnswer(kb.ask(question));
      const mailed = await collectAnswer(
        kb.ask("Send mail to the person Ada", { answer: { tools: [mail], approve: () => true } }),
      );
      await kb.close();
      await rm(path, { recursive: true });
      const { text, answered, citations } = answer;
      return { hits: hits.map(({ uri }) => uri), text, answered, citations, mailed: mailed.text };
    };
    const { embedding, chat } = localDefaults;
    const weights = { dense: 0.15, lexical: 1 };
    const native = await ask({ transport, models: { embedding, chat }, weights });
    expect(await ask({ ...models(), weights })).toEqual(native);
    expect(native.citations).toMatchObject([{ supported: true }]);
    expect(sent[0]).toBe(sent[1]);
  });

  test("streams a call of a tool whole, with its arguments", async () => {
    const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const request: ChatRequest = {
      messages: [{ role: "user", content: "What is the weather in Paris?" }],
      tools: [{ name: "get_weather", description: "Weather of a city", parameters }],
    };
    const [call, finish] = (await collect(models().chatModel!.stream(request))).slice(-2);
    expect(call).toMatchObject({ type: "tool-call", name: "get_weather", arguments: '{"city":"Paris"}' });
    expect(finish).toMatchObject({ reason: "tool-calls" });
  });

  const port = async (script: Parameters<typeof scriptedUpstream>[0]) => {
    const upstream = await scriptedUpstream(script);
    const languageModel = open(upstream.baseUrl).chatModel("test/chat");
    return { upstream, model: fromAiSdk({ languageModel }).chatModel! };
  };

  test("tries again what may pass, and reports each failed attempt", async () => {
    const { upstream, model } = await port([{ status: 429, retryAfterSeconds: 0 }, streamed("Hi.")]);
    const failed: unknown[] = [];
    const events = await collect(model.stream(hello, { onFailedAttempt: (attempt) => void failed.push(attempt) }));
    expect(events[0]).toEqual({ type: "text-delta", text: "Hi." });
    expect(failed).toEqual([{ code: "rate-limited", status: 429 }]);
    expect(upstream.requests).toHaveLength(2);
  });

  test.each<{ reply: ScriptedReply; code: string }>([
    { reply: { status: 401, json: { error: { message: "no such key" } } }, code: "unauthorized" },
    { reply: { status: 400, json: { error: { message: "no" } } }, code: "refused" },
    { reply: { status: 503, headers: { "retry-after": "0" } }, code: "upstream" },
    { reply: { destroy: true }, code: "network" },
  ])("fails as a port does: $code", async ({ reply, code }) => {
    const { model } = await port(() => reply);
    await expect(collect(model.stream(hello))).rejects.toMatchObject({ name: "TransportError", code });
  });

  test("ends with the caller's abort, and its request with it", async () => {
    const { upstream, model } = await port([{ sse: streamed("a").sse!.slice(0, 1), hang: true }]);
    const stop = new AbortController();
    const reason = new Error("enough");
    const read = async () => {
      for await (const event of model.stream(hello, { signal: stop.signal })) {
        expect(event).toEqual({ type: "text-delta", text: "a" });
        stop.abort(reason);
      }
    };
    await expect(read()).rejects.toBe(reason);
    expect(await upstream.requests[0]!.end).toBe("closed");
  });

  test("ends at its deadline", async () => {
    const { model } = await port([{ hang: true }]);
    await expect(collect(model.stream(hello, { deadlineMs: 50 }))).rejects.toMatchObject({ code: "timeout" });
  });
});

test("a reranking model ranks as over the native transport", async () => {
  const provider = createCohere({ baseURL: `${service.url}/v2`, apiKey: service.apiKey });
  const { reranker: theirs } = fromAiSdk({ rerankingModel: provider.reranking(localDefaults.rerank) });
  const texts = documents.map(({ text }) => text);
  const native = await reranker(transport, { model: localDefaults.rerank }).rerank(question, texts, { topN: 2 });
  const { results } = await theirs!.rerank(question, texts, { topN: 2 });
  expect(results).toEqual(native.results);
  expect(await theirs!.rerank(question, [])).toEqual({ results: [] });
});

describe("what is refused", () => {
  test("a model of a version that is not known, or nobody's", () => {
    const old = { specificationVersion: "v1", modelId: "m", doStream: () => {} };
    expect(() => fromAiSdk({ languageModel: old as never })).toThrow("has the specification version v1");
    expect(() => fromAiSdk({ languageModel: "openai/gpt-5" as never })).toThrow("not the id of one");
    expect(() => fromAiSdk({ embeddingModel: { modelId: "m" } as never })).toThrow("with doEmbed()");
  });

  test("vectors that are fewer than the texts", async () => {
    const upstream = await scriptedUpstream([{ json: { data: [{ index: 0, embedding: [1, 2] }] } }]);
    const embeddingModel = specifications.v3(upstream.baseUrl).embeddingModel("test/embed");
    const { embedder: theirs } = fromAiSdk({ embeddingModel });
    await expect(theirs!.embed(["a", "b"])).rejects.toMatchObject({ code: "reply" });
  });
});
