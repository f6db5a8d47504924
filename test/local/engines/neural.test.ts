import { createRequire } from "node:module";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { describeFolderModel, modelsIn } from "../../../src/local/engines/model-folder.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { startLocalService } from "../../../src/local/service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { paths, post } from "../conformance.js";
import { tinyEmbedder, tinyReranker, vocabulary } from "./tiny-models.js";

const installed = canResolve("@huggingface/transformers");

function canResolve(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}

function folderWith(models: Readonly<Record<string, object | string>>): Promise<string> {
  const files = Object.entries(models).map(([path, configuration]) => [
    `${path}/config.json`,
    typeof configuration === "string" ? configuration : JSON.stringify(configuration),
  ]);
  return temporaryFolder(Object.fromEntries(files) as Readonly<Record<string, string>>);
}

const embedder = { architectures: ["BertModel"], hidden_size: 384, max_position_embeddings: 512 };

describe("a folder of models", () => {
  test("each model is published under its path with the type from its configuration", async () => {
    const folder = await folderWith({
      "owner/small": embedder,
      "owner/large-m3": { ...embedder, hidden_size: 1024 },
      ranker: { architectures: ["XLMRobertaForSequenceClassification"], max_position_embeddings: 514 },
    });
    expect(await modelsIn(folder)).toEqual([
      { id: "owner/large-m3", type: "embedding", maxInputTokens: 8192, dimension: 1024 },
      { id: "owner/small", type: "embedding", maxInputTokens: 512, dimension: 384 },
      { id: "ranker", type: "rerank", maxInputTokens: 514 },
    ]);
  });

  test.each([
    ["is empty", () => folderWith({}), /holds no model/],
    ["is not there", async () => join(await folderWith({}), "nowhere"), /cannot be read/],
    ["holds a broken configuration", () => folderWith({ a: "{" }), /config\.json is not a model's configuration/],
  ])("one that %s is an error that says so", async (_, folder, message) => {
    await expect(startLocalService({ modelsFolder: await folder() })).rejects.toMatchObject({
      code: "config",
      message,
    });
  });

  test("a model's limits, its prompts and what its vectors depend on are read from its own folder", async () => {
    const files = {
      "m/config.json": JSON.stringify(embedder),
      "m/tokenizer_config.json": JSON.stringify({ model_max_length: 1e30 }),
    };
    const plain = await describeFolderModel(join(await temporaryFolder(files), "m"));
    expect(plain).toEqual({
      space: expect.stringMatching(/^m@[0-9a-f]{8}$/),
      dimension: 384,
      maxInputTokens: 512,
      queryPrefix: "",
      documentPrefix: "",
    });
    const prompts = { prompts: { query: "query: ", passage: "passage: " } };
    const prompted = await temporaryFolder({
      ...files,
      "m/sentence_bert_config.json": JSON.stringify({ max_seq_length: 256, do_lower_case: false }),
      "m/config_sentence_transformers.json": JSON.stringify(prompts),
    });
    const sentenceModel = await describeFolderModel(join(prompted, "m"));
    expect(sentenceModel).toMatchObject({
      maxInputTokens: 256,
      queryPrefix: "query: ",
      documentPrefix: "passage: ",
    });
    expect(sentenceModel.space).not.toBe(plain.space);
  });

  test.each(["model.onnx", "model.onnx_data"])(
    "two models of one architecture have spaces of their own, by their weights in %s",
    async (file) => {
      const spaceWith = async (weights: Uint8Array) => {
        const files = { "m/config.json": JSON.stringify(embedder), [`m/onnx/${file}`]: weights };
        return (await describeFolderModel(join(await temporaryFolder(files), "m"))).space;
      };
      const trained = await spaceWith(new Uint8Array(1_000_000).fill(1));
      expect(await spaceWith(new Uint8Array(1_000_000).fill(1))).toBe(trained);
      expect(await spaceWith(new Uint8Array(1_000_000).fill(2))).not.toBe(trained);
    },
  );

  test.each([
    ["a folder of models", async () => folderWith({ "owner/small": embedder }), /no config\.json/],
    [
      "a reranker",
      async () => join(await folderWith({ ranker: { architectures: ["BertForSequenceClassification"] } }), "ranker"),
      /a reranker/,
    ],
  ])("%s is no model that embeds", async (_, folder, message) => {
    await expect(describeFolderModel(await folder())).rejects.toMatchObject({ code: "config", message });
  });

  test("without @huggingface/transformers the error says what to install", async ({ skip }) => {
    if (installed) skip("@huggingface/transformers is installed");
    await expect(startLocalService({ modelsFolder: await folderWith({ a: embedder }) })).rejects.toMatchObject({
      code: "missing-package",
      message: expect.stringContaining("npm install @huggingface/transformers"),
    });
  });
});

describe("models of a folder, run by @huggingface/transformers", () => {
  beforeEach(({ skip }) => skip(!installed, "@huggingface/transformers is not installed"));

  /** A direction of its own for each word. */
  const rows = vocabulary.map((word) => vocabulary.map((other) => (other === word ? 1 : 0)));
  const direction = (...words: readonly (typeof vocabulary)[number][]) =>
    vocabulary.map((word) => words.filter((one) => one === word).length / Math.sqrt(words.length));

  async function served(files: Readonly<Record<string, string | Uint8Array>>) {
    const service = await startLocalService({ modelsFolder: await temporaryFolder(files) });
    onTestFinished(() => service.close());
    return service;
  }

  async function embedded(files: Readonly<Record<string, string | Uint8Array>>, input: readonly string[]) {
    const { status, body } = await post(await served(files), paths.embeddings, { model: "tiny/embedder", input });
    expect({ status, body }).toMatchObject({ status: 200 });
    return (body as { readonly data: readonly { readonly embedding: readonly number[] }[] }).data.map(
      ({ embedding }) => embedding,
    );
  }

  function expectNear(vector: readonly number[] | undefined, wanted: readonly number[]) {
    expect(vector).toHaveLength(wanted.length);
    for (const [at, value] of wanted.entries()) expect(vector?.[at]).toBeCloseTo(value, 5);
  }

  test("an embedding is the normalised mean over the text's own tokens, regardless of the rest of the batch", async () => {
    const [short, long] = await embedded(tinyEmbedder("tiny/embedder", rows), ["cat", "the cat the dog"]);
    expectNear(short, direction("[CLS]", "cat", "[SEP]"));
    const counts = direction("[CLS]", "cat", "the", "the", "dog", "[SEP]");
    const length = Math.hypot(...counts);
    expectNear(
      long,
      counts.map((value) => value / length),
    );
  });

  test("an embedding is the first token's vector when the model's folder says so", async () => {
    const [vector] = await embedded(tinyEmbedder("tiny/embedder", rows, { pooling_mode_cls_token: true }), ["dog"]);
    expectNear(vector, direction("[CLS]"));
  });

  test("more texts than one batch holds are returned in order", async () => {
    const input = Array.from({ length: 32 }, (_, index) => (index % 3 === 0 ? "dog" : "car"));
    const vectors = await embedded(tinyEmbedder("tiny/embedder", rows), input);
    expect(vectors).toHaveLength(32);
    for (const [index, word] of input.entries()) {
      expectNear(vectors[index], direction("[CLS]", word, "[SEP]"));
    }
  });

  /** A knowledge base with the tiny model of a folder, and the folder. */
  async function withModel(table: readonly (readonly number[])[], files: Readonly<Record<string, string>> = {}) {
    const folder = await temporaryFolder({ ...tinyEmbedder("tiny", table), ...files });
    const kb = await openKnowledgeBase({
      path: join(folder, "store"),
      models: { embedding: { folder: join(folder, "tiny") } },
    });
    onTestFinished(() => kb.close());
    return kb;
  }

  test("a knowledge base computes the model of a folder in its own process, with the folder's prompts", async () => {
    const prompts = { prompts: { query: "the ", document: "car " } };
    const kb = await withModel(rows, { "tiny/config_sentence_transformers.json": JSON.stringify(prompts) });
    const { documents } = await kb.ingest([{ uri: "a", text: "cat" }]);
    expect(documents).toMatchObject({ added: 1, failed: 0 });
    const { hits } = await kb.search("cat", { mode: "dense" });
    // Three of the four words are in both: [CLS], cat and [SEP], but "the" in the question and "car" in the passage.
    expect(hits[0]?.score).toBeCloseTo(3 / 4, 5);
  });

  test("a vector that is not finite costs its own document", async () => {
    const kb = await withModel(rows.map((row, id) => (vocabulary[id] === "dog" ? row.map(() => NaN) : row)));
    const { documents, failures } = await kb.ingest([
      { uri: "a", text: "cat" },
      { uri: "b", text: "the dog" },
      { uri: "c", text: "car" },
    ]);
    expect(documents).toMatchObject({ added: 2, failed: 1 });
    expect(failures).toEqual([
      { uri: "b", error: expect.objectContaining({ message: expect.stringContaining("not finite") }) },
    ]);
  });

  test("a reranker scores query and document together, and a long document by its best piece", async () => {
    const weights = vocabulary.map((word) => ({ cat: 2, car: -1 })[word as string] ?? 0);
    const service = await served(tinyReranker("tiny/reranker", weights));
    const long = `${"dog ".repeat(700)} cat`;
    const { status, body } = await post(service, paths.rerank, {
      model: "tiny/reranker",
      query: "the cat",
      documents: ["car car", "cat", long],
      max_chunks_per_doc: 10,
      overlap_tokens: 10,
    });
    expect({ status, body }).toMatchObject({ status: 200 });
    const { results } = body as { readonly results: readonly { index: number; relevance_score: number }[] };
    const scores = new Map(results.map(({ index, relevance_score: score }) => [index, score]));
    const sigmoid = (logit: number) => 1 / (1 + Math.exp(-logit));
    expect(scores.get(0)).toBeCloseTo(sigmoid(2 - 2), 5);
    expect(scores.get(1)).toBeCloseTo(sigmoid(2 + 2), 5);
    expect(scores.get(2)).toBeCloseTo(sigmoid(2 + 2), 5);
  });

  test("the built-in models remain available", async () => {
    const service = await served(tinyEmbedder("tiny/embedder", rows));
    const own = service.models.find(({ id, type }) => type === "embedding" && id !== "tiny/embedder");
    const { status } = await post(service, paths.embeddings, { model: own?.id, input: "cat" });
    expect(status).toBe(200);
  });
});
