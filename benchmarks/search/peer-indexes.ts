import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Contender } from "../runner/benchmark.js";
import { loadPeer } from "../runner/packages.js";
import type { MadeWrite, SearchIndex, SearchSubject } from "./search-index.js";

interface Passage {
  readonly id: string;
  readonly text: string;
  readonly vector: Float32Array;
}

/** The part of an index that differs between peers. */
type PeerIndex = Omit<SearchIndex, "write" | "weigh"> & {
  readonly add: (passages: readonly Passage[]) => Promise<void>;
};

function peer(
  name: string,
  packages: readonly string[],
  make: (dimension: number) => Promise<PeerIndex>,
  kind: "peer" | "limit" = "peer",
): Contender<SearchSubject> {
  const indexed = async (dimension: number): Promise<SearchIndex> => {
    const emptyBytes = residentBytes();
    const index = await make(dimension);
    return {
      ...index,
      write: (write) => index.add(passagesOf(write)),
      weigh: async () => ({ residentBytes: residentBytes(), emptyBytes }),
    };
  };
  return { name, kind, packages, load: async () => ({ make: indexed }) };
}

function residentBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}

/** The vectors of a made corpus are in the order of its chunks. */
function passagesOf({ documents, vectors }: MadeWrite): readonly Passage[] {
  const made = vectors.values();
  return documents.flatMap(({ chunks }) =>
    chunks.map(({ id, text }) => ({ id, text, vector: made.next().value as Float32Array })),
  );
}

interface LangChainStores {
  readonly HNSWLib: new (
    embeddings: object,
    options: { readonly space: "cosine"; readonly numDimensions: number },
  ) => {
    readonly index: { setEf(ef: number): void };
    addVectors(
      vectors: number[][],
      documents: { pageContent: string; metadata: { readonly id: string } }[],
    ): Promise<void>;
    similaritySearchVectorWithScore(
      query: number[],
      k: number,
    ): Promise<[{ readonly metadata: { readonly id: string } }, number][]>;
  };
}

async function langChain(dimension: number): Promise<PeerIndex> {
  const { HNSWLib } = await loadPeer<LangChainStores>("@langchain/community/vectorstores/hnswlib");
  const store = new HNSWLib({}, { space: "cosine", numDimensions: dimension });
  return {
    add: (passages) =>
      store.addVectors(
        passages.map(({ vector }) => Array.from(vector)),
        passages.map(({ id, text }) => ({ pageContent: text, metadata: { id } })),
      ),
    dense: async ({ vector }, count) => {
      const nearest = await store.similaritySearchVectorWithScore(Array.from(vector), count);
      return nearest.map(([{ metadata }]) => metadata.id);
    },
    setEf: (ef) => store.index.setEf(ef),
  };
}

/** The bare graph with its own defaults, that keeps ids and nothing else. */
async function hnswlib(dimension: number): Promise<PeerIndex> {
  // A module of CommonJS, whose exports are those of its default.
  const { default: library } = await loadPeer<{ readonly default: typeof import("hnswlib-node") }>("hnswlib-node");
  const graph = new library.HierarchicalNSW("cosine", dimension);
  graph.initIndex({ maxElements: 1024, m: 16, efConstruction: 200 });
  const ids: string[] = [];
  return {
    add: async (passages) => {
      for (const { id, vector } of passages) {
        if (ids.length === graph.getMaxElements()) graph.resizeIndex(2 * ids.length);
        graph.addPoint(Array.from(vector), ids.push(id) - 1);
      }
    },
    dense: async ({ vector }, count) =>
      graph.searchKnn(Array.from(vector), count).neighbors.map((label) => ids[label]!),
    setEf: (ef) => graph.setEf(ef),
  };
}

/** Exact search as one would write it: a loop over all vectors, and a sort. */
async function plainLoop(): Promise<PeerIndex> {
  const kept: { readonly id: string; readonly vector: Float32Array }[] = [];
  const similarity = (one: Float32Array, other: Float32Array) => {
    let sum = 0;
    for (let at = 0; at < one.length; at++) sum += one[at]! * other[at]!;
    return sum;
  };
  return {
    add: async (passages) => {
      for (const { id, vector } of passages) {
        const length = Math.sqrt(similarity(vector, vector));
        kept.push({ id, vector: vector.map((component) => component / length) });
      }
    },
    dense: async ({ vector: asked }, count) =>
      kept
        .map(({ id, vector }) => ({ id, near: similarity(asked, vector) }))
        .toSorted((one, other) => other.near - one.near)
        .slice(0, count)
        .map(({ id }) => id),
  };
}

interface Usearch {
  readonly Index: new (options: object) => {
    add(key: bigint, vector: Float32Array): void;
    search(vector: Float32Array, count: number, threads: number): { readonly keys: BigUint64Array };
  };
}

