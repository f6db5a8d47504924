import { Pipeline } from "../../src/core/pipeline.js";
import type { Embedder, Store } from "../../src/core/ports.js";
import { collect } from "../../src/core/stream.js";
import type { Document, Question } from "../../src/core/types.js";
import { type Collection, spread } from "../../src/evaluate/collection.js";
import { evaluate, rankDocuments } from "../../src/evaluate/evaluate.js";
import { chunk } from "../../src/stages/indexing/chunk.js";
import { embedChunks } from "../../src/stages/indexing/embed-chunks.js";
import { store as writing } from "../../src/stages/indexing/store.js";
import { embedQuestion } from "../../src/stages/questions/embed-question.js";
import { search } from "../../src/stages/retrieval/search.js";

const modes = ["dense", "lexical", "hybrid"] as const;

/** nDCG@10 by mode. */
export type StoreQuality = Readonly<Record<(typeof modes)[number], number>>;

/** Indexes a collection, a document a chunk where it fits, and measures how well the store ranks its documents. */
export async function storeQuality<Space extends string>(
  collection: Collection,
  embedder: Embedder<Space>,
  store: Store<Space>,
  maxQueries = Infinity,
): Promise<StoreQuality> {
  const indexing = Pipeline.from<Document>()
    .pipe(chunk({ for: embedder, maxTokens: 8192, parentTokens: 0 }))
    .pipe(embedChunks(embedder))
    .pipe(writing(store));
  await collect(indexing.stream(collection.documents()));
  const queries = spread(collection.queries, maxQueries);
  const quality: Partial<Record<(typeof modes)[number], number>> = {};
  for (const mode of modes) {
    const ask = (count: number) =>
      Pipeline.from<Question>().pipe(embedQuestion(embedder)).pipe(search(store, { mode, count }));
    const { metrics } = await evaluate(queries, async ({ text }) => {
      const found = async (limit: number) => (await collect(ask(limit).stream([{ question: text }])))[0]!.hits;
      return (await rankDocuments(found, 10)).map(collection.documentId);
    });
    quality[mode] = metrics["ndcg@10"];
  }
  return quality as StoreQuality;
}

/** The same embedder, which embeds each text once. */
export function embeddingOnce<Space extends string>(embedder: Embedder<Space>): Embedder<Space> {
  const known = new Map<string, Float32Array>();
  return {
    ...embedder,
    embed: async (texts, call) => {
      const unknown = [...new Set(texts.filter((text) => !known.has(text)))];
      const reply = unknown.length === 0 ? { tokens: 0 } : await embedder.embed(unknown, call);
      if ("vectors" in reply) for (const [at, vector] of reply.vectors.entries()) known.set(unknown[at]!, vector);
      return { tokens: reply.tokens, vectors: texts.map((text) => known.get(text)!) };
    },
  };
}
