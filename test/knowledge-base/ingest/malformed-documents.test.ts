// In test:all alone: it opens and fills a store for each malformed document, for 27 s.
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import type { Document, Json } from "../../../src/core/types.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

async function emptyKnowledgeBase() {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  return kb;
}

const note = (at: number, more: object = {}): Document => ({ uri: `note:${at}`, text: `Mole ${at} digs.`, ...more });
const throwing = (message: string) => () => {
  throw new Error(message);
};
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

/** Malformed documents from JavaScript callers, each with the uri under which it fails, and the reason. */
const malformed: readonly (readonly [what: string, given: () => unknown, uri: string, reason: string])[] = [
  ["null", () => null, "(document 2)", "must be an object: { uri, text } (got null)"],
  ["undefined", () => undefined, "(document 2)", "must be an object: { uri, text } (got undefined)"],
  ["a string", () => "Moles dig.", "(document 2)", "must be an object: { uri, text } (got a string)"],
  ["a number", () => 7, "(document 2)", "(got a number)"],
  ["a symbol", () => Symbol("mole"), "(document 2)", "(got a symbol)"],
  ["a function", () => () => note(2), "(document 2)", "(got a function)"],
  [
    "no uri",
    () => ({ text: "a" }),
    "(document 2)",
    "has no uri: it must be a string that is not empty (got undefined)",
  ],
  ["an empty uri", () => ({ uri: "", text: "a" }), "(document 2)", "has no uri"],
  ["a number as uri", () => ({ uri: 7, text: "a" }), "(document 2)", "(got a number)"],
  [
    "a getter of then that throws",
    () => Object.defineProperty({}, ["th", "en"].join(""), { get: throwing("no") }),
    "(document 2)",
    "has no uri",
  ],
  ["null as text", () => ({ uri: "b", text: null }), "b", "b: has no text: it must be a string (got null)"],
  [
    "bytes as text",
    () => ({ uri: "b", text: Buffer.from("a") }),
    "b",
    "has no text: it must be a string (got an object)",
  ],
  ["a number as title", () => note(2, { title: 7 }), "note:2", "title must be a string (got a number)"],
  ["null as media type", () => note(2, { mediaType: null }), "note:2", "mediaType must be a string (got null)"],
  ["a list as source", () => note(2, { source: [] }), "note:2", "source must be a string (got a list)"],
  [
    "anchors out of order",
    () => note(2, { anchors: [{ start: 9 }, { start: 3 }] }),
    "note:2",
    "anchors must be a list",
  ],
  ["anchors that are text", () => note(2, { anchors: "page 1" }), "note:2", "anchors must be a list"],
  [
    "a revision of numbers",
    () => note(2, { revision: { etag: 7 } }),
    "note:2",
    "revision must be an object of strings",
  ],
  ["metadata that are a list", () => note(2, { metadata: ["a"] }), "note:2", "metadata must be an object"],
  ["metadata that are null", () => note(2, { metadata: null }), "note:2", "metadata must be an object"],
  [
    "a getter that throws",
    () => Object.defineProperty({ uri: "b" }, "text", { get: throwing("not loaded") }),
    "b",
    "b: cannot be read: not loaded",
  ],
  ["a proxy that is revoked", revoked, "(document 2)", "cannot be read"],
  [
    "a getter that throws no error",
    () => ({
      get uri() {
        throw Object.create(null);
      },
    }),
    "(document 2)",
    "cannot be read",
  ],
];

test.each(malformed)("%s in place of a document is a failure of its own", async (_, given, uri, reason) => {
  const kb = await emptyKnowledgeBase();
  const report = await kb.ingest([note(1), given() as Document, note(3)]);
  expect(report.documents).toEqual({ added: 2, updated: 0, unchanged: 0, deleted: 0, failed: 1 });
  expect(report.failures).toMatchObject([
    { uri, error: { code: "options", message: expect.stringContaining(reason) } },
  ]);
  expect((await kb.documents()).map((each) => each.uri)).toEqual(["note:1", "note:3"]);
});

class Money {
  readonly sum = 7;
}
const cyclic: Record<string, unknown> = { name: "moles" };
cyclic["self"] = cyclic;
const wide = Array.from({ length: 60 }).reduce<unknown>((inner) => [inner, inner], "mole");

