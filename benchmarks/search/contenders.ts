import type { Contender } from "../runner/benchmark.js";
import { citewellIndex, type Indexing } from "./citewell-index.js";
import { peerContenders } from "./peer-indexes.js";
import type { SearchSubject } from "./search-index.js";

const ours = (name: string, indexing: Indexing): Contender<SearchSubject> => ({
  name,
  kind: "citewell",
  load: async () => ({ make: (dimension) => citewellIndex(dimension, indexing) }),
});

/**
 * Reads a byte for each number of each vector, as exact search in 8-bit numbers has to, at the speed of the machine: a byte is
 * sought that is not there, by the C library, some 32 at a time.
 */
const readingMemory: SearchSubject = {
  denseMs: (chunks, dimension, times) => {
    const bytes = Buffer.alloc(chunks * dimension, 1);
    return Array.from({ length: times }, () => {
      const startedAt = performance.now();
      if (bytes.includes(2)) throw new Error("a byte was found that nobody wrote");
      return performance.now() - startedAt;
    });
  },
};

export const searchContenders: readonly Contender<SearchSubject>[] = [
  ours("citewell", { index: "hnsw" }),
  ours("citewell, exact", { index: "flat" }),
  ours("citewell, hnswlib graph", { index: "hnsw", quantization: "none" }),
  { name: "reading memory once", kind: "limit", load: async () => readingMemory },
  ...peerContenders,
];
