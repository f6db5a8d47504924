import { expect, test } from "vitest";
import { served } from "../../support/served.js";

const documents = [
  { uri: "keys", text: "API keys expire after 90 days.", metadata: { tenant: "north" } },
  { uri: "locks", text: "Keys of locks expire when they rust.", metadata: { tenant: "south" } },
];
const question = "When do API keys expire?";
const some = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ metadata: { [`f${at}`]: { exists: false } } }));

test("a filter of more conditions than a store can bear is a bad request, wherever it comes in", async () => {
  const { json, kb } = await served(documents);
  for (const filter of [{ all: some(10_000) }, { not: { any: some(10_000) } }]) {
    for (const path of ["/api/search", "/api/ask", "/api/conversations"]) {
      const { error } = await json("POST", path, { question, filter }, 400);
      expect(error.message).toContain("must hold at most 1000 conditions");
    }
    await expect(kb.search(question, { filter })).rejects.toThrow("must hold at most 1000 conditions");
  }
});

test("a filter as large as it may be is answered, within a scope as large, by what it lets through", async () => {
  const { kb } = await served(documents);
  const within = kb.scoped({ all: [{ metadata: { tenant: "north" } }, ...some(499)] });
  const found = await within.search(question, { filter: { any: some(500) } });
  expect(found.hits.map(({ uri }) => uri)).toEqual(["keys"]);
  const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`f${at}`, { exists: false }]));
  const all = await kb.search(question, { filter: { metadata: fields } });
  expect(all.hits.map(({ uri }) => uri).toSorted()).toEqual(["keys", "locks"]);
  const none = await kb.search(question, {
    filter: { any: Array.from({ length: 500 }, (_, at) => ({ uri: `${at}` })) },
  });
  expect(none.hits).toEqual([]);
});
