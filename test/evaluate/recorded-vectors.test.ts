import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ndcg } from "../../src/evaluate/metrics.js";
import { madeDocument } from "../../src/conformance/made-documents.js";
import { Pipeline } from "../../src/core/pipeline.js";
import type { Store } from "../../src/core/ports.js";
import { collect } from "../../src/core/stream.js";
import type { Embedded, Question } from "../../src/core/types.js";
import { search, type SearchMode } from "../../src/stages/retrieval/search.js";
import { openStore } from "../../src/store/open-store.js";
import { vectorKey } from "../../src/text/chunking/chunk-identity.js";
import { root } from "../support/citewell.js";

interface Recorded {
  readonly subject: number;
  readonly text: string;
  readonly vector: readonly number[];
}

/**
 * 64 texts of eight subjects, each in one of two vocabularies, and 24 questions; vectors of their subjects with noise, as a model
 * would give them that knows both vocabularies. Relevant is what has the question's subject.
 */
const { documents, queries } = JSON.parse(readFileSync(join(root, "test/evaluate/recorded-vectors.json"), "utf8")) as {
  readonly documents: readonly (Recorded & { readonly id: string })[];
  readonly queries: readonly Recorded[];
};

let path: string;
beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), "citewell-test-"));
  const made = documents.map(({ id, text }) => madeDocument(id, [text]));
  const vectors = new Map(
    made.map(({ chunks }, at) => [vectorKey(chunks[0]!), Float32Array.from(documents[at]!.vector)] as const),
  );
  const store = await openStore(path, { space: "recorded" });
  await store.write({ documents: made, vectors });
  await store.close();
});
afterAll(() => rm(path, { recursive: true, force: true }));

async function quality(store: Store<"recorded">, mode: SearchMode): Promise<number> {
  const pipeline = Pipeline.from<Embedded<Question, "recorded">>().pipe(search(store, { mode, count: 10 }));
  let sum = 0;
  for (const { text, vector, subject } of queries) {
    const asked = { question: text, vector: Float32Array.from(vector), space: "recorded" as const };
    const [found] = await collect(pipeline.stream([asked]));
    const relevant = new Map(documents.filter((one) => one.subject === subject).map(({ id }) => [id, 1]));
    sum += ndcg(
      found!.hits.map(({ uri }) => uri),
      relevant,
      10,
    );
  }
  return sum / queries.length;
}

test("vectors that know other words for the same, beside words, rank better than either alone", async () => {
  const store = await openStore(path, { space: "recorded" });
  onTestFinished(() => store.close());
  const [dense, lexical, hybrid] = [
    await quality(store, "dense"),
    await quality(store, "lexical"),
    await quality(store, "hybrid"),
  ];
  expect(hybrid).toBeGreaterThan(dense + 0.1);
  expect(hybrid).toBeGreaterThan(lexical + 0.02);
});
