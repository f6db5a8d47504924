import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { filterOption } from "../../src/cli/settings/flag-values.js";
import { citewell, citewellJson, type AskJson, type IndexJson, type SearchJson } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test.each([
  ["product=auth", { metadata: { product: "auth" } }],
  ["metadata.title = x", { metadata: { title: "x" } }],
  ["title=x=y", { title: "x=y" }],
  ["product!=auth", { not: { metadata: { product: "auth" } } }],
  ["uri^=file:///a", { uri: { prefix: "file:///a" } }],
  // Metadata may hold a number as a number or as text.
  ["year=2024", { metadata: { year: { in: ["2024", 2024] } } }],
  ['sign="=x"', { metadata: { sign: "=x" } }],
  ['year="2024"', { metadata: { year: "2024" } }],
  ["draft=true", { metadata: { draft: { in: ["true", true] } } }],
  ["year>=2020", { metadata: { year: { gte: 2020 } } }],
  ["day<2024-03-01", { metadata: { day: { lt: "2024-03-01" } } }],
  ["draft", { metadata: { draft: { exists: true } } }],
])("--filter %j is parsed", (text, filter) => {
  expect(filterOption(text)).toEqual(filter);
  expect(filterOption("a", filterOption(text))).toEqual({ all: [filter, { metadata: { a: { exists: true } } }] });
});

test.each([
  "=auth",
  "",
  " ",
  ">5",
  "^=a",
  "product==auth",
  "product=~auth",
  "year=>2020",
  "product~=a",
  "product:=a",
  "a<>b",
])("--filter %j is refused", (text) => {
  expect(() => filterOption(text)).toThrow(InvalidArgumentError);
});

test("--filter narrows search and ask, several filters must all hold, and bad syntax is misuse with an explanation", async () => {
  const page = (facts: string) => `---\n${facts}\n---\n\n# Keys\n\nKeys expire after 90 days.\n`;
  const cwd = await temporaryFolder({
    "docs/old.md": page("product: auth\nyear: 2019"),
    "docs/new.md": page("product: auth\nyear: 2024"),
    "docs/bill.md": page("product: billing\nyear: 2024"),
  });
  await citewellJson<IndexJson>(["index", "docs"], { cwd });
  const filter = ["--filter", "product=auth", "--filter", "year>=2020"];
  for (const words of [
    ["search", "keys expire"],
    ["ask", "When do keys expire?"],
  ]) {
    const { hits } = await citewellJson<SearchJson | AskJson>([...words, ...filter], { cwd });
    expect(new Set(hits.map(({ uri }) => uri.split("/").at(-1)))).toEqual(new Set(["new.md"]));
    const { exitCode, stdout, stderr } = await citewell([...words, "--filter", "=auth"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/'=auth' is invalid\. There are =, !=, \^= \(begins with\), .*documents that have it\.$/m);
  }
}, 30_000);

test("a filter that admits nothing is explained, with the fields that exist, and words need no quotes", async () => {
  const page = (facts: string) => `---\n${facts}\n---\n\n# Keys\n\nKeys expire after 90 days.\n`;
  const cwd = await temporaryFolder({
    "docs/new.md": page("product: auth\nyear: 2024"),
    "docs/bill.md": page("product: billing\nteam: north"),
  });
  await citewellJson<IndexJson>(["index", "docs"], { cwd });
  const remarks = [
    [
      "tenent=x",
      /--filter: no document has a field "tenent"\. There are: product, team, year, uri, title, source, mediaType$/m,
    ],
    ["prodct=auth", /--filter: no document has a field "prodct"\. Did you mean product\? There are: product, team/m],
    ["product=sales", /--filter: no document has a product that meets "sales"$/m],
    ["uri^=docs", /--filter: no document has a uri that meets \{"prefix":"docs"\}; one is file:.*\/docs\/bill\.md$/m],
  ] as const;
  for (const [filter, remark] of remarks) {
    const found = await citewell(["search", "keys", "expire", "--filter", filter], { cwd });
    expect(found).toMatchObject({
      exitCode: 0,
      stdout: "Nothing found.\n",
      stderr: expect.stringMatching(remark) as string,
    });
    const asked = await citewell(["ask", "when", "do", "keys", "expire", "--filter", filter], { cwd });
    expect(asked).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(remark) as string });
  }
  const both = await citewell(["search", "keys", "--filter", "year=2024", "--filter", "team=north"], { cwd });
  expect(both.stderr).toContain("--filter: no document meets all of the filters together");
  const { hits } = await citewellJson<AskJson>(["ask", "when", "do", "keys", "expire", "--filter", "team"], { cwd });
  expect(hits).toHaveLength(1);
}, 60_000);
