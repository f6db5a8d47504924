import OpenAI from "openai";
import { expect, test } from "vitest";
import { served } from "../../support/served.js";

const documents = [{ uri: "https://docs.example/keys", title: "Keys", text: "API keys expire after 90 days." }];
const models = {
  embedding: "citewell/local-lexical-m3",
  rerank: "citewell/local-lexical-rerank",
  chat: "citewell/local-extractive",
};

async function sharing(options: Parameters<typeof served>[1] = { shareModels: true }) {
  const server = await served(documents, options, { models });
  return { ...server, openai: new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "any", maxRetries: 0 }) };
}

test("a server that shares its models embeds texts as its documents are embedded, also those that come as tokens", async () => {
  const { openai, kb } = await sharing();
  const model = models.embedding;
  const texts = ["hello world", "API keys"];
  const { data, usage } = await openai.embeddings.create({ model, input: texts });
  const { vectors } = await kb.embedder.embed(texts);
  expect(data.map(({ embedding }) => Float32Array.from(embedding))).toEqual([...vectors]);
  expect(usage.total_tokens).toBeGreaterThan(0);
  // "hello world" in cl100k_base.
  const ids = await openai.embeddings.create({ model, input: [15_339, 1917], encoding_format: "float" });
  expect(Float32Array.from(ids.data[0]!.embedding)).toEqual(vectors[0]);
  const many = Array.from({ length: 70 }, (_, number) => `text number ${number}`);
  const whole = await openai.embeddings.create({ model, input: many });
  expect(whole.data.map(({ index }) => index)).toEqual(many.map((_, index) => index));
});

test("it ranks documents by its reranker", async () => {
  const { json } = await sharing();
  const request = { query: "When do keys expire?", documents: ["Locks are oiled.", { text: "Keys expire in May." }] };
  const reply: unknown = await json("POST", "/v1/rerank", { ...request, top_n: 1 });
  expect(reply).toMatchObject({
    model: models.rerank,
    results: [{ index: 1, document: { text: "Keys expire in May." }, relevance_score: expect.any(Number) as number }],
  });
});

test("it lists them beside the model that answers, and describes them", async () => {
  const { openai, send } = await sharing();
  const ids: string[] = [];
  for await (const { id } of openai.models.list()) ids.push(id);
  expect(ids).toEqual(["citewell", models.embedding, models.rerank]);
  expect(await openai.models.retrieve(models.embedding)).toMatchObject({ id: models.embedding });
  const description = await (await send("GET", "/api/openapi.json")).text();
  expect(description).toContain("/v1/embeddings");
});

test("what its models cannot do is refused in words", async () => {
  const { openai, send } = await sharing({ shareModels: true });
  const model = models.embedding;
  const refused = (request: object, as: object) =>
    expect(openai.embeddings.create(request as never)).rejects.toMatchObject(as);
  await refused({ model: "gpt-9", input: "a" }, { status: 404, code: "model_not_found" });
  await refused(
    { model, input: ["a", ""] },
    {
      status: 400,
      message: expect.stringContaining("input.1"),
    },
  );
  await refused({ model, input: "a", dimensions: 7 }, { status: 400 });
  await refused({ model, input: "word ".repeat(9000) }, { code: "context_length_exceeded" });
  const body = { query: "a", documents: [{ title: "b" }] };
  expect((await send("POST", "/v1/rerank", body)).status).toBe(400);
});

test("what its models take counts in the limits of a caller", async () => {
  const { openai } = await sharing({ shareModels: true, limits: { tokensPerMinute: 10 } });
  const model = models.embedding;
  await openai.embeddings.create({ model, input: "word ".repeat(50) });
  await expect(openai.embeddings.create({ model, input: "a" })).rejects.toMatchObject({ status: 429 });
});

test("a server that was not told to shares no models", async () => {
  const { openai, kb } = await sharing({});
  await expect(openai.embeddings.create({ model: kb.embedder.space, input: "a" })).rejects.toMatchObject({
    status: 404,
  });
  const ids: string[] = [];
  for await (const { id } of openai.models.list()) ids.push(id);
  expect(ids).toEqual(["citewell"]);
});
