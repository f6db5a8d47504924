import type { Store, StoreWrite } from "../../core/ports.js";

/** The records that a run keeps beside its documents and vectors. */
export interface RunRecords {
  /** Settings and notes to keep in the same transaction as a write. */
  readonly beside: (write: StoreWrite) => Pick<StoreWrite, "settings" | "tokenMargin" | "notes">;
  /** Called with the keys of vectors that were written. */
  readonly written: (keys: Iterable<string>) => void;
}

/** The same store, each of whose writes keeps the run's records as well. */
export function recordingStore<Writing extends Pick<Store, "write">>(store: Writing, records: RunRecords): Writing {
  const write: Store["write"] = async (given) => {
    const written = await store.write({ ...given, ...records.beside(given) });
    if (given.vectors) records.written(given.vectors.keys());
    return written;
  };
  return withWrite(store, write);
}

/** A store of the caller's may be a class, whose fields a spread would not copy. */
function withWrite<Writing extends Pick<Store, "write">>(store: Writing, write: Store["write"]): Writing {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === "write") return write;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
