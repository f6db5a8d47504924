import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { citewell, citewellJson } from "../support/citewell-here.js";
import { textsOf, vectorOf } from "../support/embedding-service.js";
import { scriptedUpstream } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";

interface EvalJson {
  readonly collection: string;
  readonly mode: string;
  readonly queries: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly intervals: Readonly<Record<string, readonly [number, number]>>;
  readonly latencyMs: { readonly p50: number; readonly p95: number };
  readonly comparison?: { readonly worse: boolean };
}

const lines = (values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");

const things = "anvil badger candle dagger engine falcon garnet hammer island jacket kettle lantern".split(" ");

/** One document and one query for each thing; `judged` says which document answers which query. */
async function collection(judged: (index: number) => number = (index) => index): Promise<string> {
  const folder = await temporaryFolder({
    "things/corpus.jsonl": lines(things.map((thing, at) => ({ _id: `d${at}`, text: `All about the ${thing}.` }))),
    "things/queries.jsonl": lines(things.map((thing, at) => ({ _id: `q${at}`, text: `What is a ${thing}?` }))),
    "things/qrels/test.tsv": things.map((_, at) => `q${at}\td${judged(at)}\t1\n`).join(""),
  });
  return folder;
}

describe("eval", () => {
  test("measures a collection where every answer is found first", async () => {
    const cwd = await collection();
    const result = await citewellJson<EvalJson>(["eval", "things"], { cwd });
    expect(result).toMatchObject({
      collection: "things",
      mode: "hybrid",
      queries: 12,
      metrics: { "ndcg@10": 1, "recall@100": 1, "mrr@10": 1, map: 1 },
      intervals: { "ndcg@10": [1, 1], "recall@100": [1, 1], "mrr@10": [1, 1], map: [1, 1] },
    });
    expect(result.latencyMs.p95).toBeGreaterThan(0);
  });

  const consists =
    "A collection has corpus.jsonl (documents), queries.jsonl (queries), qrels/test.tsv (the documents that are relevant to " +
    "each query) and, for --answers, answers.jsonl (citewell explain missing)\n";
  test.each<[string, readonly string[], (cwd: string) => string]>([
    [
      "holds none of its files",
      ["."],
      (cwd) => `${cwd} is no test collection: it has no corpus.jsonl, no queries.jsonl, no qrels/test.tsv`,
    ],
    ["does not exist", ["nowhere"], (cwd) => `There is no folder ${cwd}/nowhere`],
    [
      "has no answers",
      ["things", "--answers"],
      (cwd) => `${cwd}/things is no test collection: it has no answers.jsonl`,
    ],
    [
      "has no documents",
      ["things/qrels", "--queries", "things/queries.jsonl", "--qrels", "things/qrels/test.tsv"],
      (cwd) => `${cwd}/things/qrels is no test collection: it has no corpus.jsonl`,
    ],
  ])("a folder that %s is refused in one line that says what a collection consists of", async (_, words, problem) => {
    const cwd = await collection();
    const { exitCode, stdout, stderr } = await citewell(["eval", ...words], { cwd });
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: `citewell: ${problem(cwd)}. ${consists}`,
    });
  });

  test("a query longer than the embedding model takes is cut to its beginning, and the output says so", async () => {
    const cwd = await collection();
    const long = `What is an anvil? ${"anvil ".repeat(9_000)}`;
    await writeFile(join(cwd, "long.jsonl"), lines([{ _id: "q0", text: long }]));
    await writeFile(join(cwd, "long.tsv"), "q0\td0\t1\n");
    const words = ["eval", "things", "--queries", "long.jsonl", "--qrels", "long.tsv"];
    expect(await citewellJson(words, { cwd })).toMatchObject({ queries: 1, shortenedQueries: 1, metrics: { map: 1 } });
    const { stdout } = await citewell(words, { cwd });
    expect(stdout).toMatch(/^things: 1 query; 1 was shortened to what the embedding model takes\./);
  });

  test("several modes are measured in one run with the requested number of queries, and shown as a table", async () => {
    const cwd = await collection();
    const words = ["eval", "things", "--mode", "dense,lexical", "hybrid", "--limit-queries", "3", "--rerank"];
    const { runs } = await citewellJson<{ runs: readonly EvalJson[] }>(words, { cwd });
    expect(runs.map(({ mode, queries }) => ({ mode, queries }))).toEqual([
      { mode: "dense", queries: 3 },
      { mode: "lexical", queries: 3 },
      { mode: "hybrid", queries: 3 },
    ]);
    expect(runs[1]!.metrics).toEqual({ "ndcg@10": 1, "recall@100": 1, "mrr@10": 1, map: 1 });
    const { stdout, exitCode } = await citewell(words, { cwd });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^things: 3 of 12 queries\./);
    expect(stdout).toMatch(
      /\nMode +nDCG@10 +Recall@100 [^\n]*\ndense \+ rerank[^\n]*\nlexical \+ rerank +1\.000 \(1\.000-/,
    );
  });

  test("a named store is kept and used again; without one nothing is left behind", async () => {
    const cwd = await collection();
    const temporary = await temporaryFolder();
    await citewellJson(["eval", "things"], { cwd, environment: { TMPDIR: temporary } });
    expect(await readdir(temporary)).toEqual([]);
    expect(await readdir(cwd)).toEqual(["things"]);

    await citewellJson(["eval", "things", "--store", join(cwd, "kept")], { cwd });
    const { hits } = await citewellJson<{ hits: readonly { uri: string }[] }>(
      ["search", "lantern", "--store", "kept"],
      { cwd },
    );
    expect(hits[0]!.uri).toBe("collection:things/d11");
    const again = await citewellJson<EvalJson>(["eval", "things", "--store", "kept"], { cwd });
    expect(again.metrics["ndcg@10"]).toBe(1);
  });

  test("a store with other documents is refused and left as it was", async () => {
    const cwd = await collection();
    await writeFile(join(cwd, "note.md"), "A note about a lantern.\n");
    await citewellJson(["index", "note.md", "--store", "mine"], { cwd });
    const { exitCode, stderr } = await citewell(["eval", "things", "--store", "mine"], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/holds file:.*note\.md, which is not part of things/);
    const { hits } = await citewellJson<{ hits: readonly unknown[] }>(["search", "lantern", "--store", "mine"], {
      cwd,
    });
    expect(hits).toHaveLength(1);
  });
});

