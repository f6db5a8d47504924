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
  ['year="2024"', { metadata: { year: "2024" } }],
  ["draft=true", { metadata: { draft: { in: ["true", true] } } }],
  ["year>=2020", { metadata: { year: { gte: 2020 } } }],
  ["day<2024-03-01", { metadata: { day: { lt: "2024-03-01" } } }],
  ["draft", { metadata: { draft: { exists: true } } }],
])("--filter %j is parsed", (text, filter) => {
  expect(filterOption(text)).toEqual(filter);
  expect(filterOption("a", filterOption(text))).toEqual({ all: [filter, { metadata: { a: { exists: true } } }] });
});

test.each(["=auth", "", " ", ">5", "^=a"])("--filter %j is refused", (text) => {
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
    expect(stderr).toMatch(/'=auth' is invalid\. Write field=value, field!=value, .* or field\.$/m);
  }
}, 30_000);
