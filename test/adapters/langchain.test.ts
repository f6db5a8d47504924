import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { tool } from "@langchain/core/tools";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type ChatModel,
  chatModel,
  collect,
  collectAnswer,
  createTransport,
  embedder,
  type KnowledgeBase,
  openKnowledgeBase,
  reranker,
  type Transport,
} from "citewell";
import { fromLangChain, readLangChain, toLangChain } from "citewell/langchain";
import { localDefaults, type LocalService, startLocalService } from "citewell/local";
import { chunk, streamed, transportFor } from "../support/transport-for.js";

let service: LocalService;
let transport: Transport;
let folder: string;
let kb: KnowledgeBase;
let objects: Required<Awaited<ReturnType<typeof toLangChain>>>;
beforeAll(async () => {
  service = await startLocalService();
  transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  folder = await mkdtemp(join(tmpdir(), "citewell-test-"));
  kb = await openKnowledgeBase({ path: folder, transport, models: localDefaults });
  await kb.ingest([
    {
      uri: "note:keys",
      title: "Keys",
      text: "API keys expire after 90 days. Ada renews them.",
      metadata: { year: 2026 },
    },
    { uri: "note:doors", text: "The doors open at nine." },
  ]);
  objects = (await toLangChain({
    knowledgeBase: kb,
    search: { count: 1 },
    embedder: embedder(transport, { model: localDefaults.embedding }),
    chatModel: chatModel(transport, { model: localDefaults.chat }),
    reranker: reranker(transport, { model: localDefaults.rerank }),
  })) as typeof objects;
});
afterAll(async () => {
  await kb.close();
  await transport.close();
  await service.close();
  await rm(folder, { recursive: true });
});

const question = "When do API keys expire?";
const prompt = "Context: Keys expire after 90 days.\n\nQuestion: When do keys expire?";

/** A model of LangChain over a service with these replies. */
async function scripted(script: Parameters<typeof transportFor>[0]) {
  const { transport: own, upstream } = await transportFor(script);
  const { chatModel: model } = await toLangChain({ chatModel: chatModel(own, { model: "test/chat" }) });
  return { model: model!, upstream };
}

