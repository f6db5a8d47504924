import { emptyContents, memoryStore as plainMemoryStore } from "../../src/conformance/memory-store.js";
import type { DocumentWrite, Store, StoreWrite } from "../../src/core/ports.js";
import { vectorKey } from "../../src/text/chunking/chunk-identity.js";

export interface MemoryStore<Space extends string = string> extends Store<Space> {
  /** Every write, in order. */
  readonly writes: readonly StoreWrite[];
  /** Everything in the store, in a canonical order: equal for stores with equal content. */
  readonly contents: () => readonly (DocumentWrite & { readonly vectors: readonly (readonly number[])[] })[];
}

/** A store in memory that tests can look into. */
export function memoryStore<Space extends string>(space: Space): MemoryStore<Space> {
  const contents = emptyContents();
  const { documents, vectors } = contents;
  const writes: StoreWrite[] = [];
  const store = plainMemoryStore(space, { contents });
  const { write } = store;
  return Object.assign(store, {
    writes,
    write: (given: StoreWrite) => {
      writes.push(given);
      return write(given);
    },
    contents: () =>
      [...documents.values()]
        .toSorted((a, b) => (a.document.uri < b.document.uri ? -1 : 1))
        .map((each) => ({ ...each, vectors: each.chunks.map((chunk) => [...vectors.get(vectorKey(chunk))!]) })),
  });
}

export function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
