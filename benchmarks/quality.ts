import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { openKnowledgeBase } from "citewell";
import { type Collection, evaluate, openCollection, rankDocuments } from "citewell/evaluate";
import type { spread as Spread } from "../src/evaluate/collection.js";
import { aimsOf } from "./aims.js";
import { PlainBm25 } from "./quality/plain-bm25.js";
import type { Benchmark, Contender, RunContext } from "./runner/benchmark.js";
import { loadPeer } from "./runner/packages.js";
import { shipped } from "./runner/project.js";
import { firstDocuments } from "./shared/first-documents.js";

/** Ranks the documents of a collection, best first, by their ids; or knows what another program measured. */
type Subject =
  | { readonly index: (collection: Collection) => Promise<Ranking> }
  | { readonly known: Readonly<Record<string, number>> };

interface Ranking {
  readonly rank: (question: string) => Promise<readonly string[]>;
  readonly close?: () => Promise<void>;
}

const bm25OfTheNotes = {
  scifact: 0.6827,
  cranfield: 0.5178,
  squad: 0.8842,
  cmrc2018: 0.9843,
  med: 0.69,
  cisi: 0.38,
  npl: 0.432,
  dureader: 0.77,
} as const;

const modes = ["dense", "lexical", "hybrid"] as const;
const depth = 100;
const names = ["scifact", "cranfield", "squad", "cmrc2018", "med", "cisi", "npl", "dureader"];

export const benchmark: Benchmark<Subject> = {
  name: "quality",
  question: "How well are relevant documents ranked, without a model from elsewhere?",
  method:
    "Collections in the layout of BEIR, read from a folder that is one or holds some. nDCG@10 over the judged queries (evenly " +
    "spread where `queries` is less than there are; 0 asks all, and 0 documents are all), and half of its 95 % interval. citewell with its " +
    "defaults and the local service: embeddings of words, no weights. Reranked: the best 100 passages. Plain BM25 has k1 1.2 and " +
    "b 0.75, or 0.9 and 0.4, Porter's stems, Lucene's stop words and pairs of Chinese characters; the collections' notes give what such a program got over " +
    "all queries. MiniSearch and Orama with their defaults; neither has a tokenizer for Chinese by default. Local embeddings share words with the lexical index, so what hybrid " +
    "adds here is less than with a model. How weights were chosen, and what they are worth on a collection that was left out, is in quality/README.md.",
  contenders: [
    ...modes.map((mode) => ours(mode)),
    ours("hybrid", true),
    plainBm25("plain BM25", 1.2, 0.75),
    plainBm25("plain BM25, 0.9 and 0.4", 0.9, 0.4),
    miniSearch(),
    orama(),
    {
      name: "BM25 of the notes",
      kind: "limit",
      load: async () => ({ known: bm25OfTheNotes }),
    },
  ],
  beside: "plain BM25",
  measures: Object.fromEntries(
    [...names, "own"].flatMap((name) => [
      [name, { unit: "nDCG@10", better: "higher" }],
      [`${name} ±`, { unit: "nDCG@10", better: "lower" }],
    ]),
  ),
  sizes: {
    smoke: { queries: 20, collections: 1, documents: 200 },
    usual: { queries: 500, collections: 8, documents: 0 },
  },
  rounds: 1,
  aims: aimsOf("quality"),
  corpus: "collection",
  unavailable: (corpus) =>
    collectionsIn(corpus).length > 0 ? undefined : `${corpus} holds no corpus.jsonl; name a collection with --corpus`,
  measure: measureRanking,
};

function collectionsIn(folder: string): readonly string[] {
  const isCollection = (path: string) => existsSync(join(path, "corpus.jsonl")) && existsSync(join(path, "qrels"));
  if (isCollection(folder)) return [folder];
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter(isCollection)
    .toSorted((one, other) => names.indexOf(basename(one)) - names.indexOf(basename(other)));
}

