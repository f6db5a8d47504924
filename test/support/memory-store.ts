import { StoreError } from "../../src/errors.js";
import type { DocumentWrite, Found, Retriever, Store, StoreWrite, WrittenDocument } from "../../src/ports.js";
import { documentFingerprint, vectorKey } from "../../src/text/chunk-identity.js";
import { placeInDocument } from "../../src/text/places.js";
import type { Chunk, Hit } from "../../src/types.js";

export interface MemoryStore<Space extends string = string> extends Store<Space> {
  /** Every write, as it was asked for. */
  readonly writes: readonly StoreWrite[];
  /** Everything that is stored, in an order of its own: equal for stores that hold the same. */
  readonly contents: () => readonly (DocumentWrite & { readonly vectors: readonly (readonly number[])[] })[];
}

/** The Store port in its slowest and most obvious form: maps, full scans, word counts. */
export function memoryStore<Space extends string>(space: Space): MemoryStore<Space> {
  const documents = new Map<string, DocumentWrite>();
  const vectors = new Map<string, Float32Array>();
  const writes: StoreWrite[] = [];
  const chunks = (): Chunk[] => [...documents.values()].flatMap((document) => document.chunks);
  const ranked = (by: string, score: (chunk: Chunk) => number, count: number): Found[] =>
    chunks()
      .map((chunk) => ({ chunkId: chunk.id, score: score(chunk) }))
      .filter((found) => found.score > 0)
      .toSorted((a, b) => b.score - a.score || (a.chunkId < b.chunkId ? -1 : 1))
      .slice(0, count)
      .map((found, index) => ({ ...found, placements: [{ by, rank: index + 1, score: found.score }] }));
  const dense: Retriever = {
    name: "dense",
    retrieve: async ({ vector }, { count }) =>
      ranked("dense", (chunk) => dot(vector!, vectors.get(vectorKey(chunk))!), count),
  };
  const lexical: Retriever = {
    name: "lexical",
    retrieve: async ({ text }, { count }) =>
      ranked("lexical", (chunk) => words(text).filter((word) => words(chunk.text).includes(word)).length, count),
  };
  return {
    space,
    location: "memory",
    get dimension() {
      return vectors.values().next().value?.length;
    },
    dense,
    lexical,
    writes,
    contents: () =>
      [...documents.values()]
        .toSorted((a, b) => (a.document.uri < b.document.uri ? -1 : 1))
        .map((write) => ({ ...write, vectors: write.chunks.map((chunk) => [...vectors.get(vectorKey(chunk))!]) })),
    write: async (write) => {
      writes.push(write);
      const known = new Map([...vectors, ...(write.vectors ?? [])]);
      for (const chunk of (write.documents ?? []).flatMap((document) => document.chunks)) {
        if (!known.has(vectorKey(chunk))) throw new StoreError("vector", `No vector for chunk ${chunk.id}`);
      }
      for (const [key, vector] of write.vectors ?? []) vectors.set(key, vector);
      return (write.documents ?? []).map((document): WrittenDocument => {
        const before = documents.get(document.document.uri);
        documents.set(document.document.uri, document);
        const ids = new Set(document.chunks.map(({ id }) => id));
        const deletedChunks = before?.chunks.filter(({ id }) => !ids.has(id)).length ?? 0;
        const outcome = before ? "updated" : "added";
        return { uri: document.document.uri, outcome, chunks: document.chunks.length, deletedChunks };
      });
    },
    deleteDocuments: async (uris) => {
      const gone = uris.flatMap((uri) => documents.get(uri) ?? []);
      for (const uri of uris) documents.delete(uri);
      return { documents: gone.length, chunks: gone.reduce((sum, document) => sum + document.chunks.length, 0) };
    },
    knownVectors: async (keys) => new Map(keys.flatMap((key) => (vectors.has(key) ? [[key, vectors.get(key)!]] : []))),
    documentInfo: async (uri) => info(documents.get(uri)),
    documents: async ({ source } = {}) =>
      [...documents.values()]
        .filter(({ document }) => source === undefined || document.source === source)
        .map((document) => info(document)!)
        .toSorted((a, b) => (a.uri < b.uri ? -1 : 1)),
    document: async (uri) => documents.get(uri)?.document,
    hits: async (found) => found.flatMap((one) => hit(one, documents)),
    counts: async () => ({ documents: documents.size, chunks: chunks().length, vectors: vectors.size }),
    close: async () => {},
  };
}

function info(write: DocumentWrite | undefined) {
  if (!write) return undefined;
  const { document, chunks } = write;
  const { uri, title, source } = document;
  return { uri, title, source, fingerprint: documentFingerprint(document, chunks), chunks: chunks.length };
}

function hit(found: Found, documents: ReadonlyMap<string, DocumentWrite>): Hit[] {
  for (const { document, chunks } of documents.values()) {
    const chunk = chunks.find(({ id }) => id === found.chunkId);
    if (!chunk) continue;
    const { uri, title } = document;
    const { score, placements } = found;
    return [{ chunk, uri, title, ...placeInDocument(document, chunk.start), score, placements }];
  }
  return [];
}

export function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}
