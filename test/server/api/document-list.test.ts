import { describe, expect, test } from "vitest";
import { foldersIn, kindOf, kindsOf, selectDocuments } from "../../../src/server/api/document-list.js";
import { served } from "../../support/served.js";

const documents = [
  { uri: "file:///data/handbook/a%20b/keys.MD", title: "Keys 10", chunks: 3 },
  { uri: "file:///data/handbook/a%20b/deep/locks.md#part=2", title: "Keys 9", chunks: 9 },
  { uri: "file:///data/handbook/LICENSE", title: "License", chunks: 1 },
  { uri: "file:///data/handbook/hours.pdf", chunks: 4 },
];

describe("a list of documents", () => {
  test.each([
    ["file:///a/b.tar.GZ", "gz"],
    ["file:///a.b/c", ""],
    ["https://example.com/guide?x=1.pdf", "web"],
    ["https://example.com/guide.html#end", "html"],
    ["notes", ""],
  ])("takes %s for the kind %j", (uri, kind) => expect(kindOf(uri)).toBe(kind));

  test("shows the folders below the one that holds all, with all that is in them, and then those below each", () => {
    const [folder, ...others] = foldersIn(documents);
    expect(others).toEqual([]);
    expect(folder).toEqual({ address: "file:///data/handbook/a%20b/", name: "a b", documents: 2 });
    const inside = selectDocuments(documents, { folder: folder!.address });
    expect(inside.map(({ chunks }) => chunks)).toEqual([3, 9]);
    expect(foldersIn(inside, folder!.address)).toEqual([
      { address: "file:///data/handbook/a%20b/deep/", name: "deep", documents: 1 },
    ]);
    expect(foldersIn([])).toEqual([]);
    expect(foldersIn([{ uri: "a" }, { uri: "b" }])).toEqual([]);
  });

  test("counts kinds, the most frequent first, and is narrowed and ordered", () => {
    expect(kindsOf(documents)).toEqual([
      { kind: "md", documents: 2 },
      { kind: "", documents: 1 },
      { kind: "pdf", documents: 1 },
    ]);
    const chunksOf = (choice: Parameters<typeof selectDocuments>[1]) =>
      selectDocuments(documents, choice).map(({ chunks }) => chunks);
    expect(chunksOf({ kind: "md" })).toEqual([3, 9]);
    expect(chunksOf({ search: "KEYS" })).toEqual([3, 9]);
    expect(chunksOf({ sort: "passages" })).toEqual([9, 4, 3, 1]);
    // Numbers in titles count as numbers, and a document without a title stands by its address.
    expect(chunksOf({ sort: "title" })).toEqual([4, 9, 3, 1]);
  });
});

test("the API narrows, orders and counts, and pages through what it has chosen", async () => {
  const client = await served(documents.map(({ uri, title = "Hours" }) => ({ uri, title, text: `About ${title}.` })));
  const list = (query: string) => client.json("GET", `/api/documents?${query}`);
  const whole = await list("facets=true&limit=1");
  expect(whole).toMatchObject({
    total: 4,
    folders: [{ name: "a b", documents: 2 }],
    kinds: [{ kind: "md", documents: 2 }, { kind: "" }, { kind: "pdf" }],
  });
  expect(whole.documents).toHaveLength(1);
  expect(await list("kind=md&sort=title")).toMatchObject({
    total: 2,
    documents: [{ title: "Keys 9" }, { title: "Keys 10" }],
  });
  expect(await list(`folder=${encodeURIComponent("file:///data/handbook/a%20b/deep/")}&facets=true`)).toMatchObject({
    total: 1,
    folders: [],
    kinds: [{ kind: "md", documents: 1 }],
  });
  expect((await list("offset=3&sort=title")).documents).toMatchObject([{ title: "License" }]);
  expect(await list("")).not.toHaveProperty("kinds");
});