async function usearch(dimension: number): Promise<PeerIndex> {
  const { Index } = await loadPeer<Usearch>("usearch");
  const index = new Index({
    dimensions: dimension,
    metric: "cos",
    quantization: "f32",
    connectivity: 16,
    expansion_add: 200,
    expansion_search: 64,
    multi: false,
  });
  const ids: string[] = [];
  return {
    add: async (passages) => {
      for (const { id, vector } of passages) index.add(BigInt(ids.push(id) - 1), vector);
    },
    dense: async ({ vector }, count) => Array.from(index.search(vector, count, 1).keys, (key) => ids[Number(key)]!),
  };
}

interface LanceTable {
  add(rows: readonly object[]): Promise<unknown>;
  createIndex(column: string, options: { readonly config: unknown }): Promise<void>;
  search(vector: Float32Array): LanceQuery;
}
interface LanceQuery {
  distanceType(type: "cosine"): LanceQuery;
  select(columns: readonly string[]): LanceQuery;
  limit(count: number): LanceQuery;
  toArray(): Promise<readonly { readonly id: string }[]>;
}
interface Lance {
  connect(path: string): Promise<{
    createTable(name: string, rows: readonly object[]): Promise<LanceTable>;
    openTable(name: string): Promise<LanceTable>;
  }>;
  readonly Index: { hnswSq(options: { readonly distanceType: "cosine"; readonly numPartitions: number }): unknown };
}

/** A table on disk with its graph of 8-bit numbers in one partition. */
async function lance(): Promise<PeerIndex> {
  const library = await loadPeer<Lance>("@lancedb/lancedb");
  const path = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  const database = await library.connect(path);
  let table: LanceTable | undefined;
  return {
    reopens: true,
    add: async (passages) => {
      const rows = passages.map(({ id, text, vector }) => ({ id, text, vector: Array.from(vector) }));
      if (table) await table.add(rows);
      else table = await database.createTable("passages", rows);
    },
    finish: async () => {
      await table!.createIndex("vector", {
        config: library.Index.hnswSq({ distanceType: "cosine", numPartitions: 1 }),
      });
      table = undefined;
    },
    dense: async ({ vector }, count) => {
      table ??= await (await library.connect(path)).openTable("passages");
      const query = table.search(vector).distanceType("cosine").select(["id", "_distance"]).limit(count);
      return (await query.toArray()).map(({ id }) => id);
    },
    diskBytes: () =>
      readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0),
    close: async () => rmSync(path, { recursive: true, force: true }),
  };
}

interface MiniSearchModule {
  readonly default: new (options: { readonly fields: readonly string[] }) => {
    addAll(documents: readonly { readonly id: string; readonly text: string }[]): void;
    search(query: string): readonly { readonly id: string }[];
  };
}

async function miniSearch(): Promise<PeerIndex> {
  const { default: MiniSearch } = await loadPeer<MiniSearchModule>("minisearch");
  const index = new MiniSearch({ fields: ["text"] });
  return {
    add: async (passages) => index.addAll(passages.map(({ id, text }) => ({ id, text }))),
    words: async ({ text }, count) =>
      index
        .search(text)
        .slice(0, count)
        .map(({ id }) => id),
  };
}

interface OramaModule {
  create(options: { readonly schema: object }): object;
  insertMultiple(index: object, documents: readonly object[]): Promise<unknown>;
  search(
    index: object,
    query: { readonly term: string; readonly limit: number },
  ): Promise<{ readonly hits: readonly { readonly document: { readonly id: string } }[] }>;
}

async function orama(): Promise<PeerIndex> {
  const library = await loadPeer<OramaModule>("@orama/orama");
  const index = library.create({ schema: { id: "string", text: "string" } });
  return {
    add: async (passages) => {
      await library.insertMultiple(
        index,
        passages.map(({ id, text }) => ({ id, text })),
      );
    },
    words: async ({ text }, limit) =>
      (await library.search(index, { term: text, limit })).hits.map(({ document }) => document.id),
  };
}

/** Graphs, databases of vectors, and indexes of words; each has only what a program by its documentation would have. */
export const peerContenders: readonly Contender<SearchSubject>[] = [
  peer("hnswlib-node, bare", ["hnswlib-node"], hnswlib, "limit"),
  peer("a plain loop", [], plainLoop, "limit"),
  peer("LangChain.js HNSWLib", ["@langchain/community", "@langchain/core", "hnswlib-node"], langChain),
  peer("usearch", ["usearch"], usearch),
  peer("LanceDB", ["@lancedb/lancedb", "apache-arrow"], lance),
  peer("MiniSearch", ["minisearch"], miniSearch),
  peer("Orama", ["@orama/orama"], orama),
];
