import { match, ok, rejects } from "node:assert/strict";
import type { Store, StoreWrite } from "../core/ports.js";
import { vectorKey } from "../text/chunking/chunk-identity.js";
import { type Check, dimension, refuses, same } from "./check.js";
import { chinese, english, madeDocument, madeVector, withVectors } from "./made-documents.js";

const good = madeVector("good", dimension);
const broken = (position: number, value: number) =>
  good.map((component, index) => (index === position ? value : component));

/** Checks that a store with one document refuses a write and is as it was before. */
async function refusesWrite(store: Store, code: string, write: StoreWrite): Promise<void> {
  if ((await store.counts()).documents === 0) await store.write(withVectors([chinese], dimension));
  const before = await store.counts();
  await refuses(code, () => store.write(write));
  same(await store.counts(), before);
  same(
    (await store.documents()).map(({ uri }) => uri),
    [chinese.document.uri],
  );
  same(await store.document(chinese.document.uri), chinese.document);
}

export const refusalChecks: Readonly<Record<string, Check>> = {
  ...Object.fromEntries(
    (
      [
        ["NaN", broken(3, NaN)],
        ["infinity", broken(0, Infinity)],
        ["all zeros", new Float32Array(dimension)],
        ["numbers in a plain array", Array.from(good) as unknown as Float32Array],
        ["a string among the numbers", [...good.slice(1), "1"] as unknown as Float32Array],
      ] as const
    ).map(([what, vector]): [string, Check] => [
      `refuses a vector of ${what}, and all that came with it`,
      async (store) => {
        const vectors = new Map([
          ["first", good],
          ["second", vector],
        ]);
        await refusesWrite(store, "vector", {
          vectors,
          documents: [{ document: { uri: "blank", text: "" }, chunks: [] }],
        });
        same(await store.knownVectors(["first", "second"]), new Map());
      },
    ]),
  ),

  "refuses a vector of another length, with both numbers": async (store) => {
    await store.write(withVectors([chinese], dimension));
    const vectors = new Map([["key", madeVector("x", 8)]]);
    await refusesWrite(store, "dimension", { vectors });
    await rejects(store.write({ vectors }), /\b8\b.*\b24\b/);
  },

  "refuses a chunk without a vector, together with all that came with it": async (store) => {
    const other = madeDocument("other", ["something else"]);
    const vectors = new Map(withVectors([english, other], dimension).vectors);
    vectors.delete(vectorKey(english.chunks[1]!));
    const notes = new Map([["note of its own", "text"]]);
    await refusesWrite(store, "vector", { vectors, documents: [other, english], notes, settings: { kept: false } });
    same(await store.knownVectors([...vectors.keys()]), new Map());
    if (store.notes) same(await store.notes([...notes.keys()]), new Map());
    same(store.settings ?? {}, {});
  },

  "refuses a chunk that is not a slice of its document, outside its parent, of another document, or given twice":
    async (store) => {
      const write = withVectors([english], dimension);
      const changed = (change: object) => ({
        ...write,
        documents: [{ ...english, chunks: [{ ...english.chunks[0]!, ...change }, ...english.chunks.slice(1)] }],
      });
      const [first, second] = english.chunks;
      await refusesWrite(store, "options", changed({ start: 1, end: first!.end + 1 }));
      await refusesWrite(store, "options", changed({ parent: { start: 1, end: 30 } }));
      await refusesWrite(store, "options", changed({ parent: { start: 0, end: 1000 } }));
      await refusesWrite(store, "options", changed({ documentId: "other" }));
      await refusesWrite(store, "options", changed({ id: second!.id }));
    },

  "refuses half a surrogate pair in a uri, title, source, media type or note, and all that came with it": async (
    store,
  ) => {
    const half = "half \ud83d";
    const { vectors } = withVectors([english], dimension);
    for (const change of [{ title: half }, { source: half }, { mediaType: half }]) {
      const documents = [{ ...english, document: { ...english.document, ...change } }];
      await refusesWrite(store, "options", { vectors, documents });
    }
    await refusesWrite(store, "options", withVectors([madeDocument(half, ["text"])], dimension));
    if (!store.notes) return;
    await refusesWrite(store, "options", { notes: new Map([["a", half]]) });
    await refusesWrite(store, "options", { notes: new Map([[half, "a"]]) });
  },

  "refuses a query without a vector or with an invalid one, and an invalid count": async (store) => {
    await store.write(withVectors([english], dimension));
    const dense = (vector?: Float32Array, count = 5) =>
      store.dense.retrieve({ text: "cat", ...(vector && { vector }) }, { count });
    await refuses("options", () => dense());
    await refuses("vector", () => dense(broken(1, NaN)));
    await refuses("dimension", () => dense(madeVector("x", 8)));
    for (const count of [0, -1, 1.5, NaN]) {
      await refuses("options", () => store.lexical.retrieve({ text: "cat" }, { count }));
      await refuses("options", () => dense(good, count));
    }
  },

  "refuses an option that a method does not know": async (store) => {
    await store.write(withVectors([english], dimension));
    const unknown = (option: string) => ({ [option]: "docs" }) as object;
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.dense.retrieve({ text: "", vector: good }, { count: 1, ...unknown("filters") }),
      () => store.lexical.retrieve({ text: "cat" }, { count: 1, ...unknown("filters") }),
      () => store.document(english.document.uri, unknown("filters")),
      () => store.hits([], unknown("filters")),
      () => store.documents(unknown("sources")),
      () => store.write(unknown("document")),
      () => store.verify(unknown("repaired")),
      () => store.close(unknown("signals")),
    ];
    for (const call of calls) await refuses("options", call);
    same((await store.counts()).documents, 1);
  },

  "refuses a call that was aborted, with the caller's own reason": async (store) => {
    await store.write(withVectors([english], dimension));
    const reason = new Error("enough");
    const call = { count: 5, signal: AbortSignal.abort(reason) };
    for (const retriever of [store.lexical, store.dense]) {
      await rejects(retriever.retrieve({ text: "cat", vector: good }, call), (error) => error === reason);
    }
    const during = new AbortController();
    const running = store.lexical.retrieve({ text: "cat" }, { count: 5, signal: during.signal });
    during.abort(reason);
    const ended = await running.catch((error: unknown) => error);
    ok(ended === reason || Array.isArray(ended), "an abort on the way was wrapped");
    same((await store.lexical.retrieve({ text: "cat" }, { count: 5 })).length, 2);
  },

  "refuses every call after close, while a second close does nothing": async (store) => {
    await store.write(withVectors([english], dimension));
    await Promise.all([store.close(), store.close()]);
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.write({ documents: [english] }),
      () => store.deleteDocuments(["x"]),
      () => store.knownVectors(["x"]),
      () => store.documentInfo("x"),
      () => store.documents(),
      () => store.document("x"),
      () => store.hits([]),
      () => store.counts(),
      () => store.dense.retrieve({ text: "", vector: good }, { count: 1 }),
      () => store.lexical.retrieve({ text: "x" }, { count: 1 }),
      ...(store.notes ? [() => store.notes!(["x"])] : []),
      ...(store.documentWithChunks ? [() => store.documentWithChunks!("x")] : []),
    ];
    for (const call of calls) await refuses("closed", call);
  },

  "names where it is, for messages": async (store) => {
    match(store.location, /\S/);
    same(store.scoped({ uri: "x" }).location, store.location);
  },
};
