import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { typedWords } from "../../../src/text/words/spelling.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const pages = [
  {
    uri: "propagators",
    text: "Propagators carry the context of a request to the next service. A propagator writes headers.",
  },
  { uri: "retention", text: "Retention of the samples is thirty days, and each tenant may have another." },
  { uri: "exporter", text: "The exporter sends batches; exporters of several kinds exist." },
  { uri: "releases", text: "Releases have responses, and databases have passwords and responses." },
  { uri: "pools", text: "A connection stays open. maxConnections limits them, and ECONNRESET ends one." },
  ...Array.from({ length: 6 }, (_, at) => ({
    uri: `other/${at}`,
    text: `Page ${at} is about gardens, rivers, pages and their names.`,
  })),
];

async function withPages() {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  await kb.ingest(pages);
  return kb;
}

describe("a word that the store does not have", () => {
  test.each([
    ["propogators", "propagators", "propagators"],
    ["retentoin period", "retention period", "retention"],
    ["Exprter batches", "exporter batches", "exporter"],
    ["conection", "connection", "pools"],
    ["connectionn", "connection", "pools"],
    ["propgatrs", "propagators", "propagators"],
    ["tenent retentoin", "tenant retention", "retention"],
    ["batches exp", "batches exporter", "exporter"],
    ["samples ret", "samples retention", "retention"],
    ["propaga", "propagator", "propagators"],
    ["connec", "connection", "pools"],
    ["connectionstays", "connection stays", "pools"],
    ["thirtydays retention", "thirty days retention", "retention"],
  ])("%s is searched for as the store spells it, by words and by both", async (typed, searchedFor, uri) => {
    const kb = await withPages();
    for (const mode of ["lexical", "hybrid"] as const) {
      const found = await kb.search(typed, { mode, count: 3 });
      expect(found).toMatchObject({ question: typed, searchedFor });
      expect(found.hits[0]?.uri).toBe(uri);
      expect(found.trace.map(({ note }) => note)).toContain(`searched for: ${searchedFor}`);
    }
  });

  test("is left as it is where that is wanted, and in a search by vector", async () => {
    const kb = await withPages();
    const left = await kb.search("propogators", { mode: "lexical", correct: false });
    expect(left.hits).toEqual([]);
    expect(left).not.toHaveProperty("searchedFor");
    expect(await kb.search("propogators", { mode: "dense" })).not.toHaveProperty("searchedFor");
  });

  test("within a filter is looked for among the documents that the filter admits alone", async () => {
    const kb = await withPages();
    const found = await kb.search("propogators", { mode: "lexical", filter: { uri: { prefix: "other" } } });
    expect(found.hits).toEqual([]);
    expect(found).not.toHaveProperty("searchedFor");
  });
});

test.each([
  "propagator",
  "econnreset",
  "ECONNREST",
  "maxConnection",
  "v1.2.4",
  "tenent1",
  "zzzzzzzz",
  "openthem",
  "wages",
  '"propogators"',
  'headers "propogators"',
  "Where do the gardens of many rivers and propogators lie?",
])("%s is not corrected", async (question) => {
  expect(await (await withPages()).search(question)).not.toHaveProperty("searchedFor");
});

test.each([
  ["relases", "releases"],
  ["respnses", "responses"],
  ["databse", "databases"],
  ["pasword", "passwords"],
])("%s is searched for as %s, whose stem has a shorter stem", async (typed, spelling) => {
  expect((await (await withPages()).search(typed)).searchedFor).toBe(spelling);
});

test("of words that are as near, the one is taken that stands beside the other words", async () => {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  const lists = Array.from({ length: 8 }, (_, at) => ({
    uri: `lists/${at}`,
    text: `Lists of ${at} rivers, and details.`,
  }));
  await kb.ingest([
    ...lists,
    { uri: "limits", text: "Limits of memory." },
    { uri: "fraud", text: "Detection of fraud." },
  ]);
  expect(await kb.search("limts")).toMatchObject({ searchedFor: "lists" });
  expect(await kb.search("memory limts")).toMatchObject({ searchedFor: "memory limits" });
  expect(await kb.search("det")).toMatchObject({ searchedFor: "details" });
  expect(await kb.search("fraud det")).toMatchObject({ searchedFor: "fraud detection" });
});

test("for a name that no text has, only names are meant", async () => {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  await kb.ingest([
    { uri: "language", text: "A lingua franca of services." },
    { uri: "cluster", text: "A cluster of Kubernetes has nodes." },
  ]);
  expect(await kb.search("the capital of France?")).not.toHaveProperty("searchedFor");
  expect(await kb.search("a lingua frana")).toMatchObject({ searchedFor: "a lingua franca" });
  expect(await kb.search("nodes of Kuberntes")).toMatchObject({ searchedFor: "nodes of kubernetes" });
  // A headline has capitals everywhere, and a first word always.
  expect(await kb.search("Lingua Frana")).toMatchObject({ searchedFor: "Lingua franca" });
  expect(await kb.search("Frana")).toMatchObject({ searchedFor: "franca" });
});

test("a word whose last text went is no spelling any more", async () => {
  const kb = await withPages();
  await kb.store.deleteDocuments(["propagators"]);
  const found = await kb.search("propogators");
  expect(found).not.toHaveProperty("searchedFor");
});

test("names, identifiers and codes are meant as they are, and the last word may not be typed to its end", () => {
  const found = typedWords('"Samplers" OTEL_TRACES maxAge v2 état, (их');
  expect(found).toEqual([
    { word: "samplers", start: 1, isLast: false, isName: false },
    { word: "état", start: 33, isLast: false, isName: false },
    { word: "их", start: 40, isLast: true, isName: false },
  ]);
  expect(typedWords("rivers.")).toMatchObject([{ isLast: false }]);
});
