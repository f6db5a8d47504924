import { cp } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { Tokenizer } from "@huggingface/tokenizers";
import { describe, expect, onTestFinished, test } from "vitest";
import { seededRandom } from "../../../src/core/random.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { folderEmbedder } from "../../../src/local/folder-embedder.js";
import { startLocalService } from "../../../src/local/service.js";
import { tokenizerFile } from "../../../src/models/tokenizer-file.js";
import { trainLatentModel } from "../../../src/store/latent/latent-model.js";
import { TokenizerDefinition } from "../../../src/text/tokens/separable-words.js";
import { modelTokenizer } from "../../../src/text/tokens/model-tokenizer.js";
import { WordIds } from "../../../src/text/tokens/word-ids.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { paths, post } from "../conformance.js";
import {
  bytePairs,
  keptIn,
  numbersAs,
  type RowType,
  safetensors,
  tensorFile,
  unigrams,
  wholeWords,
  wordPieces,
} from "./static-models.js";

const words = ["the", "cat", "sat", "on", "mat", "dogs", "bark", "token", "sampler", "##ing", "##er", "naive"];
const texts = [
  "The cat sat on the mat.",
  "Dogs barking; a SAMPLER, naïve tokens & [brackets] don't matter",
  "中文分词 of the cat，的",
  "line one\n\n  line\ttwo \u00a0 three\r\n",
  "unknown ☃ things ☃☃",
  "x".repeat(150),
];

const dimension = 12;

function randomRows(count: number, whole = false): number[] {
  const random = seededRandom(7);
  return Array.from({ length: count * dimension }, () => (whole ? Math.round(random() * 200 - 100) : random() - 0.5));
}

function sizeOf(definition: { readonly model: { readonly vocab: object } }): number {
  return Object.keys(definition.model.vocab).length;
}

/** The mean as a book has it: the tokenizer reads the whole text, and each row is added number by number. */
function plainVector(
  definition: object,
  text: string,
  rowOf: (token: number) => readonly number[],
  { leftOut, normalizes }: { leftOut?: number; normalizes: boolean },
): number[] {
  const ids: readonly number[] = new Tokenizer(definition, {}).encode(text, { add_special_tokens: false }).ids;
  const counted = ids.filter((id) => id !== leftOut);
  const sum = Array.from({ length: dimension }, (_, at) => counted.reduce((total, id) => total + rowOf(id)[at]!, 0));
  const length = normalizes ? Math.sqrt(sum.reduce((total, value) => total + value * value, 0)) : counted.length;
  return sum.map((value) => value / length);
}

function expectNear(vector: Float32Array | undefined, wanted: readonly number[]) {
  expect(vector).toHaveLength(wanted.length);
  const largest = Math.max(...wanted.map((value, at) => Math.abs(value - vector![at]!)));
  const scale = Math.max(...wanted.map(Math.abs), 1);
  expect(largest / scale).toBeLessThan(1e-5);
}

async function embedderOf(files: Readonly<Record<string, string | Uint8Array>>) {
  return folderEmbedder(await temporaryFolder(files), tokenizerFile);
}

