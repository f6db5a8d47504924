import type { Store } from "../ports.js";

type Dry<Space extends string> = Pick<
  Store<Space>,
  "space" | "document" | "documentInfo" | "documents" | "knownVectors" | "write" | "deleteDocuments"
>;

/** A store as it is, whose changes are answered as if they were made, and are not. */
export function dryStore<Space extends string>(store: Dry<Space>): Dry<Space> {
  return {
    space: store.space,
    document: (uri) => store.document(uri),
    documentInfo: (uri) => store.documentInfo(uri),
    documents: (filter) => store.documents(filter),
    knownVectors: (keys) => store.knownVectors(keys),
    write: ({ documents = [] }) =>
      Promise.all(
        documents.map(async ({ document: { uri }, chunks }) => {
          const stored = await store.documentInfo(uri);
          const deletedChunks = Math.max(0, (stored?.chunks ?? 0) - chunks.length);
          return {
            uri,
            outcome: stored ? ("updated" as const) : ("added" as const),
            chunks: chunks.length,
            deletedChunks,
          };
        }),
      ),
    deleteDocuments: async (uris) => {
      const stored = await Promise.all(uris.map((uri) => store.documentInfo(uri)));
      const there = stored.filter((info) => info !== undefined);
      return { documents: there.length, chunks: there.reduce((sum, { chunks }) => sum + chunks, 0) };
    },
  };
}
