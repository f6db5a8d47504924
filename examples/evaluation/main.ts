// Evaluation as a gate: search is measured on judged questions, and the program fails when it is worse than a baseline.
import { mkdtemp, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase } from "citewell";
import { compare, evaluate, openCollection, rankDocuments } from "citewell/evaluate";

// A collection in the layout of BEIR. Yours lies in your repository.
const folder = await mkdtemp(join(tmpdir(), "citewell-"));
const topics = ["recovery key", "parking permit", "travel expenses", "guest badge", "meeting room", "spare laptop"];
topics.push("coffee machine", "first aid kit", "bicycle pump", "fire drill", "printer paper", "summer party");
const lines = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).join("\n");
await mkdir(join(folder, "qrels"));
await writeFile(
  join(folder, "corpus.jsonl"),
  lines(
    topics.map((topic, at) => ({ _id: `d${at}`, title: topic, text: `Ask Ada for the ${topic}, room ${100 + at}.` })),
  ),
);
await writeFile(
  join(folder, "queries.jsonl"),
  lines(topics.map((topic, at) => ({ _id: `q${at}`, text: `Who has the ${topic}?` }))),
);
const judgements = topics.map((_, at) => `q${at}\td${at}\t1`);
await writeFile(join(folder, "qrels/test.tsv"), ["query-id\tcorpus-id\tscore", ...judgements].join("\n"));

const collection = await openCollection(folder);
const kb = await openKnowledgeBase({ path: join(folder, "store") });
await kb.ingest(collection.documents());

/** Measures one way of searching. */
const measure = (search: (text: string, count: number) => Promise<readonly { readonly uri: string }[]>) =>
  evaluate(collection.queries, async ({ text }) =>
    (await rankDocuments((count) => search(text, count), 100)).map(collection.documentId),
  );

const baseline = await measure(async (text, count) => (await kb.search(text, { count })).hits);
console.log(`nDCG@10 ${baseline.metrics["ndcg@10"].toFixed(3)} of ${baseline.queries} queries`);

// A change that spoils the search: every question loses its last words.
const changed = await measure(async (text, count) => (await kb.search(text.slice(0, 11), { count })).hits);
const { worse, metrics } = compare(changed.scores, baseline.scores);
const { difference, p, verdict } = metrics["ndcg@10"];
console.log(`changed: ${difference.toFixed(3)} (p ${p.toFixed(3)}), ${verdict}`);
console.log(worse ? "the gate is closed" : "the gate is open"); // in CI: process.exitCode = worse ? 1 : 0
await kb.close();
