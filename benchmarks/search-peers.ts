import { loadPeer } from "./peers.js";
import type { Asked } from "./search-corpus.js";

interface Passage {
  readonly id: string;
  readonly text: string;
  readonly vector: Float32Array;
}

/** A peer that holds the passages and finds the ids of the nearest ones. */
export interface PeerIndex {
  readonly name: string;
  readonly kind: "dense" | "lexical";
  readonly add: (passages: readonly Passage[]) => Promise<void>;
  readonly find: (query: Asked, count: number) => Promise<readonly string[]>;
  /** Candidates that its graph considers; the wrapper keeps the library's default of 10. */
  readonly setEf?: (ef: number) => void;
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

interface MiniSearchModule {
  readonly default: new (options: { readonly fields: readonly string[] }) => {
    addAll(documents: readonly { readonly id: string; readonly text: string }[]): void;
    search(query: string): readonly { readonly id: string }[];
  };
}

/** The installed peers, empty. Each is used as its documentation shows, with its defaults. */
export async function peerIndexes(dimension: number): Promise<readonly PeerIndex[]> {
  const found: PeerIndex[] = [];
  const langChain = await loadPeer<LangChainStores>("@langchain/community/vectorstores/hnswlib");
  if (langChain) {
    const store = new langChain.HNSWLib({}, { space: "cosine", numDimensions: dimension });
    found.push({
      name: "LangChain.js HNSWLib",
      kind: "dense",
      add: (passages) =>
        store.addVectors(
          passages.map(({ vector }) => Array.from(vector)),
          passages.map(({ id, text }) => ({ pageContent: text, metadata: { id } })),
        ),
      find: async ({ vector }, count) => {
        const nearest = await store.similaritySearchVectorWithScore(Array.from(vector), count);
        return nearest.map(([{ metadata }]) => metadata.id);
      },
      setEf: (ef) => store.index.setEf(ef),
    });
  }
  const miniSearch = await loadPeer<MiniSearchModule>("minisearch");
  if (miniSearch) {
    const index = new miniSearch.default({ fields: ["text"] });
    found.push({
      name: "MiniSearch",
      kind: "lexical",
      add: async (passages) => index.addAll(passages.map(({ id, text }) => ({ id, text }))),
      find: async ({ text }, count) =>
        index
          .search(text)
          .slice(0, count)
          .map(({ id }) => id),
    });
  }
  return found;
}
