import type { Found, Searchable } from "../core/ports.js";
import { type Check, dimension, same } from "./check.js";
import { chinese, english, madeDocument, madeVector, withVectors } from "./made-documents.js";

export const readingChecks: Readonly<Record<string, Check>> = {
  "returns nothing for what was never written: it is undefined, empty or left out": async (store) => {
    same(await store.document("nothing"), undefined);
    same(await store.documentInfo("nothing"), undefined);
    same(await store.documents(), []);
    same(await store.hits([found("nothing")]), []);
    same(await store.knownVectors(["nothing"]), new Map());
    same(await store.deleteDocuments(["nothing"]), { documents: 0, chunks: 0 });
    same(await store.dense.retrieve({ text: "", vector: madeVector("x", dimension) }, { count: 5 }), []);
    same(await store.lexical.retrieve({ text: "cat" }, { count: 5 }), []);
    same(await store.counts(), { documents: 0, chunks: 0, vectors: 0 });
  },

  "lists documents by uri, all or those of one source": async (store) => {
    const made = ["c", "a", "b"].map((uri) => madeDocument(uri, [uri], uri === "a" ? {} : { source: "s" }));
    await store.write(withVectors(made, dimension));
    same(await listed(store, {}), ["a", "b", "c"]);
    same(await listed(store, { source: "s" }), ["b", "c"]);
    same(await listed(store, { source: "s", after: "b" }), ["c"]);
    same(await listed(store, { source: "other" }), []);
  },

  "lists documents a page at a time, in the order of bytes, also within a scope": async (store) => {
    // The order of code units puts the last two the other way round, and a collation the capital letter last but one.
    const uris = ["B", "a", "a\0", "ab", "b", "c", "\u00e9", "\uff5e", "\u{1f600}"];
    const made = uris.map((uri) => madeDocument(uri, [uri], { metadata: { odd: uris.indexOf(uri) % 2 === 1 } }));
    await store.write(withVectors(made.toReversed(), dimension));
    same(await listed(store, {}), uris);
    for (const [index, after] of uris.entries()) {
      same(await listed(store, { after, limit: 2 }), uris.slice(index + 1, index + 3));
    }
    same(await listed(store, { after: "aa", limit: 1 }), ["ab"]);
    const odd = store.scoped({ metadata: { odd: true } });
    same(await listed(odd, { limit: 2 }), ["a", "ab"]);
    same(await listed(odd, { after: "ab", limit: 2 }), ["c", "\uff5e"]);
  },

  "returns hits in the given order, with the line where text and file have the same lines": async (store) => {
    await store.write(withVectors([english], dimension));
    const [first, , third] = english.chunks;
    const placements = [{ by: "fused", rank: 1, score: 0.5 }];
    const hits = await store.hits([
      { chunkId: third!.id, score: 0.5, placements },
      { chunkId: "unknown", score: 0.4, placements },
      { chunkId: first!.id, score: 0.3, placements },
    ]);
    const { uri, title, metadata } = english.document;
    same(hits, [
      { chunk: third, uri, title, metadata, line: 5, score: 0.5, placements },
      { chunk: first, uri, title, metadata, line: 1, score: 0.3, placements },
    ]);
  },

  "returns hits with the metadata of their documents, and none where a document has none": async (store) => {
    await store.write(withVectors([english, chinese], dimension));
    const hits = await store.hits([english, chinese].map(({ chunks }) => found(chunks[0]!.id)));
    same(
      hits.map(({ metadata }) => metadata),
      [english.document.metadata, undefined],
    );
  },

  "returns hits with pages and the anchors inside the span, if the document has anchors": async (store) => {
    const anchors = [
      { start: 0, page: 1 },
      { start: 7, page: 2, line: 1 },
      { start: 12, line: 9 },
    ];
    const paged = madeDocument("paged", ["abcde", "fghij", "klm"], { anchors });
    await store.write(withVectors([paged], dimension));
    const hits = await store.hits(paged.chunks.map(({ id }) => found(id)));
    same(
      hits.map(({ line, page, anchors: inside }) => ({ line, page, inside })),
      [
        { page: 1, inside: [anchors[0]] },
        { line: 1, page: 2, inside: [anchors[1], anchors[2]] },
        { line: 9, page: 2, inside: [] },
      ],
    );
  },
};

/** A retriever's result that only names a chunk. */
function found(chunkId: string): Found {
  return { chunkId, score: 1, placements: [] };
}

async function listed(from: Pick<Searchable, "documents">, wanted: Parameters<Searchable["documents"]>[0]) {
  return (await from.documents(wanted)).map(({ uri }) => uri);
}
