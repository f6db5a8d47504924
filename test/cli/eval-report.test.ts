import { expect, test } from "vitest";
import { evalReport } from "../../src/cli/commands/eval/report.js";
import type { EvalRun } from "../../src/cli/commands/eval/runs.js";
import { evaluate } from "../../src/evaluate/evaluate.js";

const queries = [
  { id: "q<1>", text: `<script>alert("1")</script>`, judgements: new Map([["d1", 1]]) },
  { id: "q2", text: "two", judgements: new Map([["d2", 1]]) },
];

async function run(mode: EvalRun["mode"], ranking: readonly string[]): Promise<EvalRun> {
  return {
    collection: "things",
    mode,
    rerank: false,
    shortenedQueries: 0,
    ...(await evaluate(queries, async () => ranking)),
  };
}

test("a report shows where runs differ, query by query, and escapes the queries", async () => {
  const runs = [await run("lexical", ["d1", "d2"]), await run("dense", ["d2", "d1"])];
  const html = await evalReport({
    collection: { name: "a & b", queries, withoutRelevant: 3 },
    runs,
    baselines: [undefined, undefined],
  });
  expect(html).toContain("<h1>Search on a &amp; b</h1>");
  expect(html).toContain("2 of 2 queries asked. 3 more have nothing relevant.");
  expect(html).toContain("dense against lexical</h2>");
  expect(html).toContain("nDCG@10 rose for 1 and fell for 1.");
  expect(html).not.toContain("<script");
  expect(html).toMatch(
    /&lt;script&gt;alert\(&quot;1&quot;\)&lt;\/script&gt;.*<td>1\.000<\/td><td>0\.631<\/td><td>−0\.369<\/td>/,
  );
  expect(html).toContain("<title>dense: 0.815, 0.631 to 1.000</title>");
  expect(html).toMatch(/<title>lexical: median [\d.]+ ms, half of them/);
});

test("a single run is compared with nothing", async () => {
  const html = await evalReport({
    collection: { name: "x", queries, withoutRelevant: 0 },
    runs: [await run("lexical", ["d1", "d2"])],
    baselines: [undefined],
  });
  expect(html).not.toContain("against");
});