async function measureRanking(subject: Subject, { size, corpus, timed }: RunContext<undefined>) {
  const { spread } = await shipped<{ readonly spread: typeof Spread }>("evaluate/collection.js");
  const measures: Record<string, number> = {};
  for (const folder of collectionsIn(corpus).slice(0, size["collections"])) {
    const name = names.includes(basename(folder)) ? basename(folder) : "own";
    if ("known" in subject) {
      const known = subject.known[name];
      if (known !== undefined) measures[name] = known;
      continue;
    }
    const collection = firstDocuments(await openCollection(folder), size["documents"] || Infinity);
    const queries = spread(collection.queries, size["queries"] || Infinity);
    const { result } = await timed(async () => {
      const { rank, close } = await subject.index(collection);
      const evaluation = await evaluate(queries, ({ text }) => rank(text));
      await close?.();
      return evaluation;
    });
    const [low, high] = result.intervals["ndcg@10"];
    measures[name] = result.metrics["ndcg@10"];
    measures[`${name} ±`] = (high - low) / 2;
  }
  return measures;
}

function ours(mode: (typeof modes)[number], reranked = false): Contender<Subject> {
  const index = async (collection: Collection): Promise<Ranking> => {
    const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
    const kb = await openKnowledgeBase({ path: folder });
    await kb.ingest(collection.documents());
    const more = reranked ? { topN: depth } : {};
    return {
      rank: async (question) => {
        const find = async (count: number) =>
          (await kb.search(question, { mode, syntax: false, count: reranked ? depth : count, ...more })).hits;
        return (await rankDocuments(find, depth)).map(collection.documentId);
      },
      close: async () => {
        await kb.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  };
  return { name: `citewell, ${mode}${reranked ? " reranked" : ""}`, kind: "citewell", load: async () => ({ index }) };
}

function plainBm25(name: string, k1: number, b: number): Contender<Subject> {
  const index = async (collection: Collection): Promise<Ranking> => {
    const made = new PlainBm25(k1, b);
    for (const { id, title, text } of await textsOf(collection)) made.add(id, `${title} ${text}`);
    return { rank: async (question) => made.search(question, depth).map(([id]) => id) };
  };
  return { name, kind: "limit", load: async () => ({ index }) };
}

async function textsOf({ documents, documentId }: Collection) {
  const texts: { readonly id: string; readonly title: string; readonly text: string }[] = [];
  for await (const { uri, title = "", text } of documents()) texts.push({ id: documentId(uri), title, text });
  return texts;
}

interface MiniSearchModule {
  readonly default: new (options: { readonly fields: readonly string[] }) => {
    addAll(documents: readonly object[]): void;
    search(query: string): readonly { readonly id: string }[];
  };
}

function miniSearch(): Contender<Subject> {
  const index = async (collection: Collection): Promise<Ranking> => {
    const { default: MiniSearch } = await loadPeer<MiniSearchModule>("minisearch");
    const made = new MiniSearch({ fields: ["title", "text"] });
    made.addAll(await textsOf(collection));
    return {
      rank: async (question) =>
        made
          .search(question)
          .map(({ id }) => id)
          .slice(0, depth),
    };
  };
  return { name: "MiniSearch", kind: "peer", packages: ["minisearch"], load: async () => ({ index }) };
}

interface OramaModule {
  readonly create: (options: { readonly schema: object }) => object;
  readonly insertMultiple: (index: object, documents: readonly object[]) => Promise<unknown>;
  readonly search: (
    index: object,
    query: { readonly term: string; readonly limit: number },
  ) => Promise<{ readonly hits: readonly { readonly document: { readonly id: string } }[] }>;
}

function orama(): Contender<Subject> {
  const index = async (collection: Collection): Promise<Ranking> => {
    const { create, insertMultiple, search } = await loadPeer<OramaModule>("@orama/orama");
    const made = create({ schema: { id: "string", title: "string", text: "string" } });
    await insertMultiple(made, await textsOf(collection));
    return {
      rank: async (term) => (await search(made, { term, limit: depth })).hits.map(({ document }) => document.id),
    };
  };
  return { name: "Orama", kind: "peer", packages: ["@orama/orama"], load: async () => ({ index }) };
}
