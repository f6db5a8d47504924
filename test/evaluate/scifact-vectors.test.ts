// In test:all alone: it indexes 5,183 abstracts, for 17 s.
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openCollection, type Collection } from "../../src/evaluate/collection.js";
import { evaluate, type Evaluation, rankDocuments } from "../../src/evaluate/evaluate.js";
import { Pipeline } from "../../src/core/pipeline.js";
import type { Embedder, StoreCounts } from "../../src/core/ports.js";
import { chunk } from "../../src/stages/indexing/chunk.js";
import { embedChunks } from "../../src/stages/indexing/embed-chunks.js";
import { embedQuestion } from "../../src/stages/questions/embed-question.js";
import { search, type SearchMode } from "../../src/stages/retrieval/search.js";
import { store } from "../../src/stages/indexing/store.js";
import { openStore } from "../../src/store/open-store.js";
import { collect } from "../../src/core/stream.js";
import type { Document, Question } from "../../src/core/types.js";
import { root } from "../support/citewell.js";
import { scifactVectors } from "../support/scifact-vectors.js";

const folder = join(root, "../shared/data/scifact");
const absent = !existsSync(join(folder, "vectors/corpus.f32"));
if (absent) console.warn(`skipped: no vectors of SciFact at ${folder}`);

describe.skipIf(absent)("SciFact with real vectors, an abstract a chunk", () => {
  let path: string;
  let collection: Collection;
  let embedder: Embedder<"minilm-128">;
  let stored: StoreCounts;
  beforeAll(async () => {
    path = await mkdtemp(join(tmpdir(), "citewell-test-"));
    collection = await openCollection(folder);
    embedder = await scifactVectors(folder, collection);
    const kb = await openStore(path, embedder, { index: "hnsw" });
    const indexing = Pipeline.from<Document>()
      .pipe(chunk({ for: embedder, maxTokens: 8192, parentTokens: 0 }))
      .pipe(embedChunks(embedder))
      .pipe(store(kb));
    await collect(indexing.stream(collection.documents()));
    stored = await kb.counts();
    await kb.close();
  }, 120_000);
  afterAll(() => rm(path, { recursive: true, force: true }));

  async function measure(mode: SearchMode, index: "flat" | "hnsw"): Promise<Evaluation> {
    const kb = await openStore(path, embedder, { index });
    try {
      const ask = (count: number) =>
        Pipeline.from<Question>().pipe(embedQuestion(embedder)).pipe(search(kb, { mode, count }));
      return await evaluate(collection.queries, async ({ text }) => {
        const ranked = await rankDocuments(
          async (limit) => (await collect(ask(limit).stream([{ question: text }])))[0]!.hits,
          100,
        );
        return ranked.map(collection.documentId);
      });
    } finally {
      await kb.close();
    }
  }

  test(
    "hybrid is better than either side alone, and the graph as good as comparing all",
    { timeout: 120_000 },
    async () => {
      expect(stored).toMatchObject({ documents: 5183, chunks: 5183 });
      const exact = (await measure("dense", "flat")).metrics;
      const graph = (await measure("dense", "hnsw")).metrics;
      const lexical = (await measure("lexical", "flat")).metrics;
      const hybrid = (await measure("hybrid", "hnsw")).metrics;
      // The vectors' own figure is 0.6104: less would mean that a vector met another text than its own.
      expect(exact["ndcg@10"]).toBeCloseTo(0.6104, 3);
      expect(Math.abs(graph["ndcg@10"] - exact["ndcg@10"])).toBeLessThanOrEqual(0.002);
      // Weights and method of fusing were chosen on the training queries.
      expect(hybrid["ndcg@10"]).toBeGreaterThanOrEqual(0.735);
      expect(hybrid["ndcg@10"]).toBeGreaterThan(lexical["ndcg@10"]);
      expect(hybrid["ndcg@10"]).toBeGreaterThan(exact["ndcg@10"]);
      expect(hybrid["recall@100"]).toBeGreaterThan(Math.max(lexical["recall@100"], exact["recall@100"]));
    },
  );
});