describe("a static embedding model in a folder", () => {
  test.each<RowType>(["F64", "F32", "F16", "BF16", "I8"])(
    "makes the vectors of a plain mean over rows of %s",
    async (type) => {
      const definition = wordPieces(words);
      const numbers = randomRows(sizeOf(definition), type === "I8");
      const { embed } = await embedderOf({
        "config.json": JSON.stringify({ model_type: "model2vec", normalize: true }),
        "tokenizer.json": JSON.stringify(definition),
        "model.safetensors": safetensors({ embeddings: numbersAs(type, numbers, sizeOf(definition), dimension) }),
      });
      const kept = numbers.map((value) => keptIn(type, value));
      const { vectors } = await embed(texts.slice(0, 5));
      const rowOf = (id: number) => kept.slice(id * dimension, (id + 1) * dimension);
      for (const [at, text] of texts.slice(0, 5).entries()) {
        expectNear(vectors[at], plainVector(definition, text, rowOf, { leftOut: 1, normalizes: true }));
      }
    },
  );

  test.each<["I64" | "I32", RowType]>([
    ["I64", "F32"],
    ["I32", "F16"],
  ])("a mapping of %s gives tokens shared rows, and weights of %s count", async (mappingType, weightType) => {
    const definition = wordPieces(words);
    const [tokens, rows] = [sizeOf(definition), 10];
    const numbers = randomRows(rows);
    const mapping = Array.from({ length: tokens }, (_, token) => (token * 7) % rows);
    const weights = Array.from({ length: tokens }, (_, token) => 1 / (1 + (token % 5)));
    const { embed } = await embedderOf({
      "config.json": JSON.stringify({ model_type: "model2vec", normalize: false, vocabulary_quantization: rows }),
      "tokenizer.json": JSON.stringify(definition),
      "model.safetensors": safetensors({
        embeddings: numbersAs("F32", numbers, rows, dimension),
        mapping: numbersAs(mappingType, mapping, tokens),
        weights: numbersAs(weightType, weights, tokens),
      }),
    });
    const rowOf = (id: number) =>
      numbers
        .slice(mapping[id]! * dimension, (mapping[id]! + 1) * dimension)
        .map((value) => Math.fround(value) * keptIn(weightType, weights[id]!));
    const { vectors } = await embed(texts.slice(0, 5));
    for (const [at, text] of texts.slice(0, 5).entries()) {
      expectNear(vectors[at], plainVector(definition, text, rowOf, { leftOut: 1, normalizes: false }));
    }
  });

  const modules = (path: string, ...more: string[]) =>
    JSON.stringify(
      ["StaticEmbedding", ...more].map((name, idx) => ({
        idx,
        name: String(idx),
        path: idx === 0 ? path : `${idx}_${name}`,
        type: `sentence_transformers.models.${name}`,
      })),
    );

  test.each<[string, boolean, string, Readonly<Record<string, string>>]>([
    [
      "a list of modules and a folder of its own",
      false,
      "0_StaticEmbedding/",
      { "modules.json": modules("0_StaticEmbedding") },
    ],
    ["a module that normalizes", true, "", { "modules.json": modules("", "Normalize") }],
    ["its files alone", false, "", { "config_sentence_transformers.json": "{}" }],
    ["a folder that the model's name is known by", false, "0_StaticEmbedding/", {}],
  ])(
    "a model of sentence-transformers is found by %s, and counts its unknown token",
    async (_, normalizes, place, files) => {
      const definition = wholeWords(["cat", "mat"]);
      const numbers = randomRows(sizeOf(definition));
      const { embed } = await embedderOf({
        ...files,
        [`${place}tokenizer.json`]: JSON.stringify(definition),
        [`${place}model.safetensors`]: safetensors({
          "embedding.weight": numbersAs("F32", numbers, sizeOf(definition), dimension),
        }),
      });
      const { vectors } = await embed(["cat dog mat"]);
      const rowOf = (id: number) => numbers.slice(id * dimension, (id + 1) * dimension).map(Math.fround);
      expectNear(vectors[0], plainVector(definition, "cat dog mat", rowOf, { normalizes }));
    },
  );

  test("a text without a known word has a vector that a store takes, the same for all", async () => {
    const definition = wholeWords(["cat", "mat"]);
    const { embed } = await embedderOf({
      "config.json": JSON.stringify({ model_type: "model2vec" }),
      "tokenizer.json": JSON.stringify(definition),
      "model.safetensors": safetensors({ embeddings: numbersAs("F32", randomRows(4), 4, dimension) }),
    });
    const { vectors } = await embed(["dog", ""]);
    expect(Math.hypot(...vectors[0]!)).toBeCloseTo(1, 5);
    expect(vectors[1]).toEqual(vectors[0]);
  });

  test("prompts are put before questions and documents, and leave less room for a text", async () => {
    const definition = wholeWords(["cat", "mat", "query", "passage"]);
    const files = {
      "config.json": JSON.stringify({ model_type: "model2vec" }),
      "tokenizer.json": JSON.stringify({ ...definition, truncation: { max_length: 100 } }),
      "model.safetensors": safetensors({ embeddings: numbersAs("F32", randomRows(6), 6, dimension) }),
    };
    const plain = await embedderOf(files);
    const prompts = JSON.stringify({ prompts: { query: "query ", passage: "passage " } });
    const prompted = await embedderOf({ ...files, "config_sentence_transformers.json": prompts });
    const [asked] = (await prompted.embed(["cat"], { purpose: "query" })).vectors;
    const [stored] = (await prompted.embed(["cat"])).vectors;
    expect((await plain.embed(["query cat", "passage cat"])).vectors).toEqual([asked, stored]);
    expect([plain.maxInputTokens, prompted.maxInputTokens]).toEqual([100, 99]);
    expect(prompted.space).not.toBe(plain.space);
  });

  test("its space is that of its content, wherever its folder is", async () => {
    const files = (seed: number) => ({
      "m/config.json": JSON.stringify({ model_type: "model2vec" }),
      "m/tokenizer.json": JSON.stringify(wholeWords(["cat"])),
      "m/model.safetensors": safetensors({ embeddings: numbersAs("F32", [1, 2, 3, 4, 5, seed], 3, 2) }),
    });
    const folder = await temporaryFolder(files(6));
    await cp(join(folder, "m"), join(folder, "elsewhere"), { recursive: true });
    const spaceOf = async (path: string) => (await folderEmbedder(path, tokenizerFile)).space;
    expect(await spaceOf(join(folder, "elsewhere"))).toBe(await spaceOf(join(folder, "m")));
    expect(await spaceOf(join(await temporaryFolder(files(7)), "m"))).not.toBe(await spaceOf(join(folder, "m")));
  });
});

