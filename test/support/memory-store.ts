import { StoreError } from "../../src/core/errors.js";
import { bothFilters, type Filter } from "../../src/core/filter.js";
import type { DocumentWrite, Found, Searchable, Store, StoreWrite, WrittenDocument } from "../../src/core/ports.js";
import { documentFingerprint, vectorKey } from "../../src/text/chunking/chunk-identity.js";
import { placeInDocument } from "../../src/text/blocks/places.js";
import { filterMatches } from "./filter-matches.js";
import type { Chunk, Hit } from "../../src/core/types.js";

export interface MemoryStore<Space extends string = string> extends Store<Space> {
  /** Every write, in order. */
  readonly writes: readonly StoreWrite[];
  /** Everything in the store, in a canonical order: equal for stores with equal content. */
  readonly contents: () => readonly (DocumentWrite & { readonly vectors: readonly (readonly number[])[] })[];
}

/** The slowest and most obvious implementation of the Store port: maps, full scans, word counts. */
export function memoryStore<Space extends string>(space: Space): MemoryStore<Space> {
  const documents = new Map<string, DocumentWrite>();
  const vectors = new Map<string, Float32Array>();
  const notes = new Map<string, string>();
  const writes: StoreWrite[] = [];
  const passing = (filter: Filter | undefined): DocumentWrite[] =>
    [...documents.values()].filter(({ document }) => !filter || filterMatches(filter, document));
  const chunks = (filter?: Filter): Chunk[] => passing(filter).flatMap((document) => document.chunks);
  const ranked = (by: string, score: (chunk: Chunk) => number, count: number, filter?: Filter): Found[] =>
    chunks(filter)
      .map((chunk) => ({ chunkId: chunk.id, score: score(chunk) }))
      .filter((found) => found.score > 0)
      .toSorted((a, b) => b.score - a.score || (a.chunkId < b.chunkId ? -1 : 1))
      .slice(0, count)
      .map((found, index) => ({ ...found, placements: [{ by, rank: index + 1, score: found.score }] }));
  const within = (scope?: Filter): Searchable<Space> => ({
    space,
    location: "memory",
    get dimension() {
      return vectors.values().next().value?.length;
    },
    dense: {
      name: "dense",
      retrieve: async ({ vector }, { count, filter }) => {
        const score = (chunk: Chunk) => dot(vector!, vectors.get(vectorKey(chunk))!);
        return ranked("dense", score, count, bothFilters(scope, filter));
      },
    },
    lexical: {
      name: "lexical",
      retrieve: async ({ text }, { count, filter }) => {
        const score = (chunk: Chunk) => words(text).filter((word) => words(chunk.text).includes(word)).length;
        return ranked("lexical", score, count, bothFilters(scope, filter));
      },
    },
    document: async (uri, { filter } = {}) =>
      passing(bothFilters(scope, filter)).find(({ document }) => document.uri === uri)?.document,
    documentInfo: async (uri) => info(passing(scope).find(({ document }) => document.uri === uri)),
    documents: async ({ source, after, limit } = {}) =>
      passing(scope)
        .filter(({ document }) => source === undefined || document.source === source)
        .map((document) => info(document)!)
        .toSorted((a, b) => Buffer.compare(Buffer.from(a.uri), Buffer.from(b.uri)))
        .filter(({ uri }) => after === undefined || Buffer.compare(Buffer.from(uri), Buffer.from(after)) > 0)
        .slice(0, limit),
    hits: async (found, { filter } = {}) => found.flatMap((one) => hit(one, passing(bothFilters(scope, filter)))),
    scoped: (filter) => within(bothFilters(scope, filter)),
  });
  const whole = within();
  return {
    space,
    location: "memory",
    get dimension() {
      return vectors.values().next().value?.length;
    },
    dense: whole.dense,
    lexical: whole.lexical,
    document: whole.document,
    hits: whole.hits,
    scoped: (filter) => whole.scoped(filter),
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
      const written = (write.documents ?? []).map((document): WrittenDocument => {
        const before = documents.get(document.document.uri);
        documents.set(document.document.uri, document);
        notes.delete(document.document.uri);
        const ids = new Set(document.chunks.map(({ id }) => id));
        const deletedChunks = before?.chunks.filter(({ id }) => !ids.has(id)).length ?? 0;
        const outcome = before ? "updated" : "added";
        return { uri: document.document.uri, outcome, chunks: document.chunks.length, deletedChunks };
      });
      for (const [uri, note] of write.notes ?? []) notes.set(uri, note);
      return written;
    },
    deleteDocuments: async (uris) => {
      const gone = uris.flatMap((uri) => documents.get(uri) ?? []);
      for (const uri of uris) {
        documents.delete(uri);
        notes.delete(uri);
      }
      return { documents: gone.length, chunks: gone.reduce((sum, document) => sum + document.chunks.length, 0) };
    },
    knownVectors: async (keys) => new Map(keys.flatMap((key) => (vectors.has(key) ? [[key, vectors.get(key)!]] : []))),
    notes: async (uris) => new Map(uris.flatMap((uri) => (notes.has(uri) ? [[uri, notes.get(uri)!]] : []))),
    documentWithChunks: async (uri) => documents.get(uri),
    documentInfo: whole.documentInfo,
    documents: whole.documents,
    counts: async () => ({ documents: documents.size, chunks: chunks().length, vectors: vectors.size }),
    verify: async () => ({ ok: true, problems: [], recall: 1, repaired: false }),
    close: async () => {},
  };
}

function info(write: DocumentWrite | undefined) {
  if (!write) return undefined;
  const { document, chunks } = write;
  const { uri, title, source } = document;
  const fingerprint = documentFingerprint(document, chunks);
  return { uri, title, source, fingerprint, chunks: chunks.length };
}

function hit(found: Found, documents: readonly DocumentWrite[]): Hit[] {
  for (const { document, chunks } of documents) {
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