test("--json prints the documented fields, and others only on request", async () => {
  const cwd = await collection();
  const plain = await citewellJson<EvalJson>(["eval", "things", "--limit-queries", "2"], { cwd });
  expect(Object.keys(plain)).toEqual(["collection", "mode", "queries", "metrics", "intervals", "latencyMs"]);
  const reranked = await citewellJson<EvalJson>(["eval", "things", "--limit-queries", "2", "--rerank"], { cwd });
  expect(reranked).toMatchObject({ rerank: true });
});

test("a grid measures modes, fusions and reranking in one run, and a report shows them without a script", async () => {
  const cwd = await collection();
  await writeFile(
    join(cwd, "things/queries.jsonl"),
    lines(things.map((thing, at) => ({ _id: `q${at}`, text: `<b>${thing}</b> & co` }))),
  );
  const words = [
    "eval",
    "things",
    "--grid",
    "--limit-queries",
    "4",
    "--report",
    "report.html",
    "--output",
    "grid.json",
  ];
  const { runs } = await citewellJson<{ runs: readonly (EvalJson & { rerank?: true; fusion?: object })[] }>(words, {
    cwd,
  });
  expect(runs.map(({ mode, rerank = false, fusion }) => [mode, rerank, fusion])).toEqual([
    ["lexical", false, undefined],
    ["dense", false, undefined],
    ["hybrid", false, undefined],
    ...[{ method: "score" }, { k: 10 }].flatMap((method) =>
      [0.2, 0.5, 1, 2].map((dense) => ["hybrid", false, { ...method, weights: { dense, lexical: 1 } }]),
    ),
    ["lexical", true, undefined],
    ["dense", true, undefined],
    ["hybrid", true, undefined],
  ]);
  const html = await readFile(join(cwd, "report.html"), "utf8");
  expect(html).toMatch(/^<!doctype html>/);
  expect(html).not.toMatch(/<script|<b>|https?:|src=|@import/);
  expect(html.match(/<figure>/g)).toHaveLength(5);
  expect(html.match(/aria-label="nDCG@10[^"]*"/)![0].split("; ")).toHaveLength(runs.length);
  expect(html).toContain("hybrid score 0.5:1");
  expect(html).toContain("against lexical</h2>");

  const again = await citewellJson<{ runs: readonly EvalJson[] }>(
    [
      "eval",
      "things",
      "--grid",
      "--limit-queries",
      "4",
      "--baseline",
      "grid.json",
      "--mode",
      "hybrid",
      "--report",
      "second.html",
    ],
    { cwd },
  );
  expect(again.runs.map(({ comparison }) => comparison?.worse)).toEqual(again.runs.map(() => false));
  expect(await readFile(join(cwd, "second.html"), "utf8")).toContain(
    "hybrid k=10 1:1 against the baseline (hybrid k=10 1:1)",
  );
});

test("a document whose vector has a number that is not finite costs itself, not the evaluation", async () => {
  const cwd = await collection();
  const upstream = await scriptedUpstream((request) => {
    const data = textsOf(request).map((text, index) => {
      const vector = vectorOf(text.trim());
      return { index, embedding: text === "All about the engine." ? vector.with(0, 1e300) : vector };
    });
    return { json: { data, usage: { prompt_tokens: 1, total_tokens: 1 } } };
  });
  const words = ["eval", "things", "--mode", "lexical", "--json"];
  const models = ["--base-url", upstream.baseUrl, "--api-key", "k", "--embedding-model", "m", "--chat-model", "c"];
  const { stdout, stderr, exitCode } = await citewell([...words, ...models], { cwd });
  expect(stderr).toContain(
    "1 document of things could not be stored and cannot be found. The first is collection:things/d4",
  );
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ queries: 12, metrics: { "mrr@10": 11 / 12 } });
});