describe("a damaged static model", () => {
  const whole = {
    "config.json": JSON.stringify({ model_type: "model2vec" }),
    "tokenizer.json": JSON.stringify(wholeWords(["cat"])),
    "model.safetensors": safetensors({ embeddings: numbersAs("F32", randomRows(3), 3, dimension) }),
  };
  const three = numbersAs("F32", randomRows(3), 3, dimension);
  const entry = (fields: object) =>
    tensorFile(
      JSON.stringify({ embeddings: { dtype: "F32", shape: [3, 2], data_offsets: [0, 24], ...fields } }),
      new Uint8Array(24),
    );

  test.each<[string, Readonly<Record<string, string | Uint8Array | undefined>>, RegExp]>([
    ["tensors", { "model.safetensors": undefined }, /model\.safetensors cannot be read/],
    ["a tokenizer", { "tokenizer.json": undefined }, /without its tokenizer\.json/],
    ["bytes", { "model.safetensors": new Uint8Array(5) }, /5 bytes long/],
    ["its header's end", { "model.safetensors": tensorFile(" ".repeat(90)).slice(0, 50) }, /header has 90 bytes/],
    ["a header of JSON", { "model.safetensors": tensorFile("{embeddings") }, /header that is no JSON object/],
    ["an object in the header", { "model.safetensors": tensorFile("[1]") }, /header that is no JSON object/],
    [
      "a tensor of rows",
      { "model.safetensors": safetensors({ other: three }) },
      /no tensor "embeddings".*it has other/,
    ],
    ["a type that is known", { "model.safetensors": entry({ dtype: "F8_E4M3" }) }, /in F8_E4M3: known are/],
    ["a shape", { "model.safetensors": entry({ shape: "3" }) }, /without type, shape and place/],
    ["two dimensions", { "model.safetensors": entry({ shape: [6] }) }, /shape 6, not tokens × dimensions/],
    ["as many bytes as its shape", { "model.safetensors": entry({ shape: [4, 2] }) }, /has 24 bytes.*not 32/],
    ["its last bytes", { "model.safetensors": entry({ data_offsets: [24, 48] }) }, /ends before.*24 of 48 bytes/],
    ["a row for each token", { "tokenizer.json": JSON.stringify(wholeWords(["a", "b"])) }, /rows for 3 tokens.*id 3/],
    [
      "a weight for each token",
      { "model.safetensors": safetensors({ embeddings: three, weights: numbersAs("F32", [1, 2], 2) }) },
      /2 weights for 3 tokens/,
    ],
    [
      "rows that its mapping names",
      { "model.safetensors": safetensors({ embeddings: three, mapping: numbersAs("I64", [0, 1, 3], 3) }) },
      /maps token 2 to row 3, and has 3 rows/,
    ],
    [
      "a tokenizer of a known kind",
      { "tokenizer.json": JSON.stringify({ model: {} }) },
      /no tokenizer\.json that can be used/,
    ],
    [
      "its own folder",
      { "modules.json": JSON.stringify([{ type: "sentence_transformers.models.StaticEmbedding", path: "../m" }]) },
      /outside the model's own/,
    ],
    [
      "modules that are known",
      {
        "modules.json": JSON.stringify(
          ["StaticEmbedding", "Dense"].map((name) => ({ type: `sentence_transformers.models.${name}`, path: "" })),
        ),
      },
      /module Dense behind StaticEmbedding/,
    ],
  ])("without %s is refused in one sentence that says so", async (_, files, message) => {
    const given = Object.entries({ ...whole, ...files }).filter(([, content]) => content !== undefined);
    const opened = embedderOf(Object.fromEntries(given));
    await expect(opened).rejects.toMatchObject({ name: "OptionsError", message });
    await expect(opened).rejects.toMatchObject({ message: expect.not.stringContaining("\n") });
  });
});

