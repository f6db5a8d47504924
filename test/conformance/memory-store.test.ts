import { emptyContents, memoryStore, type MemoryStoreContents } from "../../src/conformance/memory-store.js";
import { conformance } from "../store/conformance.js";

const stores = new Map<string, MemoryStoreContents>();

function contentsOf(name: string): MemoryStoreContents {
  const contents = stores.get(name) ?? emptyContents();
  stores.set(name, contents);
  return contents;
}

conformance("the memory store", {
  open: async (name) => memoryStore("conformance", { contents: contentsOf(name) }),
  openRequiringScope: async (name) => memoryStore("conformance", { contents: contentsOf(name), requireScope: true }),
});
