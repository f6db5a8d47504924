import { expect, test } from "vitest";
import { emptyContents, memoryStore, type MemoryStoreContents } from "../../src/conformance/memory-store.js";
import { storeCases } from "../../src/conformance/store-cases.js";
import type { Found, Retriever, Searchable, Store } from "../../src/core/ports.js";

type Break = (store: Store, contents: MemoryStoreContents) => Partial<Store>;

/** A store that finds what `change` makes of it, also within scopes. */
function finding(change: (found: readonly Found[]) => readonly Found[], which: "dense" | "lexical"): Break {
  const changed = (store: Searchable): Searchable =>
    Object.assign(Object.create(store) as Searchable, {
      [which]: {
        name: which,
        retrieve: async (...given: Parameters<Retriever["retrieve"]>) => change(await store[which].retrieve(...given)),
      },
      scoped: (filter: Parameters<Searchable["scoped"]>[0]) => changed(store.scoped(filter)),
    });
  return (store) => ({ [which]: changed(store)[which], scoped: (filter) => changed(store.scoped(filter)) });
}

const withoutFilter = (retriever: Retriever): Retriever => ({
  name: retriever.name,
  retrieve: (query, { count }) => retriever.retrieve(query, { count }),
});

/** Ways to break a store, each with a promise that must notice. */
const breaks: readonly (readonly [string, string, Break])[] = [
  [
    "dense search ignores the filter",
    "filters by each operator exactly the documents that meet it, in every way to read",
    ({ dense }) => ({ dense: withoutFilter(dense) }),
  ],
  [
    "search by words ignores the filter",
    "fills a filtered search: at 50 %, 1 % and one of 1,000 chunks it finds what filtering a full scan finds",
    ({ lexical }) => ({ lexical: withoutFilter(lexical) }),
  ],
  [
    "a filter is applied to the best `count` alone, so that a filtered search comes back short",
    "fills a filtered search: at 50 %, 1 % and one of 1,000 chunks it finds what filtering a full scan finds",
    ({ dense, hits }) => ({
      dense: {
        name: "dense",
        retrieve: async (query, { filter, ...call }) => {
          const found = await dense.retrieve(query, call);
          const admitted = filter ? await hits(found, { filter }) : undefined;
          return found.filter(({ chunkId }) => !admitted || admitted.some(({ chunk }) => chunk.id === chunkId));
        },
      },
    }),
  ],
  [
    "an invalid filter counts as none",
    "refuses an invalid filter in every method, and never takes it for none",
    ({ lexical }) => ({
      lexical: {
        name: "lexical",
        retrieve: (query, call) =>
          lexical.retrieve(query, call).catch(() => lexical.retrieve(query, { count: call.count })),
      },
    }),
  ],
  [
    "an inner scope takes the place of the outer one",
    "hides everything outside a scope, which no filter and no inner scope can widen",
    (store) => ({ scoped: (filter) => ({ ...store.scoped(filter), scoped: (inner) => store.scoped(inner) }) }),
  ],
  [
    "a document is read past its scope",
    "hides everything outside a scope, which no filter and no inner scope can widen",
    (store) => ({
      scoped: (filter) => {
        const scoped = store.scoped(filter);
        return Object.assign(Object.create(scoped) as typeof scoped, {
          document: store.document,
          scoped: () => scoped,
        });
      },
    }),
  ],
  [
    "a note is lost",
    "keeps notes by uri, which go with their document when it is written or deleted",
    (store) => ({ write: (write) => store.write({ ...write, notes: new Map() }) }),
  ],
  [
    "a note outlives its document's version",
    "keeps notes by uri, which go with their document when it is written or deleted",
    (store, { notes }) => ({
      write: async (write) => {
        const before = new Map(notes);
        const written = await store.write(write);
        for (const [uri, note] of before) if (!write.notes?.has(uri)) notes.set(uri, note);
        return written;
      },
    }),
  ],
  [
    "a setting that was set to null stays",
    "keeps settings by name, also when it is opened again, until they are set to null",
    (store) => ({
      write: ({ settings, ...write }) => {
        const kept = Object.entries(settings ?? {}).filter(([, value]) => value !== null);
        return store.write({ ...write, ...(settings && { settings: Object.fromEntries(kept) }) });
      },
    }),
  ],
  [
    "the token margin falls again",
    "keeps the highest token margin that was written",
    (store, contents) => ({
      write: async (write) => {
        const written = await store.write(write);
        if (write.tokenMargin !== undefined) contents.tokenMargin = write.tokenMargin;
        return written;
      },
    }),
  ],
  [
    "a refused write leaves its vectors behind",
    "refuses a chunk without a vector, together with all that came with it",
    (store) => ({
      write: async ({ vectors, ...write }) => {
        if (vectors) await store.write({ vectors });
        return store.write(write);
      },
    }),
  ],
  [
    "documents of one write are written one by one",
    "refuses a chunk without a vector, together with all that came with it",
    (store) => ({
      write: async ({ documents = [], ...write }) => {
        const written = [];
        for (const document of documents) written.push(...(await store.write({ ...write, documents: [document] })));
        return documents.length === 0 ? store.write(write) : written;
      },
    }),
  ],
  [
    "a vector with NaN is taken",
    "refuses a vector of NaN, and all that came with it",
    (store, contents) => ({
      write: (write) => {
        for (const [key, vector] of write.vectors ?? []) if (vector.includes(NaN)) contents.vectors.set(key, vector);
        const vectors = [...(write.vectors ?? [])].filter(([, vector]) => !vector.includes(NaN));
        return store.write({ ...write, vectors: new Map(vectors) });
      },
    }),
  ],
  [
    "vectors lose precision",
    "keeps vectors before any chunk needs them, and returns them bit by bit",
    ({ knownVectors }) => ({
      knownVectors: async (keys) =>
        new Map([...(await knownVectors(keys))].map(([key, vector]) => [key, vector.map((one) => +one.toFixed(4))])),
    }),
  ],
  [
    "documents are listed in the order of code units",
    "lists documents a page at a time, in the order of bytes, also within a scope",
    (store) => ({
      documents: async (wanted) => (await store.documents(wanted)).toSorted((a, b) => (a.uri < b.uri ? -1 : 1)),
    }),
  ],
  [
    "a page begins with the document that it should begin behind",
    "lists documents a page at a time, in the order of bytes, also within a scope",
    (store) => ({
      documents: async ({ after, limit, ...wanted } = {}) => {
        const all = await store.documents(wanted);
        return all.filter(({ uri }) => after === undefined || uri >= after).slice(0, limit);
      },
    }),
  ],
  [
    "texts go through UTF-8",
    "stores texts that UTF-8 cannot express, and words that mean something to models, without a change",
    (store) => ({
      document: async (uri, call) => {
        const document = await store.document(uri, call);
        return document && { ...document, text: Buffer.from(document.text).toString() };
      },
    }),
  ],
  [
    "texts end at a NUL",
    "stores texts that UTF-8 cannot express, and words that mean something to models, without a change",
    (store) => ({
      hits: async (found, call) =>
        (await store.hits(found, call)).map((hit) => ({
          ...hit,
          chunk: { ...hit.chunk, text: hit.chunk.text.split("\0")[0]! },
        })),
    }),
  ],
  [
    "hits come in the order of the texts",
    "returns hits in the given order, with the line where text and file have the same lines",
    (store) => ({
      hits: async (found, call) =>
        (await store.hits(found, call)).toSorted((one, other) => one.chunk.start - other.chunk.start),
    }),
  ],
  [
    "a deleted document is still found by words",
    "keeps the vectors of a deleted document for the next time, but finds the document no more",
    (store) => {
      const gone: Found[] = [];
      return {
        deleteDocuments: async (uris) => {
          gone.push(...(await store.lexical.retrieve({ text: "cat dogs" }, { count: 5 })));
          return store.deleteDocuments(uris);
        },
        lexical: {
          name: "lexical",
          retrieve: async (query, call) => [...gone, ...(await store.lexical.retrieve(query, call))],
        },
      };
    },
  ],
  [
    "deleting a document takes its vectors along",
    "keeps the vectors of a deleted document for the next time, but finds the document no more",
    (store, { documents, vectors }) => ({
      deleteDocuments: async (uris) => {
        const result = await store.deleteDocuments(uris);
        if (documents.size < 2) vectors.clear();
        return result;
      },
    }),
  ],
  [
    "dense search misses some of the nearest",
    "finds by vector at least 95 of 100 of the exact ten nearest of 2,000",
    finding((found) => found.filter((_, at) => found.length < 10 || at !== 3), "dense"),
  ],
  [
    "dense results come with the worst first",
    "finds by vector what a full scan finds, best first, with cosine and rank",
    finding((found) => found.toReversed(), "dense"),
  ],
  [
    "scores by words count how many of them occur",
    "finds by words in the order of BM25, with falling scores and ranks",
    finding((found) => found.toSorted((one, other) => (one.chunkId < other.chunkId ? -1 : 1)), "lexical"),
  ],
  [
    "counts forget a replaced version",
    "reconciles: the counts are those of the documents, and each listed document can be read",
    (store) => {
      let replaced = 0;
      return {
        write: async (write) => {
          const written = await store.write(write);
          replaced += written.reduce((sum, { deletedChunks }) => sum + deletedChunks, 0);
          return written;
        },
        counts: async () => {
          const counts = await store.counts();
          return { ...counts, chunks: counts.chunks + replaced };
        },
      };
    },
  ],
  [
    "an abort is wrapped",
    "refuses a call that was aborted, with the caller's own reason",
    ({ lexical }) => ({
      lexical: {
        name: "lexical",
        retrieve: (query, call) =>
          lexical.retrieve(query, call).catch((cause: unknown) => {
            throw call.signal?.aborted ? new Error("aborted", { cause }) : cause;
          }),
      },
    }),
  ],
  [
    "a closed store answers",
    "refuses every call after close, while a second close does nothing",
    (store, { documents }) => ({
      documents: (wanted) =>
        store.documents(wanted).catch(() => [...documents.keys()].map((uri) => ({ uri })) as never),
    }),
  ],
  [
    "nothing is there when it is opened again",
    "keeps everything across closing and opening again",
    (_, { documents }) => ({
      close: async () => {
        documents.clear();
      },
    }),
  ],
  [
    "a document is deleted before its next version is written",
    "shows whole states to searches while documents are replaced",
    (store) => ({
      write: async (write) => {
        await store.deleteDocuments((write.documents ?? []).map(({ document }) => document.uri));
        await new Promise((resolve) => setImmediate(resolve));
        return store.write(write);
      },
    }),
  ],
  [
    "a misspelt option is ignored",
    "refuses an option that a method does not know",
    ({ dense }) => ({
      dense: {
        name: "dense",
        retrieve: (query, { count, filter }) => dense.retrieve(query, { count, ...(filter && { filter }) }),
      },
    }),
  ],
];

test.each(breaks)("a store is caught in which %s", async (_, promise, broken) => {
  const stores = new Map<string, MemoryStoreContents>();
  const cases = storeCases({
    open: async (name) => {
      const contents = stores.get(name) ?? emptyContents();
      stores.set(name, contents);
      const whole = memoryStore("conformance", { contents });
      return Object.defineProperties(whole, Object.getOwnPropertyDescriptors(broken({ ...whole }, contents)));
    },
  });
  const { run } = cases.find(({ name }) => name === promise)!;
  await expect(run()).rejects.toThrow(/./);
});
