import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Pipeline } from "../../../src/core/pipeline.js";
import { embedQuestion } from "../../../src/stages/questions/embed-question.js";
import { parseSyntax } from "../../../src/stages/questions/parse-syntax.js";
import { rerank } from "../../../src/stages/retrieval/rerank.js";
import { search, type SearchMode } from "../../../src/stages/retrieval/search.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { openStore } from "../../../src/store/open-store.js";
import { collect } from "../../../src/core/stream.js";
import type { Store } from "../../../src/core/ports.js";
import { vectorKey } from "../../../src/text/chunking/chunk-identity.js";
import { conditionCheck } from "../../../src/text/words/phrase-match.js";
import { parseQuery } from "../../../src/text/words/query-syntax.js";
import { terms } from "../../../src/text/words/terms.js";
import type { DocumentChunk, Question } from "../../../src/core/types.js";
import { chunksOf } from "../../support/chunks-of.js";
import { wordEmbedder, wordVector } from "../../support/word-embedder.js";

const vocabulary = "red reds green apple apples pie the sky of 检索 增强 生成 检".split(" ");

/** 400 texts of up to eight words from a small vocabulary, so that most orders of words occur. */
function madeTexts(): string[] {
  let state = 7;
  const next = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
  return [
    ...new Set(
      Array.from({ length: 400 }, () =>
        Array.from({ length: 1 + next(8) }, () => vocabulary[next(vocabulary.length)]).join(" "),
      ),
    ),
  ];
}

let store: Store<"words">;
let folder: string;
let chunks: readonly DocumentChunk[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "citewell-test-"));
  store = await openStore(folder, wordEmbedder());
  chunks = madeTexts().flatMap((text, at) => chunksOf(`d${at}`, text));
  await store.write({
    vectors: new Map(chunks.map((chunk) => [vectorKey(chunk), wordVector(chunk.text)])),
    documents: chunks.map((chunk) => ({ document: chunk.document, chunks: [chunk] })),
  });
});

afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

async function ask(question: string, mode: SearchMode, count = 1000) {
  const embedder = wordEmbedder();
  const read = Pipeline.from<Question>().pipe(parseSyntax());
  const asking =
    mode === "lexical"
      ? read.pipe(search(store, { mode, count }))
      : read.pipe(embedQuestion(embedder)).pipe(search(store, { mode, count }));
  const [retrieved] = await collect(asking.stream([{ question }]));
  return { ...retrieved!, texts: retrieved!.hits.map(({ chunk }) => chunk.text), embedded: embedder.calls };
}

describe("phrases and exclusions", () => {
  const word = fc.constantFrom(...vocabulary);
  const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((all) => all.join(" "));
  const query = fc
    .tuple(words, fc.array(words, { maxLength: 2 }), fc.array(words, { maxLength: 2 }))
    .map(([plain, phrases, not]) =>
      [plain, ...phrases.map((each) => `"${each}"`), ...not.map((each) => `-"${each}"`)].join(" "),
    );

  test("a lexical search finds what a scan of all texts finds", async () => {
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const { plain, phrases, not } = parseQuery(text);
        const refuse = conditionCheck({ phrases, not });
        const wanted = new Set(terms(plain));
        const scan = chunks.filter(
          (chunk) => terms(chunk.text).some((term) => wanted.has(term)) && refuse?.(chunk) === undefined,
        );
        const { texts } = await ask(text, "lexical");
        expect(texts.toSorted()).toEqual(scan.map((chunk) => chunk.text).toSorted());
      }),
      { numRuns: 60 },
    );
  });

  test.each<SearchMode>(["dense", "lexical", "hybrid"])("hold for every hit of a %s search", async (mode) => {
    const { texts, hits } = await ask('apple "red apple" -sky -"the pie"', mode, 20);
    expect(texts.length).toBeGreaterThan(3);
    for (const text of texts) {
      expect(text).toContain("red apple");
      expect(text).not.toMatch(/sky|the pie/);
    }
    expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).toSorted((a, b) => b - a));
  });

  test("an exclusion alone does not change the order of a hybrid search", async () => {
    const all = await ask("green apple", "lexical");
    const some = await ask("green apple -pie", "lexical");
    expect(some.texts).toEqual(all.texts.filter((text) => !text.includes("pie")));
  });

  test.each<[string, string]>([
    ["-sky", "sky"],
    ['-"the pie" -sky', "the pie"],
    ["－sky …", "sky"],
  ])("%s leaves nothing to look for, and says how to go on, in every mode", async (question, first) => {
    const message = `search: ${JSON.stringify(question)} only excludes. Add a word to look for; to look for ${first} itself, put it in quotes`;
    for (const mode of ["dense", "lexical", "hybrid"] as const) {
      await expect(ask(question, mode)).rejects.toMatchObject({ name: "OptionsError", option: "question", message });
    }
    const kb = await openKnowledgeBase({ store, embedder: wordEmbedder() });
    await expect(kb.search(question)).rejects.toThrow(message);
    expect((await kb.search(question, { syntax: false })).hits.length).toBeGreaterThan(0);
    expect((await kb.search('"sky"')).hits[0]!.chunk.text).toContain("sky");
  });

  test("the trace names each refused chunk with the reason", async () => {
    const { trace, hits } = await ask('red "red apple" -pie', "hybrid", 5);
    const kept = new Set(hits.map(({ chunk }) => chunk.id));
    const reasons = new Set(trace[0]!.dropped.map(({ reason }) => reason));
    expect(reasons).toContain('does not hold the phrase "red apple"');
    expect(reasons).toContain('holds "pie", which the query excludes');
    expect(trace[0]!.dropped.filter(({ chunkId }) => kept.has(chunkId))).toEqual([]);
  });

  test("the embedder and the reranker get the plain words", async () => {
    const { embedded } = await ask('red "green apple" -pie', "hybrid");
    expect(embedded).toEqual([["red green apple"]]);
    const queries: string[] = [];
    const reranker = {
      model: "keeps",
      rerank: async (asked: string) => {
        queries.push(asked);
        return { results: [], tokens: 0 };
      },
    };
    await collect(
      Pipeline.from<Question>()
        .pipe(parseSyntax())
        .pipe(search(store, { mode: "lexical" }))
        .pipe(rerank(reranker))
        .stream([{ question: 'red "green apple" -pie' }]),
    );
    expect(queries).toEqual(["red green apple"]);
  });

  test("a phrase that occurs nowhere finds nothing", async () => {
    for (const mode of ["dense", "lexical", "hybrid"] as const) {
      expect((await ask('red "pie sky green the of red"', mode)).texts).toEqual([]);
    }
  });

  test("Chinese phrases are matched character by character", async () => {
    const { texts } = await ask("「检索」", "lexical", 400);
    expect(texts.toSorted()).toEqual(
      chunks
        .map(({ text }) => text)
        .filter((text) => text.includes("检索"))
        .toSorted(),
    );
  });
});
