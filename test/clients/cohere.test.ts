import { CohereRerank } from "@langchain/cohere";
import { CohereClient, CohereClientV2, CohereError } from "cohere-ai";
import { Document } from "@langchain/core/documents";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../../src/local/service.js";

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService();
});
afterAll(() => service.close());

const model = "citewell/local-lexical-rerank";
const query = "When do keys expire?";
const documents = ["Locks rust in the rain.", "Keys expire after 90 days.", "Doors open at nine."];
const connection = () => ({ environment: service.url, token: service.apiKey, maxRetries: 0 });

test("cohere-ai version 1 ranks texts and objects, and returns them when asked to", async () => {
  const client = new CohereClient(connection());
  const { results, meta } = await client.rerank({ query, documents, topN: 2, model, returnDocuments: true });
  expect(results).toHaveLength(2);
  expect(results[0]).toEqual({ index: 1, relevanceScore: expect.any(Number), document: { text: documents[1] } });
  expect(meta?.apiVersion?.version).toBe("1");
  const objects = documents.map((body, at) => ({ title: `${at}`, body }));
  const fields = await client.rerank({
    query,
    documents: objects,
    rankFields: ["title", "body"],
    returnDocuments: false,
  });
  expect(fields.results[0]).toEqual({ index: 1, relevanceScore: expect.any(Number) });
});

test("cohere-ai version 2 ranks texts", async () => {
  const client = new CohereClientV2(connection());
  const { results, meta } = await client.rerank({ query, documents, topN: 1, model, maxTokensPerDoc: 100 });
  expect(results).toEqual([{ index: 1, relevanceScore: expect.any(Number) }]);
  expect(meta?.apiVersion?.version).toBe("2");
});

const sourced = `<source id="1" uri="keys">\n${documents.join(" ")}\n</source>\n<question>\n${query}\n</question>`;
const chat = "citewell/local-extractive";
const weather = {
  type: "function" as const,
  function: {
    name: "weather",
    description: "The weather in a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

test("cohere-ai version 2 chats, whole and streamed, with the same words and the tokens that they took", async () => {
  const client = new CohereClientV2(connection());
  const asked = {
    model: chat,
    messages: [
      { role: "system" as const, content: "Answer in one sentence." },
      { role: "user" as const, content: sourced },
    ],
  };
  const { message, finishReason, usage } = await client.chat(asked);
  expect(finishReason).toBe("COMPLETE");
  const [content] = message.content!;
  expect(content).toMatchObject({ type: "text", text: expect.stringContaining("90 days") as string });
  const events = [];
  for await (const event of await client.chatStream(asked)) events.push(event);
  expect([...new Set(events.map(({ type }) => type))]).toEqual([
    "message-start",
    "content-start",
    "content-delta",
    "content-end",
    "message-end",
  ]);
  const streamed = events
    .map((event) => (event.type === "content-delta" ? event.delta?.message?.content?.text : ""))
    .join("");
  expect(content).toEqual({ type: "text", text: streamed });
  expect(events.at(-1)).toMatchObject({ delta: { finishReason: "COMPLETE", usage } });
  const short = await client.chat({ ...asked, maxTokens: 1 });
  expect(short.finishReason).toBe("MAX_TOKENS");
});

test("cohere-ai version 2 calls a tool and goes on with its result", async () => {
  const client = new CohereClientV2(connection());
  const question = { role: "user" as const, content: "What is the weather in the city Oslo?" };
  const asked = { model: chat, messages: [question], tools: [weather], toolChoice: "REQUIRED" as const };
  const { message, finishReason } = await client.chat(asked);
  expect(finishReason).toBe("TOOL_CALL");
  const [call] = message.toolCalls!;
  expect(call!.function).toMatchObject({ name: "weather" });
  let streamed = "";
  const types: string[] = [];
  for await (const event of await client.chatStream(asked)) {
    types.push(event.type);
    if (event.type === "tool-call-delta") streamed += event.delta?.message?.toolCalls?.function?.arguments ?? "";
  }
  expect(streamed).toBe(call!.function!.arguments);
  expect(types.filter((type) => type !== "tool-call-delta")).toEqual([
    "message-start",
    "tool-call-start",
    "tool-call-end",
    "message-end",
  ]);
  const result = {
    role: "tool" as const,
    toolCallId: call!.id,
    content: [{ type: "document" as const, document: { data: { report: "It rains in Oslo." } } }],
  };
  const turn = { role: "assistant" as const, toolCalls: message.toolCalls!, toolPlan: "I look it up." };
  const after = await client.chat({ model: chat, messages: [question, turn, result], tools: [weather] });
  expect(JSON.stringify(after.message)).toContain("rains in Oslo");
});

test("cohere-ai version 2 embeds texts", async () => {
  const client = new CohereClientV2(connection());
  const embedding = "citewell/local-lexical-m3";
  const asked = { model: embedding, texts: documents, inputType: "search_document" as const };
  const { embeddings, id, meta } = await client.embed({ ...asked, embeddingTypes: ["float"], outputDimension: 256 });
  expect(embeddings.float!.map(({ length }) => length)).toEqual([256, 256, 256]);
  expect(id).not.toBe("");
  expect(meta?.billedUnits?.inputTokens).toBeGreaterThan(5);
  const inputs = documents.map((text) => ({ content: [{ type: "text" as const, text }] }));
  const again = await client.embed({ model: embedding, inputs, inputType: "search_query", outputDimension: 256 });
  expect(again.embeddings.float).toEqual(embeddings.float);
  await expect(client.embed({ ...asked, embeddingTypes: ["int8"] })).rejects.toThrow("must be float or base64");
});

test("cohere-ai shows what is wrong", async () => {
  const refused = new CohereClientV2(connection()).rerank({ query, documents, model: "rerank-v3.5" });
  await expect(refused).rejects.toBeInstanceOf(CohereError);
  await expect(refused).rejects.toThrow('The model \\"rerank-v3.5\\" is not published here');
});

test("@langchain/cohere orders documents", async () => {
  // It brings a version of the client of its own, whose types are not those of ours.
  const reranker = new CohereRerank({ model, topN: 2, client: new CohereClient(connection()) as never });
  const texts = documents.map((pageContent) => new Document({ pageContent }));
  const ordered = await reranker.compressDocuments(texts, query);
  expect(ordered.map(({ pageContent }) => pageContent)[0]).toBe(documents[1]);
  expect(ordered).toHaveLength(2);
  expect(await reranker.rerank(documents, query, { topN: 1 })).toEqual([
    { index: 1, relevanceScore: expect.any(Number) },
  ]);
});
