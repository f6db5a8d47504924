import type { Metadata, StoreWrite } from "citewell";
import { loadPeer } from "./peers.js";

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

/** LangChain.js's store on PostgreSQL, as its documentation shows it: a table, and a graph with our parameters, then the writes. */
export interface PgvectorPeer {
  readonly write: (write: StoreWrite) => Promise<void>;
  /** Number of results. */
  readonly find: (vector: Float32Array, count: number, filter?: Metadata) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** `undefined` if the peers are not installed. */
export async function openPgvectorPeer(url: string, dimension: number): Promise<PgvectorPeer | undefined> {
  const peer = await loadPeer<PeerModule>("@langchain/community/vectorstores/pgvector");
  if (!peer) return undefined;
  const store = await peer.PGVectorStore.initialize(
    {},
    {
      postgresConnectionOptions: { connectionString: url },
      tableName: "peer",
      distanceStrategy: "cosine",
      dimensions: dimension,
    },
  );
  await store.createHnswIndex({ dimensions: dimension, m: 16, efConstruction: 100 });
  return {
    write: async ({ documents = [], vectors = new Map() }) => {
      // The vectors of a made corpus are in the order of its chunks.
      const chunks = documents.flatMap(({ document, chunks: some }) =>
        some.map(({ text }) => ({ pageContent: text, metadata: document.metadata ?? {} })),
      );
      await store.addVectors(
        [...vectors.values()].map((vector) => Array.from(vector as Float32Array)),
        chunks,
      );
    },
    find: async (vector, count, filter) =>
      (await store.similaritySearchVectorWithScore(Array.from(vector), count, filter)).length,
    close: () => store.end(),
  };
}