describe("eval against a baseline", () => {
  test("an equal result is no change; a clearly worse one ends with exit code 1 and says where", async () => {
    const cwd = await collection();
    await citewellJson(["eval", "things", "--output", "before.json"], { cwd });
    const { runs } = JSON.parse(await readFile(join(cwd, "before.json"), "utf8")) as {
      runs: readonly { scores: Record<string, Record<string, number>> }[];
    };
    expect(Object.keys(runs[0]!.scores)).toHaveLength(12);
    expect(runs[0]!.scores["q0"]).toEqual({ "ndcg@10": 1, "recall@100": 1, "mrr@10": 1, map: 1 });

    const same = await citewellJson<EvalJson>(["eval", "things", "--baseline", "before.json"], { cwd });
    expect(same.comparison).toMatchObject({ worse: false });

    // With the judgements swapped, the search is wrong on every query.
    const wrong = things.map((_, at) => `q${at}\td${(at + 6) % 12}\t1\n`).join("");
    await writeFile(join(cwd, "wrong.tsv"), wrong);
    const { exitCode, stdout } = await citewell(
      ["eval", "things", "--qrels", "wrong.tsv", "--baseline", "before.json"],
      { cwd },
    );
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/nDCG@10 +1\.000 +-\d\.\d{3} +-\d\.\d{3} to -\d\.\d{3} +0\.\d{4} +0\.\d{4} +worse/);
  });

  test.each([
    ["no JSON", "oops", /before\.json is not a baseline: it has no scores by query/],
    ["what --json prints", '{"collection":"things","mode":"hybrid","metrics":{}}', /a file that --output wrote/],
    [
      "of another collection",
      '{"runs":[{"collection":"other","mode":"hybrid","rerank":false,"scores":{}}]}',
      /measured the collection other, not things/,
    ],
  ])("a baseline that is %s is misuse", async (_, content, message) => {
    const cwd = await collection();
    await writeFile(join(cwd, "before.json"), content);
    const { exitCode, stderr, stdout } = await citewell(["eval", "things", "--baseline", "before.json"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });
});

describe("eval of a folder that is not a collection", () => {
  test("names the broken line of the corpus, however late it comes", async () => {
    const cwd = await collection();
    const corpus = join(cwd, "things/corpus.jsonl");
    await writeFile(corpus, `${await readFile(corpus, "utf8")}{"_id": "d12"}\n`);
    const { exitCode, stderr } = await citewell(["eval", "things"], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/Line 13 of .*corpus\.jsonl .*text/);
  });

  test("a mode that does not exist is misuse, and help gives examples", async () => {
    expect(await citewell(["eval", "x", "--mode", "magic"])).toMatchObject({ exitCode: 2 });
    const { exitCode, stdout } = await citewell(["eval", "--help"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/Examples:\n {2}\$ citewell eval /);
  });
});
