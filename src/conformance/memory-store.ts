import { z } from "zod";
import { OptionsError, StoreError } from "../core/errors.js";
import { bothFilters, checkFilter, type Filter } from "../core/filter.js";
import { checkDetails, checkWellFormed } from "../core/metadata.js";
import { optionsOf, resolve } from "../core/options.js";
import type {
  DocumentWrite,
  Found,
  RetrieveCall,
  Searchable,
  Store,
  StoreSettings,
  StoreWrite,
} from "../core/ports.js";
import type { Chunk, Hit } from "../core/types.js";
import { placeInDocument } from "../text/blocks/places.js";
import { documentFingerprint, embeddingText, vectorKey } from "../text/chunking/chunk-identity.js";
import { isStem, nearestStems, nearStems } from "../text/words/similar-words.js";
import { bm25 } from "./bm25.js";
import { filterMatches } from "./filter-matches.js";
import { cosine } from "./made-documents.js";

/** Contents of a memory store. Stores with the same contents are the same store, opened several times. */
export interface MemoryStoreContents {
  /** Documents by `Document.uri`. */
  readonly documents: Map<string, DocumentWrite>;
  /** Vectors by `vectorKey(chunk)`. */
  readonly vectors: Map<string, Float32Array>;
  /** Notes by uri. */
  readonly notes: Map<string, string>;
  /** Settings by name. */
  settings: StoreSettings;
  /** The highest margin that was written. */
  tokenMargin: number;
}

export interface MemoryStoreOptions {
  /** Default: new, empty contents. */
  readonly contents?: MemoryStoreContents;
  /** True: searching and reading need `scoped(filter)`. Default: false. */
  readonly requireScope?: boolean;
}

const memoryStoreOptions = optionsOf<MemoryStoreOptions>()({
  contents: z.custom<MemoryStoreContents>().optional(),
  requireScope: z.boolean().default(false),
});

/**
 * Contents of an empty store.
 *
 * @example
 * ```ts
 * import { emptyContents, memoryStore } from "citewell/store-conformance";
 * const contents = emptyContents();
 * const store = memoryStore("my-model", { contents });
 * console.log(store.space, contents.documents.size);
 * ```
 */
export function emptyContents(): MemoryStoreContents {
  return { documents: new Map(), vectors: new Map(), notes: new Map(), settings: {}, tokenMargin: 1 };
}

/**
 * The slowest and most obvious implementation of the `Store` port: maps, full scans, filters tested document by document. It
 * keeps every promise of the port for as long as the process runs. For tests, and as the model for a store of your own.
 *
 * @example
 * ```ts
 * import { openKnowledgeBase, type Embedder } from "citewell";
 * import { memoryStore } from "citewell/store-conformance";
 * export const openInMemory = (embedder: Embedder) =>
 *   openKnowledgeBase({ store: memoryStore(embedder.space), embedder });
 * ```
 */
