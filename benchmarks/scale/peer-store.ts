import type { Metadata } from "citewell";
import type { Contender } from "../runner/benchmark.js";
import { loadPeer } from "../runner/packages.js";
import type { OpenScaled } from "./scaled-store.js";

interface PeerStore {
  createHnswIndex(options: {
    readonly dimensions: number;
    readonly m: number;
    readonly efConstruction: number;
  }): Promise<void>;
  addVectors(
    vectors: number[][],
    documents: { readonly pageContent: string; readonly metadata: Metadata }[],
  ): Promise<void>;
  similaritySearchVectorWithScore(query: number[], k: number, filter?: Metadata): Promise<readonly unknown[]>;
  end(): Promise<void>;
}

interface PeerModule {
  readonly PGVectorStore: {
    initialize(
      embeddings: object,
      config: {
        readonly postgresConnectionOptions: { readonly connectionString: string };
        readonly tableName: string;
        readonly distanceStrategy: "cosine";
        readonly dimensions: number;
      },
    ): Promise<PeerStore>;
  };
}

/**
 * LangChain.js's store on PostgreSQL: a table, which has no graph unless it is asked for; or, as its documentation shows it, a
 * graph with our parameters before the writes.
 */
const peerStore = (title: string, hasGraph: boolean): Contender<OpenScaled> => ({
  name: title,
  kind: "peer",
  packages: ["@langchain/community", "pg"],
  load: async () => {
    const { PGVectorStore } = await loadPeer<PeerModule>("@langchain/community/vectorstores/pgvector");
    return async ({ url, dimension, name }) => {
      const store = await PGVectorStore.initialize(
        {},
        {
          postgresConnectionOptions: { connectionString: url },
          tableName: `peer_${name}`,
          distanceStrategy: "cosine",
          dimensions: dimension,
        },
      );
      if (hasGraph) await store.createHnswIndex({ dimensions: dimension, m: 16, efConstruction: 100 });
      return {
        write: ({ documents, vectors }) => {
          // The vectors of a made corpus are in the order of its chunks.
          const chunks = documents.flatMap(({ document, chunks: some }) =>
            some.map(({ text }) => ({ pageContent: text, metadata: document.metadata ?? {} })),
          );
          const made = [...vectors.values()].map((vector) => Array.from(vector));
          return store.addVectors(made, chunks);
        },
        dense: async ({ vector }, count, filter) =>
          (await store.similaritySearchVectorWithScore(Array.from(vector), count, filter)).length,
        close: () => store.end(),
      };
    };
  },
});

export const peerStores = [
  peerStore("LangChain.js PGVectorStore", true),
  peerStore("LangChain.js PGVectorStore, no graph", false),
];