// LangChain's own standard tests are not published. These are the behaviours that they ask of a chat model.
describe("a chat model of ours in LangChain", () => {
  test("invoke gives a message with text, usage and metadata, as the native transport does", async () => {
    const native = await transport.chat({ model: localDefaults.chat, messages: [{ role: "user", content: prompt }] });
    const reply = await objects.chatModel.invoke(prompt);
    expect(AIMessageChunk.isInstance(reply)).toBe(true);
    expect(reply.text).toBe(native.text);
    const { inputTokens: input_tokens, outputTokens: output_tokens } = native.usage!;
    expect(reply.usage_metadata).toMatchObject({ input_tokens, output_tokens });
    expect(reply.response_metadata).toMatchObject({ finish_reason: "stop", model_name: native.model });
  });

  test("stream gives chunks whose sum is the reply, with one report of usage", async () => {
    const chunks = await collect(await objects.chatModel.stream(prompt));
    expect(chunks.every((each) => AIMessageChunk.isInstance(each))).toBe(true);
    expect(chunks.length).toBeGreaterThan(2);
    expect(chunks.map(({ text }) => text).join("")).toBe((await objects.chatModel.invoke(prompt)).text);
    expect(chunks.filter(({ usage_metadata: usage }) => usage)).toHaveLength(1);
  });

  test("batch answers each input", async () => {
    const replies = await objects.chatModel.batch([prompt, "Hello"]);
    expect(replies.map(({ text }) => text.length > 0)).toEqual([true, true]);
  });

  test("streamEvents begins with the start, ends with the end, and streams in between", async () => {
    const events = await collect(objects.chatModel.streamEvents(prompt, { version: "v2" }));
    const names = events.map(({ event }) => event);
    expect([names[0], names.at(-1)]).toEqual(["on_chat_model_start", "on_chat_model_end"]);
    expect(names.slice(1, -1).every((name) => name === "on_chat_model_stream")).toBe(true);
  });

  test("takes conversations, also with several messages of one role in a row, or of more than ten", async () => {
    const { model, upstream } = await scripted(() => streamed("Fine."));
    const doubled = [
      new SystemMessage("Be brief."),
      new SystemMessage("Be kind."),
      new HumanMessage("hello"),
      new HumanMessage("hello"),
      new AIMessage("hello"),
      new HumanMessage("how are you"),
    ];
    expect((await model.invoke(doubled)).text).toBe("Fine.");
    const long = Array.from({ length: 30 }, (_, at) => (at % 2 ? new AIMessage(`A${at}`) : new HumanMessage(`Q${at}`)));
    expect((await model.invoke([...long, new HumanMessage("last")])).text).toBe("Fine.");
    const { messages } = upstream.requests[1]!.body as { readonly messages: readonly unknown[] };
    expect(messages.length).toBeLessThanOrEqual(10);
  });

  test("bindTools, calls and results make a loop; a result that failed says so", async () => {
    const getWeather = tool(({ city }: { city: string }) => JSON.stringify({ city, temperature: 21 }), {
      name: "get_weather",
      description: "Weather of a city",
      schema: z.object({ city: z.string() }),
    });
    const bound = objects.chatModel.bindTools!([getWeather]);
    const asked = new HumanMessage("What is the weather in Paris?");
    const called = (await bound.invoke([asked])) as AIMessage;
    expect(called.tool_calls).toMatchObject([{ name: "get_weather", args: { city: "Paris" } }]);
    const result = await getWeather.invoke(called.tool_calls![0]!);
    expect((await bound.invoke([asked, called, result])).text).toBe("get_weather says: city: Paris, temperature: 21");
    const { model, upstream } = await scripted([streamed("I see.")]);
    const failed = new ToolMessage({
      content: "no such city",
      tool_call_id: called.tool_calls![0]!.id!,
      status: "error",
    });
    await model.invoke([asked, called, failed]);
    expect(JSON.stringify(upstream.requests[0]!.body)).toContain("Error: no such city");
  });

  test("a streamed call of a tool comes as pieces that add up to it", async () => {
    const call = { index: 0, id: "c", type: "function", function: { name: "extract", arguments: '{"days":90}' } };
    const reply = { sse: [chunk({ tool_calls: [call] }), chunk({}, { finish_reason: "tool_calls" }), "[DONE]"] };
    const { model } = await scripted([reply, reply]);
    const schema = z.object({ days: z.number() });
    const chunks = await collect(await model.bindTools!([{ name: "extract", schema }]).stream("x"));
    expect(chunks.reduce((all, each) => all.concat(each)).tool_calls).toMatchObject([
      { name: "extract", args: { days: 90 } },
    ]);
    expect(await model.withStructuredOutput(schema, { name: "extract" }).invoke("x")).toEqual({ days: 90 });
  });

  test("stop sequences and a chosen tool are sent; what it says of itself to tracers names the model", async () => {
    const { model, upstream } = await scripted([streamed("x")]);
    const schema = z.object({});
    const tools = ["one", "two"].map((name) => ({ name, schema }));
    await model.bindTools!(tools, { tool_choice: "two" }).invoke("x", { stop: ["END"] });
    const sent = upstream.requests[0]!.body as {
      readonly stop: unknown;
      readonly tools: readonly { function: { name: string } }[];
    };
    expect(sent.stop).toEqual(["END"]);
    expect(sent.tools.map(({ function: { name } }) => name)).toEqual(["two"]);
    expect(model.getLsParams({})).toEqual({
      ls_provider: "citewell",
      ls_model_name: "test/chat",
      ls_model_type: "chat",
    });
  });

  test("a picture is refused, since the port carries text", async () => {
    const picture = new HumanMessage({ content: [{ type: "image_url", image_url: "https://example.org/a.png" }] });
    await expect(objects.chatModel.invoke([picture])).rejects.toThrow("a part of the type image_url");
  });

  test("fails as the transport fails, and ends with the caller's abort", async () => {
    const { model } = await scripted(() => ({ status: 401 }));
    await expect(model.invoke("x")).rejects.toMatchObject({ name: "TransportError", code: "unauthorized" });
    const { model: silent, upstream } = await scripted([{ sse: [chunk({ content: "a" })], hang: true }]);
    const stop = new AbortController();
    const read = async () => {
      for await (const { text } of await silent.stream("x", { signal: stop.signal })) if (text === "a") stop.abort();
    };
    await expect(read()).rejects.toThrow(/abort/iu);
    expect(await upstream.requests[0]!.end).toBe("closed");
  });
});

