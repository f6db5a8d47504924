import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { fileName, nameKey, namingTerms } from "../../../src/text/words/page-names.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const others = ["collector", "metrics", "exporters", "traces"].map((name) => ({
  uri: `docs/${name}.md`,
  title: `The ${name}`,
  text: `# The ${name}\n\nLogging, logging and logging: ${name} with logging. A logging pipeline logs.`,
}));
const pages = [
  ...others,
  {
    uri: "docs/signals/logs.md",
    title: "Logging",
    text: "# Logging\n\nRecords of what a program did, with a severity and a body.",
  },
  { uri: "docs/setup.md", title: "Setup", text: "# Setup\n\nBegin here.\n\n## Logging\n\nChoose a severity." },
  {
    uri: "docs/options/maxConnections.md",
    text: "How many connections to one origin are open in the same moment, at the max.",
  },
  { uri: "docs/pools.md", title: "Pools", text: "Connections: the max of connections, max connections by default." },
  { uri: "docs/sampling/README.md", text: "Keeps a part of all by sampling." },
  { uri: "docs/rates.md", text: "Sampling and sampling rates of sampling." },
];

async function withPages() {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  await kb.ingest(pages);
  return kb;
}

test.each(["hybrid", "lexical"] as const)(
  "a page whose title, file name or heading is the question comes first in a %s search, in any spelling",
  async (mode) => {
    const kb = await withPages();
    const found = async (question: string, count = 3) =>
      (await kb.search(question, { mode, count })).hits.map(({ uri }) => uri);
    expect((await found("logging")).slice(0, 2)).toEqual(["docs/signals/logs.md", "docs/setup.md"]);
    for (const question of ["max connections", "maxConnections", "max_connections"]) {
      expect((await found(question, 1))[0]).toBe("docs/options/maxConnections.md");
    }
    expect((await found("Sampling", 1))[0]).toBe("docs/sampling/README.md");
    const { hits } = await kb.search("logging", { mode });
    expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).toSorted((a, b) => b - a));
    expect(hits[0]?.placements.at(-1)).toMatchObject({ by: "name", rank: 1 });
  },
);

test.each(["What is a ledger?", "What is a ledger in Abacus?", "什么是 ledger？"])(
  "%s brings the passage first that defines a ledger below such a heading",
  async (question) => {
    const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
    onTestFinished(() => kb.close());
    const about = (one: number) =>
      `Which ledger is what a ledger is for in Abacus? Ledger ${one}, a ledger of ledgers.`;
    const definition = "A **ledger** is a list of what was paid, by whom and for what, in the order of the payments.";
    const filler = "Whoever keeps books for others closes them at the end of the year, in one go. ".repeat(4);
    await kb.ingest([
      ...Array.from({ length: 60 }, (_, one) => ({ uri: `blog/${one}.md`, text: `# Post ${one}\n\n${about(one)}` })),
      { uri: "guide/ledger.md", text: "# Ledger\n\nSee the ledger of each ledger: a ledger by ledger guide." },
      { uri: "concepts.md", text: `# Concepts\n\n${filler}\n\n## Ledgers\n\n${definition} ${filler}` },
    ]);
    const { hits } = await kb.search(question, { count: 5 });
    expect(hits[0]?.uri).toBe("concepts.md");
    expect(hits[0]?.placements.at(-1)).toMatchObject({ by: "name", rank: 1 });
  },
);

function namedPages() {
  const talk = (page: number) => `${"Logging is what logging does. ".repeat(1 + (page % 4))}Page ${page} goes on.`;
  return [
    ...Array.from({ length: 80 }, (_, page) => ({ uri: `notes/${page}.md`, text: `## Note ${page}\n\n${talk(page)}` })),
    {
      uri: "guide/logging.md",
      text: "Records of what a program did, with a severity and a body, in the order of time.",
    },
    {
      uri: "guide/records.md",
      title: "Logging",
      text: `Severities. ${"Every record has a body of its own. ".repeat(40)}`,
    },
    { uri: "guide/Dead%20Letters.html", text: "Messages that nobody took are kept for a week." },
    {
      uri: "api/client.md",
      text: "## `Client.close([callback])`\n\nWaits until all is done.\n\n## `Client.destroy()`\n\nDoes not.",
    },
  ];
}

test.each(["hybrid", "lexical"] as const)(
  "a page is found by its file's name in a %s search, though its text lacks the word that many others have",
  async (mode) => {
    const path = join(await temporaryFolder(), "store");
    const first = await openKnowledgeBase({ path });
    await first.ingest(namedPages());
    await first.close();
    const kb = await openKnowledgeBase({ path });
    onTestFinished(() => kb.close());
    const found = async (question: string, count: number) =>
      (await kb.search(question, { mode, count })).hits.map(({ uri }) => uri);
    expect(new Set(await found("logging", 2))).toEqual(new Set(["guide/logging.md", "guide/records.md"]));
    expect((await found("dead letters kept", 1))[0]).toBe("guide/Dead%20Letters.html");
    expect((await found("letters", 1))[0]).toBe("guide/Dead%20Letters.html");
    for (const name of ["Client.close()", "client close", "client.close(callback)"]) {
      expect((await found(name, 1))[0]).toBe("api/client.md");
    }
    // A misspelt name is corrected to one that no text has.
    expect(await kb.search("leters", { mode, count: 1 })).toMatchObject({ searchedFor: "letters" });
  },
);

test("a question that only has the word of a name keeps its order", async () => {
  const kb = await withPages();
  const { hits } = await kb.search("Where does the collector write its logging?");
  expect(hits.flatMap(({ placements }) => placements).filter(({ by }) => by === "name")).toEqual([]);
});

test.each([
  ["file:///docs/Max%20Connections.md", "Max Connections"],
  ["https://example.com/guides/sampling/index.html?x=1#top", "sampling"],
  ["docs/tail.sampling.md", "tail.sampling"],
  ["docs/100%.md", "100%"],
  ["README.md", "README"],
])("the page's name in %s is %s", (uri, name) => expect(fileName(uri)).toBe(name));

test("spellings of one name are one, and a sentence is none", () => {
  const keys = ["HTTPServer options", "http_server.options", "http server option", "HttpServer Options()"].map(nameKey);
  expect(new Set(keys).size).toBe(1);
  expect(nameKey("the")).toBeUndefined();
  expect(nameKey("one two three four five six seven eight")).toBeUndefined();
});

test("the terms of a chunk's names are the words that its title lacks, and the names whole, the page's twice", () => {
  const named = (documentId: string, context = "", text = "") => namingTerms({ documentId, context, text });
  expect(named("docs/http-errors.md")).toEqual(["http", "error", "=http_error", "http", "error", "=http_error"]);
  expect(named("docs/errors.md", "Errors of HTTP")).toEqual(["=error_http", "=error", "=error_http", "=error"]);
  const sections = named("docs/errors.md", "Errors > Codes", "# Codes\n\n## E_FAIL (rare)");
  expect(sections).toEqual(["=error", "=error", "=code", "=e_fail_rare"]);
  expect(named("records/med-10")).toEqual(["med", "=med_10", "med", "=med_10"]);
  expect(named("table/4983")).toEqual([]);
  expect(named("d12")).toEqual([]);
});
