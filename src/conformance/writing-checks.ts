import { ok } from "node:assert/strict";
import type { Store } from "../core/ports.js";
import { documentFingerprint, embeddingText } from "../text/chunking/chunk-identity.js";
import { type Check, dimension, NotApplicable, same } from "./check.js";
import { chinese, english, madeDocument, madeVector, withVectors } from "./made-documents.js";

const write = (store: Store, ...documents: readonly (typeof english)[]) =>
  store.write(withVectors(documents, dimension));

export const writingChecks: Readonly<Record<string, Check>> = {
  "stores a document and returns it unchanged, with its info and counts": async (store) => {
    same(await write(store, english, chinese), [
      { uri: english.document.uri, outcome: "added", chunks: 3, deletedChunks: 0 },
      { uri: chinese.document.uri, outcome: "added", chunks: 2, deletedChunks: 0 },
    ]);
    same(await store.document(english.document.uri), english.document);
    same(await store.document(chinese.document.uri), chinese.document);
    same(await store.documentInfo(english.document.uri), {
      uri: english.document.uri,
      title: "Animals",
      source: "docs",
      fingerprint: documentFingerprint(english.document, english.chunks),
      chunks: 3,
    });
    same(await store.counts(), { documents: 2, chunks: 5, vectors: 5 });
    same(store.dimension, dimension);
    same(store.space, "conformance");
  },

  "returns a document with its chunks as they were written": async (store) => {
    if (!store.documentWithChunks) throw new NotApplicable("the store has no documentWithChunks()");
    const parent = { start: 0, end: english.document.text.length };
    const written = { ...english, chunks: english.chunks.map((chunk) => ({ ...chunk, parent })) };
    await write(store, written, chinese);
    same(await store.documentWithChunks(english.document.uri), written);
    same(await store.documentWithChunks(chinese.document.uri), chinese);
    same(await store.documentWithChunks("nothing"), undefined);
  },

  "stores a document that was fetched with its revision, until it is written without one": async (store) => {
    const revision = { etag: 'W/"7"', lastModified: "Sat, 21 Nov 2026 10:00:00 GMT" };
    const page = { ...chinese, document: { ...chinese.document, revision } };
    await write(store, page);
    same(await store.document(chinese.document.uri), page.document);
    await write(store, chinese);
    same(await store.document(chinese.document.uri), chinese.document);
  },

  "stores a blank document without chunks": async (store) => {
    const blank = { document: { uri: "blank", text: "" }, chunks: [] };
    same(await store.write({ documents: [blank] }), [{ uri: "blank", outcome: "added", chunks: 0, deletedChunks: 0 }]);
    same(await store.document("blank"), blank.document);
    same(await store.counts(), { documents: 1, chunks: 0, vectors: 0 });
  },

  "stores texts that UTF-8 cannot express, and words that mean something to models, without a change": async (
    store,
  ) => {
    const paragraphs = [
      "half a pair \ud83d alone",
      "nul \0 inside",
      "\udc00",
      "<|endoftext|> is text",
      "a\r\nb\u2028c",
      " ",
    ];
    const odd = madeDocument("odd \0 \u{1f600}", paragraphs, {
      title: "nul \0 inside",
      metadata: { "nul \0": "\0", half: ["\udc00"], "": { __proto: 1e300, tiny: 5e-324, no: null } },
      anchors: [{ start: 0, page: 1, heading: 2 }],
    });
    await write(store, odd);
    same(await store.document(odd.document.uri), odd.document);
    same(
      (await hitsOf(store, odd)).map(({ chunk }) => chunk),
      odd.chunks,
    );
    same(
      (await store.documents()).map(({ uri }) => uri),
      [odd.document.uri],
    );
  },

  "stores very long texts without a change": async (store) => {
    const paragraphs = Array.from(
      { length: 40 },
      (_, index) => `${index} ${"long text 长文本 \u{1f600} ".repeat(1500)}`,
    );
    const long = madeDocument("long", paragraphs);
    ok(long.document.text.length > 1_000_000);
    await write(store, long);
    // Compared as booleans: a difference of a million characters would take minutes to print.
    ok((await store.document("long"))?.text === long.document.text, "the text of the document changed");
    const hits = await hitsOf(store, long);
    ok(
      hits.every(({ chunk }, position) => chunk.text === long.chunks[position]!.text) && hits.length === 40,
      "a chunk changed",
    );
  },

  "says of a document that is stored just so that it is unchanged, and takes over its source": async (store) => {
    await write(store, english);
    const unchanged = { uri: english.document.uri, outcome: "unchanged", chunks: 3, deletedChunks: 0 };
    same(await write(store, english, chinese), [
      unchanged,
      { uri: chinese.document.uri, outcome: "added", chunks: 2, deletedChunks: 0 },
    ]);
    const moved = { ...english, document: { ...english.document, source: "elsewhere" } };
    same(await write(store, moved), [unchanged]);
    same((await store.documentInfo(english.document.uri))?.source, "elsewhere");
    const retitled = { ...english, document: { ...english.document, title: "Beasts" } };
    same((await write(store, retitled))[0]?.outcome, "updated");
    same(await store.document(english.document.uri), retitled.document);
    const chunks = english.chunks.map((chunk, offset) => (offset === 0 ? { ...chunk, context: "Of pets" } : chunk));
    same((await write(store, { ...retitled, chunks }))[0]?.outcome, "updated");
    same((await store.counts()).chunks, 5);
  },

  "replaces a document by its next version": async (store) => {
    await write(store, english);
    const shorter = madeDocument(english.document.uri, ["Dogs bark at night.", "Birds sing."], { title: "Animals" });
    same(await write(store, shorter), [
      { uri: english.document.uri, outcome: "updated", chunks: 2, deletedChunks: 3 - kept(english, shorter) },
    ]);
    same(await store.document(english.document.uri), shorter.document);
    same(await store.lexical.retrieve({ text: "cat" }, { count: 5 }), []);
    same((await store.counts()).chunks, 2);
    same((await store.counts()).documents, 1);
    const vector = madeVector(embeddingText(shorter.chunks[1]!), dimension);
    const [nearest] = await store.dense.retrieve({ text: "", vector }, { count: 1 });
    same(nearest?.chunkId, shorter.chunks[1]!.id);
    const before = await store.hits(english.chunks.map(({ id }) => ({ chunkId: id, score: 1, placements: [] })));
    same(before.length, kept(english, shorter), "chunks of the version before that are still there");
  },

  "keeps a chunk whose text did not change at its new place": async (store) => {
    await write(store, madeDocument("moved", ["one", "two", "three"]));
    const longer = madeDocument("moved", ["zero", "one", "two", "three"]);
    same((await write(store, longer))[0]!.deletedChunks, 0);
    const hits = await hitsOf(store, longer);
    same(
      hits.map(({ chunk }) => chunk),
      longer.chunks,
    );
    same(
      hits.map(({ line }) => line),
      [1, 3, 5, 7],
    );
  },

  "replaces a chunk's parent without replacing the chunk": async (store) => {
    const { document, chunks } = madeDocument("parents", ["one", "two", "three"]);
    for (const end of [document.text.length, 10]) {
      const widened = chunks.map((chunk, index) => (index === 1 ? { ...chunk, parent: { start: 0, end } } : chunk));
      const [written] = await write(store, { document, chunks: widened });
      same(written!.deletedChunks, 0);
      same(
        (await hitsOf(store, { chunks })).map(({ chunk }) => chunk),
        widened,
      );
      same((await store.documentInfo("parents"))!.fingerprint, documentFingerprint(document, widened));
    }
  },

  "keeps the vectors of a deleted document for the next time, but finds the document no more": async (store) => {
    await write(store, english, chinese);
    same(await store.deleteDocuments([english.document.uri, "unknown"]), { documents: 1, chunks: 3 });
    same(await store.counts(), { documents: 1, chunks: 2, vectors: 5 });
    same(await store.document(english.document.uri), undefined);
    same(await store.documentInfo(english.document.uri), undefined);
    same(await store.lexical.retrieve({ text: "cat dogs" }, { count: 5 }), []);
    const everything = await store.dense.retrieve({ text: "", vector: madeVector("x", dimension) }, { count: 9 });
    same(sorted(everything.map(({ chunkId }) => chunkId)), sorted(chinese.chunks.map(({ id }) => id)));
    same((await hitsOf(store, english)).length, 0);
    same(
      (await store.write({ documents: [english] })).map(({ outcome }) => outcome),
      ["added"],
    );
    same(await store.counts(), { documents: 2, chunks: 5, vectors: 5 });
  },

  "keeps vectors before any chunk needs them, and returns them bit by bit": async (store) => {
    const { vectors } = withVectors([english], dimension);
    await store.write({ vectors: vectors! });
    same(await store.counts(), { documents: 0, chunks: 0, vectors: 3 });
    same(await store.knownVectors([...vectors!.keys(), "unknown"]), new Map(vectors));
    same((await store.write({ documents: [english] })).length, 1);
    await store.write({ vectors: vectors! });
    same((await store.counts()).vectors, 3);
  },

  "returns vectors for any number of keys, each once": async (store) => {
    const many = new Map(Array.from({ length: 3000 }, (_, index) => [`key ${index}`, madeVector(`${index}`, 4)]));
    await store.write({ vectors: many });
    const known = await store.knownVectors([...many.keys(), ...many.keys(), "unknown"]);
    same(known.size, 3000);
    for (const key of ["key 0", "key 1500", "key 2999"]) same(known.get(key), many.get(key));
    same(await store.knownVectors([]), new Map());
  },

  "keeps notes by uri, which go with their document when it is written or deleted": async (store) => {
    const { notes: readNotes } = store;
    if (!readNotes) throw new NotApplicable("the store has no notes()");
    const [one, two] = [english.document.uri, chinese.document.uri];
    const notes = new Map([one, two, "no document"].map((uri) => [uri, `about ${uri}`]));
    await store.write({ ...withVectors([english, chinese], dimension), notes });
    const read = () => readNotes.call(store, [one, two, "no document", "nothing"]);
    same(await read(), notes);
    await write(store, english);
    await store.deleteDocuments([two]);
    same(await read(), new Map([["no document", "about no document"]]));
    await store.write({ notes: new Map([["no document", "nul \0"]]) });
    same(await read(), new Map([["no document", "nul \0"]]));
  },

  "keeps settings by name, also when it is opened again, until they are set to null": async (store, { again }) => {
    same(store.settings ?? {}, {});
    await store.write({ settings: { one: { deep: [1, "a"] }, two: 2, odd: "nul \0" } });
    await store.write({ settings: { two: null, three: "c" } });
    await store.close();
    same((await again()).settings, { one: { deep: [1, "a"] }, three: "c", odd: "nul \0" });
  },

  "keeps the highest token margin that was written": async (store, { again }) => {
    same(store.tokenMargin ?? 1, 1);
    await store.write({ tokenMargin: 1.25 });
    await store.write({ tokenMargin: 1.125 });
    same(store.tokenMargin, 1.25);
    await store.close();
    same((await again()).tokenMargin, 1.25);
  },

  "keeps everything across closing and opening again": async (store, { again }) => {
    await write(store, english, chinese);
    const query = { text: "cat mat", vector: madeVector("query", dimension) };
    const dense = await store.dense.retrieve(query, { count: 4 });
    const lexical = await store.lexical.retrieve(query, { count: 4 });
    await store.close();
    const after = await again();
    same(after.dimension, dimension);
    same(await after.document(english.document.uri), english.document);
    same(await after.counts(), { documents: 2, chunks: 5, vectors: 5 });
    const found = await after.dense.retrieve(query, { count: 4 });
    same(
      found.map(({ chunkId }) => chunkId),
      dense.map(({ chunkId }) => chunkId),
    );
    same(await after.lexical.retrieve(query, { count: 4 }), lexical);
  },

  "finds nothing wrong with what was written": async (store) => {
    await write(store, english, chinese);
    await store.deleteDocuments([chinese.document.uri]);
    const { ok: isSound, problems, repaired } = await store.verify();
    same({ isSound, problems, repaired }, { isSound: true, problems: [], repaired: false });
  },

  "reconciles: the counts are those of the documents, and each listed document can be read": async (store) => {
    const version = (number: number) =>
      Array.from({ length: 60 }, (_, index) =>
        madeDocument(
          `doc ${index}`,
          Array.from({ length: (index + number) % 5 }, (__, part) => `part ${part} of ${index % 20}`),
        ),
      );
    const [before, after] = [version(0).slice(0, 40), version(3).slice(20)];
    const [first, second] = [await write(store, ...before), await write(store, ...after)];
    same(
      [...first, ...second].map(({ outcome }) => outcome),
      [...before.map(() => "added"), ...after.map((_, index) => (index < 20 ? "updated" : "added"))],
    );
    const made = [...before.slice(0, 20), ...after];
    const gone = await store.deleteDocuments(made.slice(0, 10).map(({ document }) => document.uri));
    const left = made.slice(10);
    same(gone, { documents: 10, chunks: chunksOf(made) - chunksOf(left) });
    const listed = await store.documents();
    same(listed.length, left.length);
    const { documents, chunks, vectors } = await store.counts();
    same({ documents, chunks }, { documents: left.length, chunks: chunksOf(left) });
    same(
      chunks,
      listed.reduce((sum, info) => sum + info.chunks, 0),
    );
    same(vectors, withVectors([...before, ...after], dimension).vectors!.size);
    for (const { document } of left) same(await store.document(document.uri), document);
  },
};

/** Chunks of an earlier version that a later one has too. */
function kept(earlier: typeof english, later: typeof english): number {
  return earlier.chunks.filter(({ id }) => later.chunks.some((chunk) => chunk.id === id)).length;
}

function chunksOf(documents: readonly (typeof english)[]): number {
  return documents.reduce((sum, { chunks }) => sum + chunks.length, 0);
}

function hitsOf(store: Store, { chunks }: Pick<typeof english, "chunks">) {
  return store.hits(chunks.map(({ id }) => ({ chunkId: id, score: 1, placements: [] })));
}

function sorted(texts: readonly string[]): string[] {
  return texts.toSorted();
}
