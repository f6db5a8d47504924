import type { Contender } from "../runner/benchmark.js";
import { citewellIndex } from "./citewell-index.js";
import { peerContenders } from "./peer-indexes.js";
import type { SearchSubject } from "./search-index.js";

const ours = (name: string, index: "flat" | "hnsw", quantization: "int8" | "none"): Contender<SearchSubject> => ({
  name,
  kind: "citewell",
  load: async () => ({ make: (dimension) => citewellIndex(dimension, { index, quantization }) }),
});

export const searchContenders: readonly Contender<SearchSubject>[] = [
  ours("citewell", "hnsw", "int8"),
  ours("citewell, exact", "flat", "int8"),
  ours("citewell, hnswlib graph", "hnsw", "none"),
  ...peerContenders,
];
