import type { Store } from "../../core/ports.js";

/** The side of a store that ingesting works with. */
export type RunStore = Pick<
  Store,
  | "space"
  | "dimension"
  | "metadataSchema"
  | "settings"
  | "tokenMargin"
  | "document"
  | "documentInfo"
  | "documents"
  | "notes"
  | "knownVectors"
  | "write"
  | "deleteDocuments"
>;

/** All documents of a store, which a run has to see also where reading requires a scope. */
export function runStore(store: Store): RunStore {
  const { document, documentInfo, documents } = store.scoped({ uri: { exists: true } });
  const { metadataSchema } = store;
  return {
    space: store.space,
    // These change as the run goes on.
    get dimension() {
      return store.dimension;
    },
    get settings() {
      return store.settings ?? {};
    },
    get tokenMargin() {
      return store.tokenMargin ?? 1;
    },
    ...(metadataSchema && { metadataSchema }),
    document,
    documentInfo,
    documents,
    notes: async (uris) => (await store.notes?.(uris)) ?? new Map<string, string>(),
    knownVectors: (keys) => store.knownVectors(keys),
    write: (write) => store.write(write),
    deleteDocuments: (uris) => store.deleteDocuments(uris),
  };
}