export function memoryStore<const Space extends string>(space: Space, given: MemoryStoreOptions = {}): Store<Space> {
  const { contents = emptyContents(), requireScope } = resolve("memoryStore", memoryStoreOptions, given);
  const { documents, vectors, notes } = contents;
  let isClosed = false;
  /** Runs at once, so that no other call comes in between. */
  const use = async <Result>(work: () => Result): Promise<Result> => {
    if (isClosed) throw new StoreError("closed", "The store was closed");
    return work();
  };
  const dimension = () => vectors.values().next().value?.length;
  const checkVector = (vector: unknown, expected: number | undefined) => {
    const isUsable =
      vector instanceof Float32Array && vector.every(Number.isFinite) && vector.some((component) => component !== 0);
    if (!isUsable) throw new StoreError("vector", "A vector is no Float32Array of finite numbers, or all zeros");
    if (expected !== undefined && vector.length !== expected) {
      throw new StoreError("dimension", `A vector has ${vector.length} dimensions, the store holds ${expected}`);
    }
  };
  const passing = (scope: Filter | undefined, filter?: Filter): DocumentWrite[] => {
    if (scope === undefined && requireScope) throw new StoreError("scope", "Search and read through store.scoped()");
    const both = bothFilters(scope, filter === undefined ? undefined : checkFilter("filter", filter));
    return [...documents.values()].filter(({ document }) => !both || filterMatches(both, document));
  };
  const retriever = (
    by: string,
    scope: Filter | undefined,
    score: (query: Query, chunks: readonly Chunk[]) => number[],
  ) => ({
    name: by,
    retrieve: (query: Query, call: RetrieveCall) =>
      use(() => {
        const { count, filter, signal } = known(call, ["count", "filter", "signal", "deadlineMs", "onFailedAttempt"]);
        if (!Number.isInteger(count) || count < 1) throw new OptionsError("options", `count is ${count}`);
        signal?.throwIfAborted();
        // Scores by words depend on all chunks, also on those that the filter leaves out.
        const all = [...documents.values()].flatMap(({ chunks }) => chunks);
        const scores = new Map(score(query, all).map((value, index) => [all[index]!, value]));
        return passing(scope, filter)
          .flatMap(({ chunks }) => chunks)
          .map((chunk) => ({ chunkId: chunk.id, score: scores.get(chunk)! }))
          .filter((found) => !Number.isNaN(found.score))
          .toSorted((one, other) => other.score - one.score || (one.chunkId < other.chunkId ? -1 : 1))
          .slice(0, count)
          .map((found, position): Found => ({
            ...found,
            placements: [{ by, rank: position + 1, score: found.score }],
          }));
      }),
  });
  const byVector = ({ vector }: Query, chunks: readonly Chunk[]) => {
    if (vector === undefined) throw new OptionsError("options", "The query has no vector");
    checkVector(vector, dimension());
    return chunks.map((chunk) => cosine(vector, vectors.get(vectorKey(chunk))!));
  };
  const byWords = ({ text }: Query, chunks: readonly Chunk[]) =>
    bm25(
      wordsOf(text),
      chunks.map((chunk) => wordsOf(embeddingText(chunk))),
    ).map((score) => (score > 0 ? score : NaN));

  const within = (scope?: Filter): Searchable<Space> => ({
    space,
    location: "memory",
    get dimension() {
      return dimension();
    },
    dense: retriever("dense", scope, byVector),
    lexical: retriever("lexical", scope, byWords),
    similarWords: (word, call) =>
      use(() => {
        const {
          count,
          unfinished = false,
          filter,
          signal,
        } = known(call, ["count", "unfinished", "filter", "signal", "deadlineMs", "onFailedAttempt"]);
        if (!Number.isInteger(count) || count < 1) throw new OptionsError("options", `count is ${count}`);
        signal?.throwIfAborted();
        const { slipsTo } = nearStems(word, unfinished);
        const wordsOfChunks = (writes: Iterable<DocumentWrite>) =>
          [...writes].flatMap(({ chunks }) => chunks.map((chunk) => new Set(wordsOf(embeddingText(chunk)))));
        const all = wordsOfChunks(documents.values());
        const visible = new Set(wordsOfChunks(passing(scope, filter)).flatMap((words) => [...words]));
        const near = [...visible].filter(isStem).flatMap((stem) => {
          const slips = slipsTo(stem);
          return slips === undefined ? [] : [{ stem, slips, chunks: all.filter((words) => words.has(stem)).length }];
        });
        return nearestStems(near, count);
      }),
    document: (uri, call = {}) => use(() => find(passing(scope, known(call, ["filter"]).filter), uri)?.document),
    documentInfo: (uri) => use(() => info(find(passing(scope), uri))),
    documents: (wanted = {}) =>
      use(() => {
        const { source, after, limit } = known(wanted, ["source", "after", "limit"]);
        return passing(scope)
          .filter(({ document }) => source === undefined || document.source === source)
          .filter(({ document }) => after === undefined || compareBytes(document.uri, after) > 0)
          .map((write) => info(write)!)
          .toSorted((one, other) => compareBytes(one.uri, other.uri))
          .slice(0, limit);
      }),
    hits: (found, call = {}) =>
      use(() => {
        const readable = passing(scope, known(call, ["filter"]).filter);
        return found.flatMap((one) => hit(one, readable));
      }),
    scoped: (filter) => within(bothFilters(scope, checkFilter("filter", filter))),
  });

  const whole = within();
  return Object.defineProperties(
    {
      ...whole,
      write: (unchecked: StoreWrite) =>
        use(() => {
          const write = known(unchecked, ["vectors", "documents", "tokenMargin", "settings", "notes"]);
          for (const { document } of write.documents ?? []) checkDetails(undefined, document);
          for (const [uri, note] of write.notes ?? [])
            for (const text of [uri, note]) checkWellFormed(uri, "note", text);
          let expected = dimension();
          for (const vector of write.vectors?.values() ?? []) {
            checkVector(vector, expected);
            expected ??= vector.length;
          }
          for (const document of write.documents ?? []) {
            checkChunks(document, (key) => vectors.has(key) || write.vectors?.has(key) === true);
          }
          for (const [key, vector] of write.vectors ?? []) if (!vectors.has(key)) vectors.set(key, vector.slice());
          const written = (write.documents ?? []).map(({ document, chunks }) => {
            const before = documents.get(document.uri);
            documents.set(document.uri, { document, chunks });
            notes.delete(document.uri);
            const ids = new Set(chunks.map(({ id }) => id));
            const deletedChunks = before?.chunks.filter(({ id }) => !ids.has(id)).length ?? 0;
            const contexts = new Map(before?.chunks.map(({ id, context }) => [id, context]));
            const isSame =
              before !== undefined &&
              documentFingerprint(before.document, before.chunks) === documentFingerprint(document, chunks) &&
              chunks.every(({ id, context }) => contexts.get(id) === context);
            const outcome = !before ? ("added" as const) : isSame ? ("unchanged" as const) : ("updated" as const);
            return { uri: document.uri, outcome, chunks: chunks.length, deletedChunks };
          });
          for (const [uri, note] of write.notes ?? []) notes.set(uri, note);
          const settings = Object.entries({ ...contents.settings, ...write.settings });
          contents.settings = Object.fromEntries(settings.filter(([, value]) => value !== null));
          contents.tokenMargin = Math.max(contents.tokenMargin, write.tokenMargin ?? 1);
          return written;
        }),
      deleteDocuments: (uris: readonly string[]) =>
        use(() => {
          const gone = [...new Set(uris)].flatMap((uri) => documents.get(uri) ?? []);
          for (const { document } of gone) {
            documents.delete(document.uri);
            notes.delete(document.uri);
          }
          return { documents: gone.length, chunks: gone.reduce((sum, { chunks }) => sum + chunks.length, 0) };
        }),
      knownVectors: (keys: readonly string[]) => use(() => pick(vectors, keys)),
      notes: (uris: readonly string[]) => use(() => pick(notes, uris)),
      documentWithChunks: (uri: string) => use(() => find(passing(undefined), uri)),
      counts: () =>
        use(() => ({
          documents: documents.size,
          chunks: [...documents.values()].reduce((sum, { chunks }) => sum + chunks.length, 0),
          vectors: vectors.size,
        })),
      verify: (options = {}) =>
        use(() => {
          known(options, ["sample", "repair", "dropUnusedVectors", "signal"]);
          return { ok: true, problems: [], recall: 1, repaired: false };
        }),
      close: async (options = {}) => {
        known(options, ["signal"]);
        isClosed = true;
      },
    } satisfies Store<Space>,
    {
      dimension: { get: dimension, enumerable: true },
      settings: { get: () => contents.settings, enumerable: true },
      tokenMargin: { get: () => contents.tokenMargin, enumerable: true },
    },
  );
}

