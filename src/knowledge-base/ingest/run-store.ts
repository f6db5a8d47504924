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

/**
 * All documents of a store, which a run has to see also where reading requires a scope. The settings are read once and follow
 * the run's own writes: stages ask for them with each document, and the store reads them from its database.
 */
export function runStore(store: Store): RunStore {
  const { document, documentInfo, documents } = store.scoped({ uri: { exists: true } });
  const { metadataSchema } = store;
  let { settings = {}, tokenMargin = 1 } = store;
  return {
    space: store.space,
    // These change as the run goes on.
    get dimension() {
      return store.dimension;
    },
    get settings() {
      return settings;
    },
    get tokenMargin() {
      return tokenMargin;
    },
    ...(metadataSchema && { metadataSchema }),
    document,
    documentInfo,
    documents,
    notes: async (uris) => (await store.notes?.(uris)) ?? new Map<string, string>(),
    knownVectors: (keys) => store.knownVectors(keys),
    write: async (write) => {
      const written = await store.write(write);
      const merged = Object.entries({ ...settings, ...write.settings });
      settings = Object.fromEntries(merged.filter(([, value]) => value !== null));
      tokenMargin = Math.max(tokenMargin, write.tokenMargin ?? 1);
      return written;
    },
    deleteDocuments: (uris) => store.deleteDocuments(uris),
  };
}