const unfit: readonly (readonly [what: string, metadata: Record<string, unknown>, reason: string])[] = [
  ["NaN", { size: Number.NaN }, "metadata.size must be a JSON value (got NaN)"],
  [
    "Infinity in a list",
    { sizes: [1, { most: Infinity }] },
    "metadata.sizes.1.most must be a JSON value (got Infinity)",
  ],
  ["a BigInt", { id: 7n }, "metadata.id must be a JSON value (got a bigint)"],
  ["a symbol", { id: Symbol("mole") }, "metadata.id must be a JSON value (got a symbol)"],
  ["a function", { toJSON: () => "moles" }, "metadata.toJSON must be a JSON value (got a function)"],
  ["a Map", { by: new Map([["a", 1]]) }, "metadata.by must be a JSON value (got an instance of Map)"],
  ["a Set", { tags: new Set(["a"]) }, "metadata.tags must be a JSON value (got an instance of Set)"],
  ["bytes", { hash: new Uint8Array(4) }, "metadata.hash must be a JSON value (got an instance of Uint8Array)"],
  ["an address", { from: new URL("http://localhost/") }, "metadata.from must be a JSON value (got an instance of URL)"],
  ["an instance of a class", { price: new Money() }, "metadata.price must be a JSON value (got an instance of Money)"],
  ["an invalid date", { on: new Date("soon") }, "metadata.on must be a JSON value (got an invalid Date)"],
  ["undefined in a list", { tags: ["a", undefined] }, "metadata.tags.1 must be a JSON value (got undefined)"],
  ["a gap in a list", { tags: Object.assign([], { 1: "a", length: 2 }) }, "metadata.tags.0 must be a JSON value"],
  ["a symbol as a name", { inner: { [Symbol("a")]: 1 } }, "metadata.inner must be a JSON value"],
  ["a cycle", { cyclic }, "metadata.cyclic.self holds itself"],
  ["a list that unfolds to 2 to the power of 60", { wide }, "metadata has more than 1000000 values"],
  [
    "a getter that throws",
    Object.defineProperty({}, "size", { get: throwing("not loaded"), enumerable: true }),
    "metadata.size cannot be read: not loaded",
  ],
];

// The values stand in no title: a cycle or a list that unfolds without end is not to be written.
test.each(unfit.map(([what], at) => [what, at] as const))("metadata with %s fail the document", async (_, at) => {
  const [, metadata, reason] = unfit[at]!;
  const kb = await emptyKnowledgeBase();
  const documents = [note(1), note(2, { metadata }), note(3, { metadata: { year: 2026 } })];
  const report = await kb.ingest(documents);
  expect(report.documents).toMatchObject({ added: 2, failed: 1 });
  expect(report.failures).toMatchObject([
    { uri: "note:2", error: { code: "options", message: expect.stringContaining(`note:2: ${reason}`) } },
  ]);
  const write = kb.store.write({ documents: [{ document: documents[1]!, chunks: [] }] });
  await expect(write).rejects.toThrow(reason);
});

test("a date is stored as its ISO text, a field that is undefined is left out, and all JSON values stay as they are", async () => {
  const kb = await emptyKnowledgeBase();
  const on = new Date("2026-02-28T12:00:00Z");
  const elsewhere: unknown = runInNewContext('({ on: new Date(0), tags: ["a"] })');
  const json: Json = { nothing: null, half: "\ud800", deep: [[{ so: true }]], "a.b": -1.5, "": "" };
  const own = JSON.parse('{ "__proto__": { "admin": true } }') as Json;
  const metadata = {
    on,
    no: undefined,
    list: [on],
    elsewhere,
    json,
    own,
    bare: Object.assign(Object.create(null), { a: 1 }),
  };
  const documents = [note(1, { metadata })];
  expect((await kb.ingest(documents)).documents).toMatchObject({ added: 1, failed: 0 });
  expect((await kb.document("note:1"))?.metadata).toEqual({
    on: "2026-02-28T12:00:00.000Z",
    list: ["2026-02-28T12:00:00.000Z"],
    elsewhere: { on: "1970-01-01T00:00:00.000Z", tags: ["a"] },
    json,
    own,
    bare: { a: 1 },
  });
  expect((await kb.ingest(documents)).documents).toMatchObject({ unchanged: 1 });
});

test("row 400 of 500 without a text costs no other, and the counts reconcile", async () => {
  const kb = await emptyKnowledgeBase();
  const rows = Array.from({ length: 500 }, (_, at) => note(at + 1));
  rows[399] = { ...rows[399]!, text: null as never };
  const { documents, failures } = await kb.ingest(rows);
  expect(documents).toEqual({ added: 499, updated: 0, unchanged: 0, deleted: 0, failed: 1 });
  expect(failures.map(({ uri }) => uri)).toEqual(["note:400"]);
});

test("a malformed document of a uri that the run has read leaves that one as it is", async () => {
  const kb = await emptyKnowledgeBase();
  const { documents, failures } = await kb.ingest([note(1), note(1, { text: 7 }), note(2)]);
  expect(documents).toMatchObject({ added: 2, failed: 1 });
  expect(failures.map(({ uri }) => uri)).toEqual(["note:1 (document 2)"]);
});

test("a document whose fields a class defines is read as any other, and asked for each field once", async () => {
  const kb = await emptyKnowledgeBase();
  let asked = 0;
  class Page {
    get uri() {
      return "note:1";
    }
    get text() {
      return asked++ === 0 ? "Moles dig." : (null as never);
    }
  }
  expect((await kb.ingest([new Page()])).documents).toMatchObject({ added: 1, failed: 0 });
  expect((await kb.document("note:1"))?.text).toBe("Moles dig.");
});

test("of two documents with one uri the last is kept, and a warning says so; equal ones are no matter", async () => {
  const kb = await emptyKnowledgeBase();
  const twice = await kb.ingest([note(1), note(2), note(1, { text: "Voles hide." }), note(2)]);
  expect(twice.documents).toMatchObject({ added: 2, failed: 0 });
  expect(twice.warnings).toEqual([
    "1 document has the uri of an earlier one of this run and another text, title or metadata; the last of each uri is kept. " +
      "The first such uri: note:1. Give every document a uri of its own",
  ]);
  expect((await kb.document("note:1"))?.text).toBe("Voles hide.");
});