describe("ids of remembered words", () => {
  const pieces = fc.oneof(
    fc.constantFrom(
      ...words,
      "Naïve",
      "[UNK]",
      "[PAD]",
      "中文",
      "☃",
      "the",
      "...",
      "don't",
      "\u200b",
      "ﬁ",
      "İ",
      "Σ",
      "e\u0301",
    ),
    fc.string({ unit: "grapheme", maxLength: 6 }),
  );
  const gaps = fc.constantFrom(" ", "  ", "\n", "\t", "\r\n", " \n ", "\u00a0", "\u3000", "", "\ufeff");
  const written = fc.array(fc.tuple(gaps, pieces), { maxLength: 12 }).map((parts) => parts.flat().join(""));

  /** The same with a piece of two words. */
  function crossing({ model, ...others }: ReturnType<typeof unigrams>) {
    return { ...others, model: { ...model, vocab: [...model.vocab, ["▁the▁cat", -1]] } };
  }

  test.each<[string, object]>([
    ["pieces of words", wordPieces(words)],
    ["whole words", wholeWords(words)],
    ["pieces with scores", unigrams(words)],
    ["pieces with scores, split first", unigrams(words, true)],
    ["pieces with scores that go on over spaces", crossing(unigrams(words))],
    ["pieces with scores, line ends kept", { ...unigrams(words), normalizer: null }],
    ["pairs of bytes", bytePairs()],
    [
      "an added word that is looked for in normalized text",
      {
        ...wordPieces(words),
        added_tokens: [
          ...wordPieces(words).added_tokens,
          { id: 40, content: "cat sat", special: false, normalized: true },
        ],
      },
    ],
  ])("are those of the whole text: %s", async (_, definition) => {
    const whole = new Tokenizer(definition, {});
    const tokenizer = await modelTokenizer("tokenizer.json", JSON.stringify(definition));
    const remembered = new WordIds(tokenizer, TokenizerDefinition.parse(definition));
    const idsOf = (text: string) => {
      const found: number[] = [];
      remembered.scan(text, (ids) => found.push(...ids));
      return found;
    };
    const wanted = (text: string) => {
      const ids: readonly (number | undefined)[] = whole.encode(text, { add_special_tokens: false }).ids;
      return ids.filter((id) => id !== undefined);
    };
    for (const text of texts) expect(idsOf(text)).toEqual(wanted(text));
    fc.assert(
      fc.property(written, (text) => {
        expect(idsOf(text)).toEqual(wanted(text));
        const { ends, tokens } = remembered.measure(text);
        expect(tokens.at(-1) ?? 0).toBe(remembered.count(text));
        expect(ends.at(-1) ?? 0).toBe(text.length);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a static model made of a collection", () => {
  // Words of one subject are used together; no page has all of them.
  const subjects = {
    cars: ["car", "automobile", "engine", "wheel", "road", "driver", "brake", "garage"],
    bread: ["bread", "loaf", "flour", "oven", "baker", "yeast", "dough", "crust"],
    ships: ["ship", "vessel", "harbour", "sail", "captain", "anchor", "deck", "mast"],
  };
  const random = seededRandom(3);
  const page = (subject: keyof typeof subjects, without?: string, length = 12) =>
    Array.from({ length }, () => subjects[subject][Math.floor(random() * 8)]!).filter((word) => word !== without);
  const kinds = Object.keys(subjects) as (keyof typeof subjects)[];
  // Four pages for each direction of the model: three directions, as there are subjects.
  const training = Array.from({ length: 12 }, (_, at) => page(kinds[at % 3]!, undefined, 40));

  function latentModelFiles(): Readonly<Record<string, string | Uint8Array>> {
    const steps = trainLatentModel(
      training.map((found) => {
        const counts = new Map<string, number>();
        for (const word of found) counts.set(word, (counts.get(word) ?? 0) + 1);
        return counts;
      }),
    );
    let step = steps.next();
    while (!step.done) step = steps.next();
    const { numbers, places, dimension: width } = step.value;
    const known = [...numbers.keys()];
    const rows = [...Array.from({ length: 2 * width }, () => 0), ...places];
    return {
      "model/config.json": JSON.stringify({ model_type: "model2vec", normalize: true }),
      "model/tokenizer.json": JSON.stringify(wholeWords(known)),
      "model/model.safetensors": safetensors({ embeddings: numbersAs("F32", rows, known.length + 2, width) }),
    };
  }

  test("is indexed with and searched by --model-folder's way, and brings pages of the subject first that lack the word", async () => {
    const folder = await temporaryFolder(latentModelFiles());
    const open = () =>
      openKnowledgeBase({
        path: join(folder, "store"),
        models: { embedding: { folder: join(folder, "model") } },
      });
    const first = await open();
    const report = await first.ingest(
      kinds.flatMap((kind) =>
        Array.from({ length: 5 }, (_, at) => ({ uri: `${kind}/${at}`, text: page(kind, subjects[kind][1]).join(" ") })),
      ),
    );
    expect(report.documents).toMatchObject({ added: 15, failed: 0 });
    await first.close();
    const kb = await open();
    onTestFinished(() => kb.close());
    for (const kind of kinds) {
      const { hits } = await kb.search(subjects[kind][1]!, { mode: "dense", count: 5 });
      expect(hits.map(({ uri }) => uri.split("/")[0])).toEqual(Array.from({ length: 5 }, () => kind));
    }
    expect((await kb.search("unheard", { mode: "hybrid" })).hits.length).toBeGreaterThan(0);
  });

  test("is served by the local service, with vectors of length 1", async () => {
    const folder = await temporaryFolder(latentModelFiles());
    const service = await startLocalService({ modelsFolder: folder });
    onTestFinished(() => service.close());
    const { status, body } = await post(service, paths.embeddings, { model: "model", input: ["car road", "ship"] });
    const { data } = body as { readonly data: readonly { readonly embedding: readonly number[] }[] };
    expect(status).toBe(200);
    for (const { embedding } of data) expect(Math.hypot(...embedding)).toBeCloseTo(1, 5);
    const { embed } = await folderEmbedder(join(folder, "model"), tokenizerFile);
    const { vectors } = await embed(["car road"]);
    expectNear(vectors[0], data[0]!.embedding);
  });

  test("a store of one model refuses another of the same shape", async () => {
    const files = latentModelFiles();
    const bytes = Buffer.from(files["model/model.safetensors"] as Uint8Array);
    bytes.writeFloatLE(0.25, bytes.length - 4);
    const folder = await temporaryFolder({
      ...files,
      "other/config.json": files["model/config.json"]!,
      "other/tokenizer.json": files["model/tokenizer.json"]!,
      "other/model.safetensors": bytes,
    });
    const open = (name: string) =>
      openKnowledgeBase({ path: join(folder, "store"), models: { embedding: { folder: join(folder, name) } } });
    const kb = await open("model");
    await kb.ingest([{ uri: "a", text: "car" }]);
    await kb.close();
    await expect(open("other")).rejects.toMatchObject({ code: "space" });
  });
});
