import { describe, expect, onTestFinished, test } from "vitest";
import { OptionsError, StoreError } from "../../src/core/errors.js";
import type { Store } from "../../src/core/ports.js";
import { documentFingerprint, embeddingText, vectorKey } from "../../src/text/chunking/chunk-identity.js";
import { cosine, madeDocument, madeVector, withVectors } from "./made-documents.js";

const dimension = 24;

export interface StoreFactory {
  /** A new empty store of the space `made`, for vectors of any length; the same `name` opens the same store. */
  readonly open: (name: string) => Promise<Store>;
}

/** The promises of every implementation of the `Store` port. */
export function conformance(kind: string, { open }: StoreFactory): void {
  const opened = async (name = `store-${Math.random()}`) => {
    const store = await open(name);
    onTestFinished(() => store.close());
    return store;
  };
  const english = madeDocument("file:///en.md", ["The cat sat on the mat.", "Dogs bark at night.", "A cat purrs."], {
    title: "Animals",
    metadata: { year: 2026, nested: { tags: ["a", "b"] } },
    mediaType: "text/markdown",
    source: "docs",
  });
  const chinese = madeDocument("file:///zh.md", ["检索增强生成是一种技术。", "向量数据库保存向量。"]);

  describe(`${kind} stores`, () => {
    test("a document, and returns it unchanged, with its info and counts", async () => {
      const store = await opened();
      const written = await store.write(withVectors([english, chinese], dimension));
      expect(written).toEqual([
        { uri: english.document.uri, outcome: "added", chunks: 3, deletedChunks: 0 },
        { uri: chinese.document.uri, outcome: "added", chunks: 2, deletedChunks: 0 },
      ]);
      expect(await store.document(english.document.uri)).toEqual(english.document);
      expect(await store.document(chinese.document.uri)).toEqual(chinese.document);
      expect(await store.documentInfo(english.document.uri)).toEqual({
        uri: english.document.uri,
        title: "Animals",
        source: "docs",
        fingerprint: documentFingerprint(english.document, english.chunks),
        chunks: 3,
      });
      expect(await store.counts()).toEqual({ documents: 2, chunks: 5, vectors: 5 });
      expect(store.dimension).toBe(dimension);
    });

    test("the revision of a document, until it is written without one", async () => {
      const store = await opened();
      const revision = { etag: 'W/"7"', lastModified: "Sat, 21 Nov 2026 10:00:00 GMT" };
      const page = { ...chinese, document: { ...chinese.document, revision } };
      const { uri } = page.document;
      await store.write(withVectors([page], dimension));
      expect(await store.document(uri)).toEqual(page.document);
      await store.write(withVectors([chinese], dimension));
      expect(await store.document(uri)).toEqual(chinese.document);
    });

    test("notes by uri, which go with their document when it is written or deleted", async () => {
      const store = await opened();
      const [one, two] = [english.document.uri, chinese.document.uri];
      const notes = new Map([one, two, "no document"].map((uri) => [uri, `about ${uri}`]));
      await store.write({ ...withVectors([english, chinese], dimension), notes });
      const read = () => store.notes!([one, two, "no document", "nothing"]);
      expect(await read()).toEqual(notes);
      await store.write(withVectors([english], dimension));
      await store.deleteDocuments([two]);
      expect(await read()).toEqual(new Map([["no document", "about no document"]]));
      await store.write({ notes: new Map([["no document", "new"]]) });
      expect(await read()).toEqual(new Map([["no document", "new"]]));
    });

    test("settings by name, also when the store is opened again, until they are set to null", async () => {
      const first = await open("settings");
      expect(first.settings ?? {}).toEqual({});
      await first.write({ settings: { one: { deep: [1, "a"] }, two: 2 } });
      await first.write({ settings: { two: null, three: "c" } });
      await first.close();
      const again = await opened("settings");
      expect(again.settings).toEqual({ one: { deep: [1, "a"] }, three: "c" });
    });

    test("texts that UTF-8 cannot express, without a change", async () => {
      const store = await opened();
      const odd = madeDocument("odd", ["half a pair \ud83d alone", "nul \0 inside", "\udc00"]);
      await store.write(withVectors([odd], dimension));
      expect(await store.document("odd")).toEqual(odd.document);
      const hits = await store.hits(odd.chunks.map(({ id }) => ({ chunkId: id, score: 1, placements: [] })));
      expect(hits.map(({ chunk }) => chunk)).toEqual(odd.chunks);
    });

    test("a chunk's parent, and replaces it without replacing the chunk", async () => {
      const store = await opened();
      const { document, chunks } = madeDocument("parents", ["one", "two", "three"]);
      const hitsOf = () => store.hits(chunks.map(({ id }) => ({ chunkId: id, score: 1, placements: [] })));
      for (const end of [document.text.length, 10]) {
        const widened = chunks.map((chunk, at) => (at === 1 ? { ...chunk, parent: { start: 0, end } } : chunk));
        const [written] = await store.write(withVectors([{ document, chunks: widened }], dimension));
        expect(written!.deletedChunks).toBe(0);
        expect((await hitsOf()).map(({ chunk }) => chunk)).toEqual(widened);
        const info = await store.documentInfo("parents");
        expect(info!.fingerprint).toBe(documentFingerprint(document, widened));
        expect(info!.fingerprint).not.toBe(documentFingerprint(document, chunks));
      }
    });

    test("a document with its chunks, as they were written", async () => {
      const store = await opened();
      const parent = { start: 0, end: english.document.text.length };
      const written = { ...english, chunks: english.chunks.map((chunk) => ({ ...chunk, parent })) };
      await store.write(withVectors([written, chinese], dimension));
      expect(await store.documentWithChunks?.(english.document.uri)).toEqual(written);
      expect(await store.documentWithChunks?.("nothing")).toBeUndefined();
    });

    test("a blank document without chunks", async () => {
      const store = await opened();
      expect(await store.write({ documents: [{ document: { uri: "blank", text: "" }, chunks: [] }] })).toEqual([
        { uri: "blank", outcome: "added", chunks: 0, deletedChunks: 0 },
      ]);
      expect(await store.document("blank")).toEqual({ uri: "blank", text: "" });
    });

    test("nothing that was never written: it is undefined, empty or left out", async () => {
      const store = await opened();
      expect(await store.document("nothing")).toBeUndefined();
      expect(await store.documentInfo("nothing")).toBeUndefined();
      expect(await store.documents()).toEqual([]);
      expect(await store.hits([{ chunkId: "nothing", score: 1, placements: [] }])).toEqual([]);
      expect(await store.knownVectors(["nothing"])).toEqual(new Map());
      expect(await store.deleteDocuments(["nothing"])).toEqual({ documents: 0, chunks: 0 });
      expect(await store.dense.retrieve({ text: "", vector: madeVector("x", dimension) }, { count: 5 })).toEqual([]);
      expect(await store.lexical.retrieve({ text: "cat" }, { count: 5 })).toEqual([]);
    });

    test("documents, and lists them by URI, all or those of one source", async () => {
      const store = await opened();
      const made = ["c", "a", "b"].map((uri) => madeDocument(uri, [uri], uri === "a" ? {} : { source: "s" }));
      await store.write(withVectors(made, dimension));
      expect((await store.documents()).map(({ uri }) => uri)).toEqual(["a", "b", "c"]);
      expect((await store.documents({ source: "s" })).map(({ uri }) => uri)).toEqual(["b", "c"]);
    });

    test("documents a page at a time, in the order of bytes, also within a scope", async () => {
      const store = await opened();
      // The order of code units puts the last two the other way round.
      const uris = ["a", "a\0", "ab", "b", "c", "\uff5e", "\u{1f600}"];
      const made = uris.map((uri) => madeDocument(uri, [uri], { metadata: { odd: uris.indexOf(uri) % 2 === 1 } }));
      await store.write(withVectors(made.toReversed(), dimension));
      const listed = async (from: Pick<Store, "documents">, wanted: { after?: string; limit?: number }) =>
        (await from.documents(wanted)).map(({ uri }) => uri);
      expect(await listed(store, {})).toEqual(uris);
      for (const [index, after] of uris.entries()) {
        expect(await listed(store, { after, limit: 2 })).toEqual(uris.slice(index + 1, index + 3));
      }
      expect(await listed(store, { after: "aa", limit: 1 })).toEqual(["ab"]);
      const odd = store.scoped({ metadata: { odd: true } });
      expect(await listed(odd, { limit: 2 })).toEqual(["a\0", "b"]);
      expect(await listed(odd, { after: "b", limit: 2 })).toEqual(["\uff5e"]);
    });

    test("a document in place of its earlier version", async () => {
      const store = await opened();
      await store.write(withVectors([english], dimension));
      const shorter = madeDocument(english.document.uri, ["Dogs bark at night.", "Birds sing."], { title: "Animals" });
      expect(await store.write(withVectors([shorter], dimension))).toEqual([
        { uri: english.document.uri, outcome: "updated", chunks: 2, deletedChunks: 2 },
      ]);
      expect(await store.document(english.document.uri)).toEqual(shorter.document);
      expect((await store.counts()).chunks).toBe(2);
      expect(await store.lexical.retrieve({ text: "cat" }, { count: 5 })).toEqual([]);
      const found = await store.lexical.retrieve({ text: "birds" }, { count: 5 });
      expect(found.map(({ chunkId }) => chunkId)).toEqual([shorter.chunks[1]!.id]);
    });

    test("a chunk whose text did not change at its new place", async () => {
      const store = await opened();
      await store.write(withVectors([madeDocument("moved", ["one", "two", "three"])], dimension));
      const longer = madeDocument("moved", ["zero", "one", "two", "three"]);
      expect((await store.write(withVectors([longer], dimension)))[0]!.deletedChunks).toBe(0);
      const hits = await store.hits(longer.chunks.map(({ id }) => ({ chunkId: id, score: 1, placements: [] })));
      expect(hits.map(({ chunk }) => chunk)).toEqual(longer.chunks);
      expect(hits.map(({ line }) => line)).toEqual([1, 3, 5, 7]);
    });

    test("the vectors of a deleted document for the next time, but finds the document no more", async () => {
      const store = await opened();
      await store.write(withVectors([english, chinese], dimension));
      expect(await store.deleteDocuments([english.document.uri, "unknown"])).toEqual({ documents: 1, chunks: 3 });
      expect(await store.counts()).toEqual({ documents: 1, chunks: 2, vectors: 5 });
      expect(await store.lexical.retrieve({ text: "cat dogs" }, { count: 5 })).toEqual([]);
      const everything = await store.dense.retrieve({ text: "", vector: madeVector("x", dimension) }, { count: 9 });
      expect(everything.map(({ chunkId }) => chunkId).toSorted()).toEqual(
        chinese.chunks.map(({ id }) => id).toSorted(),
      );
      expect(await store.write({ documents: [english] })).toEqual([expect.objectContaining({ outcome: "added" })]);
    });

    test("vectors before any chunk needs them, and returns them unchanged", async () => {
      const store = await opened();
      const { vectors } = withVectors([english], dimension);
      await store.write({ vectors });
      expect(await store.counts()).toEqual({ documents: 0, chunks: 0, vectors: 3 });
      expect(await store.knownVectors([...vectors!.keys(), "unknown"])).toEqual(vectors);
      expect(await store.write({ documents: [english] })).toHaveLength(1);
    });

    test("everything across closing and opening again", async () => {
      const name = `again-${Math.random()}`;
      const before = await open(name);
      await before.write(withVectors([english, chinese], dimension));
      const query = { text: "cat mat", vector: madeVector("query", dimension) };
      const dense = await before.dense.retrieve(query, { count: 4 });
      const lexical = await before.lexical.retrieve(query, { count: 4 });
      await before.close();
      const after = await opened(name);
      expect(after.dimension).toBe(dimension);
      expect(await after.document(english.document.uri)).toEqual(english.document);
      expect((await after.dense.retrieve(query, { count: 4 })).map(({ chunkId }) => chunkId)).toEqual(
        dense.map(({ chunkId }) => chunkId),
      );
      expect(await after.lexical.retrieve(query, { count: 4 })).toEqual(lexical);
    });
  });

  describe(`${kind} finds`, () => {
    test("by vector what a full scan finds, best first, with cosine and rank", async () => {
      const store = await opened();
      const documents = Array.from({ length: 40 }, (_, index) =>
        madeDocument(`d${index}`, [`first of ${index}`, `second of ${index}`]),
      );
      await store.write(withVectors(documents, dimension));
      const vector = madeVector("a question", dimension).map((component) => component * 7);
      const found = await store.dense.retrieve({ text: "", vector }, { count: 10 });
      const scan = documents
        .flatMap(({ chunks }) => chunks)
        .map((chunk) => ({ id: chunk.id, score: cosine(vector, madeVector(embeddingText(chunk), dimension)) }))
        .toSorted((a, b) => b.score - a.score)
        .slice(0, 10);
      expect(found.map(({ chunkId }) => chunkId)).toEqual(scan.map(({ id }) => id));
      expect(found.map(({ score }) => score)).toEqual(scan.map(({ score }) => expect.closeTo(score, 5)));
      expect(found.map(({ placements }) => placements)).toEqual(
        found.map(({ score }, index) => [{ by: "dense", rank: index + 1, score }]),
      );
    });

    test("by words, also in the title, rarer words and shorter texts first", async () => {
      const store = await opened();
      await store.write(withVectors([english, chinese], dimension));
      const ids = async (text: string) =>
        (await store.lexical.retrieve({ text }, { count: 9 })).map(({ chunkId }) => chunkId);
      expect(await ids("cat")).toEqual([english.chunks[2]!.id, english.chunks[0]!.id]);
      expect((await ids("animals")).length).toBe(3);
      expect(await ids("zebra")).toEqual([]);
      expect(await ids("")).toEqual([]);
      const [best] = await store.lexical.retrieve({ text: "dogs" }, { count: 9 });
      expect(best!.placements).toEqual([{ by: "lexical", rank: 1, score: best!.score }]);
    });

    test("documents as soon as they are written", async () => {
      const store = await opened();
      for (let index = 0; index < 5; index++) {
        const made = madeDocument(`fresh${index}`, [`freshword${index}`]);
        await store.write(withVectors([made], dimension));
        const vector = madeVector(embeddingText(made.chunks[0]!), dimension);
        const [dense] = await store.dense.retrieve({ text: "", vector }, { count: 1 });
        const [lexical] = await store.lexical.retrieve({ text: `freshword${index}` }, { count: 1 });
        expect([dense?.chunkId, lexical?.chunkId]).toEqual([made.chunks[0]!.id, made.chunks[0]!.id]);
      }
    });

    test("at most `count` chunks, and no more than there are", async () => {
      const store = await opened();
      await store.write(withVectors([english], dimension));
      const query = { text: "cat dogs night", vector: madeVector("x", dimension) };
      expect(await store.dense.retrieve(query, { count: 1000 })).toHaveLength(3);
      expect(await store.dense.retrieve(query, { count: 2 })).toHaveLength(2);
      expect(await store.lexical.retrieve(query, { count: 1 })).toHaveLength(1);
    });

    test("hits in the given order, with the line where text and file have the same lines", async () => {
      const store = await opened();
      await store.write(withVectors([english], dimension));
      const [first, second, third] = english.chunks;
      const placements = [{ by: "fused", rank: 1, score: 0.5 }];
      const hits = await store.hits([
        { chunkId: third!.id, score: 0.5, placements },
        { chunkId: "unknown", score: 0.4, placements },
        { chunkId: first!.id, score: 0.3, placements },
      ]);
      const { uri, metadata } = english.document;
      expect(hits).toEqual([
        { chunk: third, uri, title: "Animals", metadata, line: 5, score: 0.5, placements },
        { chunk: first, uri, title: "Animals", metadata, line: 1, score: 0.3, placements },
      ]);
      expect(second).toBeDefined();
    });

    test("hits with the metadata of their documents, and none where a document has none", async () => {
      const store = await opened();
      await store.write(withVectors([english, chinese], dimension));
      const ids = [english, chinese].map(({ chunks }) => chunks[0]!.id);
      const hits = await store.hits(ids.map((chunkId) => ({ chunkId, score: 1, placements: [] })));
      expect(hits.map(({ metadata }) => metadata)).toEqual([english.document.metadata, undefined]);
    });

    test("hits with pages and the anchors inside the span, if the document has anchors", async () => {
      const store = await opened();
      const anchors = [
        { start: 0, page: 1 },
        { start: 7, page: 2, line: 1 },
        { start: 12, line: 9 },
      ];
      const paged = madeDocument("paged", ["abcde", "fghij", "klm"], { anchors });
      await store.write(withVectors([paged], dimension));
      const hits = await store.hits(paged.chunks.map(({ id }) => ({ chunkId: id, score: 1, placements: [] })));
      expect(hits.map(({ line, page, anchors: inside }) => ({ line, page, inside }))).toEqual([
        { line: undefined, page: 1, inside: [anchors[0]] },
        { line: 1, page: 2, inside: [anchors[1], anchors[2]] },
        { line: 9, page: 2, inside: [] },
      ]);
    });
  });

  describe(`${kind} refuses, without a change`, () => {
    const refusedWrite = async (write: Parameters<Store["write"]>[0]) => {
      const store = await opened();
      await store.write(withVectors([chinese], dimension));
      const before = await store.counts();
      const error = await store.write(write).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(await store.counts()).toEqual(before);
      expect(await store.documents()).toHaveLength(1);
      return error;
    };
    const good = madeVector("good", dimension);
    const broken = (at: number, value: number) => good.map((component, index) => (index === at ? value : component));

    test.each([
      ["NaN", broken(3, NaN)],
      ["infinity", broken(0, Infinity)],
      ["all zeros", new Float32Array(dimension)],
      ["numbers in a plain array", Array.from(good) as unknown as Float32Array],
      ["a string among the numbers", [...good.slice(1), "1"] as unknown as Float32Array],
    ])("a vector of %s", async (_, vector) => {
      const vectors = new Map([
        ["first", good],
        ["second", vector],
      ]);
      const error = await refusedWrite({ vectors, documents: [] });
      expect(error).toBeInstanceOf(StoreError);
      expect(error).toMatchObject({ code: "vector" });
    });

    test("a vector of another length, with both numbers", async () => {
      const error = await refusedWrite({ vectors: new Map([["key", madeVector("x", 8)]]) });
      expect(error).toMatchObject({ code: "dimension", message: expect.stringMatching(/\b8\b.*\b24\b/) });
    });

    test("a chunk without a vector, together with all that came with it", async () => {
      const vectors = new Map(withVectors([english], dimension).vectors);
      vectors.delete(vectorKey(english.chunks[1]!));
      expect(await refusedWrite({ vectors, documents: [english] })).toMatchObject({ code: "vector" });
    });

    test("a chunk that is not a slice of its document, outside its parent, of another document, or given twice", async () => {
      const write = withVectors([english], dimension);
      const changed = (change: object) => ({
        ...write,
        documents: [{ ...english, chunks: [{ ...english.chunks[0]!, ...change }, ...english.chunks.slice(1)] }],
      });
      expect(await refusedWrite(changed({ start: 1, end: english.chunks[0]!.end + 1 }))).toBeInstanceOf(OptionsError);
      expect(await refusedWrite(changed({ parent: { start: 1, end: 30 } }))).toBeInstanceOf(OptionsError);
      expect(await refusedWrite(changed({ parent: { start: 0, end: 1000 } }))).toBeInstanceOf(OptionsError);
      expect(await refusedWrite(changed({ documentId: "other" }))).toBeInstanceOf(OptionsError);
      expect(await refusedWrite(changed({ id: english.chunks[1]!.id }))).toBeInstanceOf(OptionsError);
    });

    test("a query without a vector or with an invalid one, and an invalid count", async () => {
      const store = await opened();
      await store.write(withVectors([english], dimension));
      await expect(store.dense.retrieve({ text: "cat" }, { count: 5 })).rejects.toThrow(OptionsError);
      const query = { text: "cat", vector: broken(1, NaN) };
      await expect(store.dense.retrieve(query, { count: 5 })).rejects.toMatchObject({ code: "vector" });
      const short = { text: "cat", vector: madeVector("x", 8) };
      await expect(store.dense.retrieve(short, { count: 5 })).rejects.toMatchObject({ code: "dimension" });
      for (const count of [0, -1, 1.5, NaN]) {
        await expect(store.lexical.retrieve({ text: "cat" }, { count })).rejects.toThrow(OptionsError);
      }
    });

    test("an option that a method does not know, with the nearest that it knows", async () => {
      const store = await opened();
      await store.write(withVectors([english], dimension));
      const vector = madeVector("question", dimension);
      const unknown = (option: string) => ({ [option]: "docs" }) as object;
      const calls: readonly (() => Promise<unknown>)[] = [
        () => store.dense.retrieve({ text: "", vector }, { count: 1, ...unknown("filters") }),
        () => store.lexical.retrieve({ text: "cat" }, { count: 1, ...unknown("filters") }),
        () => store.document(english.document.uri, unknown("filters")),
        () => store.hits([], unknown("filters")),
        () => store.documents(unknown("sources")),
        () => store.write(unknown("document")),
        () => store.verify(unknown("repaired")),
        () => store.close(unknown("signals")),
      ];
      for (const call of calls) await expect(call()).rejects.toThrow(/there is no option ".*"; did you mean/);
      expect(await store.counts()).toMatchObject({ documents: 1 });
    });

    test("a call that was aborted, with the caller's own reason", async () => {
      const store = await opened();
      const reason = new Error("enough");
      const call = { count: 5, signal: AbortSignal.abort(reason) };
      await expect(store.lexical.retrieve({ text: "cat" }, call)).rejects.toBe(reason);
    });

    test("every call after close, while a second close does nothing", async () => {
      const store = await opened();
      await store.write(withVectors([english], dimension));
      await Promise.all([store.close(), store.close()]);
      const vector = madeVector("x", dimension);
      const calls = [
        () => store.write({ documents: [english] }),
        () => store.deleteDocuments(["x"]),
        () => store.knownVectors(["x"]),
        () => store.documentInfo("x"),
        () => store.documents(),
        () => store.document("x"),
        () => store.hits([]),
        () => store.counts(),
        () => store.dense.retrieve({ text: "", vector }, { count: 1 }),
        () => store.lexical.retrieve({ text: "x" }, { count: 1 }),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "closed" });
    });
  });

  test(`${kind}: searches and writes at the same time each see a whole state`, async () => {
    const store = await opened();
    const pair = (version: number) => madeDocument("pair", [`left ${version}`, `right ${version}`]);
    await store.write(withVectors([pair(0)], dimension));
    const writing = (async () => {
      for (let version = 1; version <= 20; version++) await store.write(withVectors([pair(version)], dimension));
    })();
    for (let round = 0; round < 20; round++) {
      const { chunks } = await store.counts();
      expect(chunks).toBe(2);
      const vector = madeVector("x", dimension);
      expect((await store.dense.retrieve({ text: "", vector }, { count: 9 })).length).toBeLessThanOrEqual(2);
    }
    await writing;
    expect((await store.lexical.retrieve({ text: "left right" }, { count: 9 })).length).toBe(2);
  });
}
