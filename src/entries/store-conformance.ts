/** `citewell/store-conformance`: the promises of the `Store` port as test cases, for stores of your own. */

export type { StoreFactory } from "../conformance/check.js";
export { emptyContents, memoryStore } from "../conformance/memory-store.js";
export type { MemoryStoreContents, MemoryStoreOptions } from "../conformance/memory-store.js";
export { storeCases } from "../conformance/store-cases.js";
export type { StoreCase } from "../conformance/store-cases.js";
