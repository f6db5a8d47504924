import type { Collection } from "citewell/evaluate";

/** A collection of no more than its first `count` documents, with all of its queries. */
export function firstDocuments(collection: Collection, count: number): Collection {
  const documents = async function* (signal?: AbortSignal) {
    let left = count;
    for await (const document of collection.documents(signal)) if (left-- > 0) yield document;
  };
  return { ...collection, documents };
}