test("an upstream that is down is the transport's error, sent as often as the transport tries and no more", async () => {
  const { transport: own, upstream } = await transportFor(() => ({ status: 503 }), { maxRetries: 1 });
  const { chatModel: model, ...down } = await toLangChain({
    embedder: embedder(own, { model: "test/embed" }),
    chatModel: chatModel(own, { model: "test/chat" }),
    reranker: reranker(own, { model: "test/rerank" }),
  });
  const passages = [{ pageContent: "a", metadata: {} }];
  const calls = [
    () => model!.invoke("x"),
    () => down.embeddings!.embedDocuments(["a"]),
    () => down.documentCompressor!.compressDocuments(passages, "a"),
  ];
  for (const [at, call] of calls.entries()) {
    await expect(call()).rejects.toMatchObject({ name: "TransportError", code: "upstream" });
    expect(upstream.requests).toHaveLength(2 * (at + 1));
  }
});

describe("a knowledge base in LangChain", () => {
  test("is a retriever of what search finds, and a step of a chain", async () => {
    const [document] = await objects.retriever.invoke(question);
    const { hits } = await kb.search(question, { count: 1 });
    expect(document).toMatchObject({ id: hits[0]!.chunk.id, pageContent: hits[0]!.chunk.text });
    expect(document!.metadata).toMatchObject({ source: "note:keys", title: "Keys", line: 1, year: 2026, start: 0 });
    const chain = objects.retriever
      .pipe((found) => ({ context: found.map(({ pageContent }) => pageContent).join("\n"), question }))
      .pipe(ChatPromptTemplate.fromTemplate("Context: {context}\n\nQuestion: {question}"))
      .pipe(objects.chatModel)
      .pipe(new StringOutputParser());
    expect(await chain.invoke(question)).toContain("API keys expire after 90 days.");
  });

  test("stays within a scope, and offers no store there", async () => {
    const scope = kb.scoped({ metadata: { year: 2026 } });
    const within = await toLangChain({
      knowledgeBase: scope,
      embedder: embedder(transport, { model: localDefaults.embedding }),
    });
    expect(
      (await within.retriever!.invoke("When do the doors open?")).map(({ metadata }) => metadata["source"]),
    ).toEqual(["note:keys"]);
    expect(within.vectorStore).toBeUndefined();
  });

  test("a search ends with the caller's abort", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(objects.retriever.invoke(question, { signal })).rejects.toThrow(/enough|abort/iu);
  });

  test("its store takes documents and vectors, finds them by vector within a filter, and deletes them", async () => {
    const { vectorStore, embeddings } = objects;
    const roof = { pageContent: "The roof was mended in May.", metadata: { tenant: "north" }, id: "lc:roof" };
    const wall = { pageContent: "The wall is older than the roof.", metadata: { tenant: "south" } };
    expect(await vectorStore.addDocuments([roof])).toEqual(["lc:roof"]);
    const [vector] = await embeddings.embedDocuments([wall.pageContent]);
    const [added] = (await vectorStore.addVectors([vector!], [wall])) as string[];
    const sources = async (filter?: object) =>
      (await vectorStore.similaritySearch("roof", 2, filter as never)).map(
        ({ metadata }) => metadata["source"] as string,
      );
    expect(new Set(await sources())).toEqual(new Set(["lc:roof", added]));
    expect(await sources({ metadata: { tenant: "south" } })).toEqual([added]);
    const scored = await vectorStore.similaritySearchWithScore(roof.pageContent, 1);
    expect(scored).toMatchObject([[{ pageContent: roof.pageContent }, expect.closeTo(1, 5)]]);
    // Adding it again changes nothing.
    await vectorStore.addDocuments([roof]);
    expect((await kb.search("roof mended", { filter: { uri: "lc:roof" } })).hits).toHaveLength(1);
    await vectorStore.delete({ ids: ["lc:roof", added!] });
    expect(await kb.document("lc:roof")).toBeUndefined();
    await expect(vectorStore.addVectors([], [wall])).rejects.toThrow("0 vectors for 1 documents");
  });

  test("embeddings and a ranking are those of the native transport", async () => {
    const texts = Array.from({ length: 40 }, (_, at) => `text number ${at}`);
    const native = await embedder(transport, { model: localDefaults.embedding }).embed(texts);
    expect(await objects.embeddings.embedDocuments(texts)).toEqual(native.vectors.map((vector) => [...vector]));
    expect(await objects.embeddings.embedQuery("text number 7")).toEqual([...native.vectors[7]!]);
    const documents = texts.slice(0, 3).map((pageContent) => ({ pageContent, metadata: { kept: true } }));
    const { results } = await reranker(transport, { model: localDefaults.rerank }).rerank(
      "number 2",
      texts.slice(0, 3),
    );
    const ranked = await objects.documentCompressor.compressDocuments(documents, "number 2");
    expect(ranked.map(({ pageContent, metadata }) => [pageContent, metadata])).toEqual(
      results.map(({ index, score }) => [texts[index], { kept: true, relevanceScore: score }]),
    );
  });
});

