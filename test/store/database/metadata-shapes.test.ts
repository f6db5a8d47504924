import * as fc from "fast-check";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Json, Metadata } from "../../../src/core/types.js";
import { openStore } from "../../../src/store/open-store.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

async function opened() {
  const store = await openStore(join(await temporaryFolder(), "store"), { space: "test" });
  onTestFinished(() => store.close());
  const write = (uri: string, text: string, metadata: Metadata) =>
    store.write({ documents: [{ document: { uri, text, metadata }, chunks: [] }] });
  return { store, write };
}

test("a document whose metadata holds a value twice can be edited", async () => {
  const { store, write } = await opened();
  const metadata: Metadata = {
    authors: [{ name: "A" }, { name: "B" }],
    tags: ["a", "a", 1, 1, true, true, null, null],
    dates: ["2026-01-01", "2026-01-01"],
  };
  expect(await write("note:1", "one", metadata)).toMatchObject([{ outcome: "added" }]);
  expect(await write("note:1", "two", metadata)).toMatchObject([{ outcome: "updated" }]);
  const found = await store.document("note:1", { filter: { metadata: { tags: "a", dates: { gte: "2026-01-01" } } } });
  expect(found?.text).toBe("two");
});

test("metadata of any shape is written, edited and read back as it was", async () => {
  const { store, write } = await opened();
  const key = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString", "a.b", '"', "$", "[0]"));
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>(null, true, false, 0, -0, 1e308, 5e-324, "", "2024-02-30", "2026-01-01T10:00:00+02:00"),
      fc.string({ unit: "binary" }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.array(tie("value"), { maxLength: 6 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    ),
  }));
  const metadata = fc.dictionary(key, value, { maxKeys: 5 });
  await fc.assert(
    fc.asyncProperty(metadata, metadata, async (before, after) => {
      await write("note:1", "one", before);
      await write("note:1", "two", after);
      await write("note:1", "two", after);
      const stored = await store.document("note:1");
      expect(JSON.stringify(stored?.metadata ?? {})).toBe(JSON.stringify(after));
    }),
    { numRuns: 150 },
  );
});

test("a day that does not exist meets no bound", async () => {
  const { store, write } = await opened();
  await write("note:1", "one", { day: "2024-02-30" });
  await write("note:2", "two", { day: "2024-02-29" });
  const filter = { metadata: { day: { gte: "2024-01-01" } } };
  expect(await store.document("note:1", { filter })).toBeUndefined();
  expect(await store.document("note:2", { filter })).toBeDefined();
});

test("a text that goes on after a NUL does not equal its beginning", async () => {
  const { store, write } = await opened();
  await write("note:1", "one", { tenant: "a\0evil" });
  await write("note:2", "two", { tenant: "a" });
  const seenBy = async (tenant: string) => {
    const scope = store.scoped({ metadata: { tenant } });
    const uris = ["note:1", "note:2"];
    const documents = await Promise.all(uris.map((uri) => scope.document(uri)));
    return uris.filter((_, at) => documents[at] !== undefined);
  };
  expect(await seenBy("a")).toEqual(["note:2"]);
  expect(await seenBy("a\0evil")).toEqual(["note:1"]);
});