type Query = Parameters<Searchable["dense"]["retrieve"]>[0];

/** Refuses unknown options: a misspelt filter must not turn into no filter. */
function known<Options extends object>(options: Options, names: readonly (keyof Options & string)[]): Options {
  const unknown = Object.keys(options).find((name) => !(names as readonly string[]).includes(name));
  if (unknown !== undefined) throw new OptionsError("options", `there is no option "${unknown}"`);
  for (const name of ["filter", "source"]) {
    const isLost = Object.hasOwn(options, name) && (options as Readonly<Record<string, unknown>>)[name] === undefined;
    if (isLost) throw new OptionsError("options", `${name} must have a value where it is named`);
  }
  return options;
}

function checkChunks({ document: { uri, text }, chunks }: DocumentWrite, hasVector: (key: string) => boolean): void {
  const ids = new Set<string>();
  for (const chunk of chunks) {
    const { start, end, parent = { start, end } } = chunk;
    const isInside = parent.start >= 0 && parent.start <= start && parent.end >= end && parent.end <= text.length;
    if (chunk.documentId !== uri || text.slice(start, end) !== chunk.text || !isInside || ids.has(chunk.id)) {
      throw new OptionsError("options", `${uri}: the chunk at ${start} is no slice of the document, or given twice`);
    }
    ids.add(chunk.id);
    if (!hasVector(vectorKey(chunk))) throw new StoreError("vector", `${uri}: the chunk at ${start} has no vector`);
  }
}

function find(documents: readonly DocumentWrite[], uri: string): DocumentWrite | undefined {
  return documents.find(({ document }) => document.uri === uri);
}

function pick<Value>(from: ReadonlyMap<string, Value>, keys: readonly string[]): Map<string, Value> {
  return new Map(keys.flatMap((key) => (from.has(key) ? [[key, from.get(key)!]] : [])));
}

function info(write: DocumentWrite | undefined) {
  if (!write) return undefined;
  const { document, chunks } = write;
  const { uri, title, source } = document;
  return {
    uri,
    ...(title !== undefined && { title }),
    ...(source !== undefined && { source }),
    fingerprint: documentFingerprint(document, chunks),
    chunks: chunks.length,
  };
}

function hit({ chunkId, score, placements }: Found, documents: readonly DocumentWrite[]): Hit[] {
  return documents.flatMap(({ document, chunks }) =>
    chunks
      .filter(({ id }) => id === chunkId)
      .map((chunk) => {
        const { uri, title, metadata } = document;
        const anchors = document.anchors?.filter(({ start }) => start >= chunk.start && start < chunk.end);
        return {
          chunk,
          uri,
          ...(title !== undefined && { title }),
          ...(metadata !== undefined && { metadata }),
          ...placeInDocument(document, chunk.start),
          ...(anchors && { anchors }),
          score,
          placements,
        };
      }),
  );
}

/** Words in lower case; of Chinese, Japanese and Korean texts each two neighbouring characters. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap((word) =>
    /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u.test(word)
      ? Array.from(word).flatMap((character, index, all) => (index === 0 ? [] : [all[index - 1]! + character]))
      : [word],
  );
}

function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