describe("objects of LangChain in a knowledge base", () => {
  test("answer as the native models do, although every call goes through LangChain", async () => {
    const { embeddings, chatModel: model, documentCompressor } = objects;
    const ports = fromLangChain({ embeddings, chatModel: model, documentCompressor, space: localDefaults.embedding });
    const path = await mkdtemp(join(tmpdir(), "citewell-test-"));
    const theirs = await openKnowledgeBase({ path, ...ports, weights: { dense: 0.15, lexical: 1 } });
    await theirs.ingest([
      {
        uri: "note:keys",
        title: "Keys",
        text: "API keys expire after 90 days. Ada renews them.",
        metadata: { year: 2026 },
      },
      { uri: "note:doors", text: "The doors open at nine." },
    ]);
    const [answer, native] = [await collectAnswer(theirs.ask(question)), await collectAnswer(kb.ask(question))];
    expect([answer.text, answer.citations]).toEqual([native.text, native.citations]);
    expect(answer.citations).toMatchObject([{ supported: true }]);
    await theirs.close();
    await rm(path, { recursive: true });
  });

  test("a call of a tool comes whole, also with arguments that are no JSON", async () => {
    const call = { index: 0, id: "c", type: "function", function: { name: "look", arguments: '{"at":' } };
    const { model } = await scripted([
      { sse: [chunk({ tool_calls: [call] }), chunk({}, { finish_reason: "tool_calls" }), "[DONE]"] },
    ]);
    const { chatModel: port } = fromLangChain({ chatModel: model });
    const parameters = { type: "object", properties: {} };
    const events = await collect(
      (port as ChatModel).stream({ messages: [{ role: "user", content: "x" }], tools: [{ name: "look", parameters }] }),
    );
    expect(events).toMatchObject([
      { type: "tool-call", name: "look", arguments: '{"at":' },
      { type: "finish", reason: "tool-calls" },
    ]);
  });

  test("fail as ports do, and end with the caller's abort", async () => {
    const { model } = await scripted(() => ({ status: 401 }));
    const hello = { messages: [{ role: "user", content: "x" }] } as const;
    await expect(collect(fromLangChain({ chatModel: model }).chatModel!.stream(hello))).rejects.toMatchObject({
      code: "unauthorized",
    });
    const { model: silent, upstream } = await scripted([{ hang: true }]);
    const stop = new AbortController();
    const asked = collect(fromLangChain({ chatModel: silent }).chatModel!.stream(hello, { signal: stop.signal }));
    asked.catch(() => {});
    await expect.poll(() => upstream.requests.length).toBe(1);
    stop.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
    expect(await upstream.requests[0]!.end).toBe("closed");
  });

  test("embeddings without a name need one for their space", () => {
    expect(() => fromLangChain({ embeddings: objects.embeddings })).toThrow("name their vector space in `space`");
    expect(() => fromLangChain({ chatModel: "gpt" as never })).toThrow("chatModel: must be a chat model of LangChain");
  });

  test("documents of a loader become documents with addresses of their own", async () => {
    const load = () =>
      Promise.resolve([
        { pageContent: "one", metadata: { source: "a.pdf", loc: { pageNumber: 1 }, read: () => {} } },
        { pageContent: "two", metadata: { source: "a.pdf", loc: { pageNumber: 2 } } },
        { pageContent: "three", metadata: {}, id: "x" },
        { pageContent: "four", metadata: {} },
      ]);
    expect(await collect(readLangChain({ load }))).toEqual([
      { uri: "a.pdf", text: "one", metadata: { loc: { pageNumber: 1 } } },
      { uri: "a.pdf#2", text: "two", metadata: { loc: { pageNumber: 2 } } },
      { uri: "x", text: "three" },
      { uri: "document-4", text: "four" },
    ]);
    await expect(collect(readLangChain({} as never))).rejects.toThrow("with load()");
  });
});
