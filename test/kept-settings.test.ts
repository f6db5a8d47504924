import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { KnowledgeBaseOptions } from "../src/knowledge-base-options.js";
import { openKnowledgeBase } from "../src/knowledge-base.js";
import { migrateKnowledgeBase } from "../src/migrate.js";
import type { Document } from "../src/types.js";
import { embeddingReply, textsOf } from "./support/embedding-service.js";
import type { RecordedRequest, ScriptedReply } from "./support/scripted-upstream.js";
import { temporaryFolder } from "./support/temporary-folder.js";
import { transportFor } from "./support/transport-for.js";

/** A store whose runs each open it anew, as runs of the command do. */
async function setting(script: (request: RecordedRequest) => ScriptedReply = embeddingReply) {
  const { transport, upstream } = await transportFor(script, { maxRetries: 0 });
  const path = join(await temporaryFolder(), "store");
  const options = (more: Partial<KnowledgeBaseOptions>) => ({
    path,
    transport,
    models: { embedding: "test/embed-m3" },
    ...more,
  });
  const opened = async (more: Partial<KnowledgeBaseOptions> = {}) => {
    const kb = await openKnowledgeBase(options(more));
    onTestFinished(() => kb.close());
    return kb;
  };
  return {
    upstream,
    opened,
    migrate: (more: Partial<KnowledgeBaseOptions> = {}) => migrateKnowledgeBase(options(more)),
    ingest: async (documents: readonly Document[], more: Partial<KnowledgeBaseOptions> = {}, run = {}) => {
      const kb = await opened(more);
      try {
        return await kb.ingest(documents, run);
      } finally {
        await kb.close();
      }
    },
  };
}

const documents: Document[] = Array.from({ length: 12 }, (_, number) => ({
  uri: `note:${number}`,
  text: Array.from({ length: 30 }, (__, at) => `Sentence ${at} of note ${number} has some words.`).join(" "),
}));

test("a run that says nothing of chunks cuts them as the run before did", async () => {
  const { ingest, opened } = await setting();
  const first = await ingest(documents, { chunk: { maxTokens: 64, overlapTokens: 0, strategy: "fixed" } });
  expect(await ingest(documents)).toMatchObject({ documents: { unchanged: 12 }, requests: 0 });
  const larger = await ingest(documents, { chunk: { maxTokens: 200 } });
  expect(larger.chunks.total).toBeLessThan(first.chunks.total);
  const kb = await opened();
  expect(kb.store.settings).toEqual({ chunk: { maxTokens: 200, overlapTokens: 0, strategy: "fixed" } });
  expect(await kb.plan(documents)).toMatchObject({ outcomes: { unchanged: 12 }, requests: 0 });
});

test("a migration keeps how documents were cut, within what the new model takes, unless it is told otherwise", async () => {
  const { ingest, migrate } = await setting();
  const before = await ingest(documents, { chunk: { maxTokens: 64, overlapTokens: 0 } });
  const moved = await migrate({ models: { embedding: "test/other-m3" } });
  expect(moved).toMatchObject({ switched: true, chunks: { total: before.chunks.total } });
  const models = { embedding: "test/other-m3" };
  const smaller = await migrate({ models, chunk: { maxTokens: 32 } });
  expect(smaller.chunks.total).toBeGreaterThan(before.chunks.total);
  const wide = await migrate({ models, chunk: { maxTokens: 8000 } });
  expect(wide.chunks.total).toBe(documents.length);
  // This model takes 512 tokens.
  const short = await migrate({ models: { embedding: "test/short" } });
  expect(short).toMatchObject({ switched: true, documents: { added: 12, failed: 0 } });
});

test("semantic chunks: what sentences cost is planned, reported, within the budget, and paid once", async () => {
  const { ingest, opened, upstream } = await setting();
  const chunk = { strategy: "semantic", maxTokens: 64, overlapTokens: 0 } as const;
  const many = Array.from({ length: 40 }, (_, number) => ({
    ...documents[0]!,
    uri: `memo:${number}`,
    title: `${number}`,
  }));
  for (const [number, memo] of many.entries())
    many[number] = { ...memo, text: memo.text.replaceAll("note 0", `note ${number}`) };
  const kb = await opened({ chunk });
  const plan = await kb.plan(many);
  await kb.close();
  expect(upstream.requests).toEqual([]);

  const budget = Math.floor(plan.tokens / 2);
  const stopped = await ingest(many, { chunk, concurrency: 1 }, { maxTokens: budget });
  expect(stopped.tokens).toBeLessThanOrEqual(budget);
  expect(stopped.documents.added).toBeGreaterThan(0);
  expect(stopped.requests).toBe(upstream.requests.length);

  const rest = await ingest(many);
  expect(rest.documents).toMatchObject({ unchanged: stopped.documents.added, failed: 0 });
  expect(rest.requests).toBe(upstream.requests.length - stopped.requests);
  const sentences = upstream.requests
    .flatMap(textsOf)
    .filter((text) => /^Sentence \d+ of note \d+ has some words\.$/.test(text));
  expect(new Set(sentences).size).toBe(many.length * 30);
  // Only those of documents that the budget left unfinished were sent twice.
  expect(sentences.length).toBeLessThanOrEqual((many.length + stopped.stopped!.unfinished) * 30);
  const before = upstream.requests.length;
  expect(await ingest(many)).toMatchObject({ documents: { unchanged: many.length }, requests: 0, tokens: 0 });
  expect(upstream.requests.length).toBe(before);
});

test("how many texts the service takes is learned once, and found out again when it takes more", async () => {
  let most = 8;
  const { ingest, opened, upstream } = await setting((request) =>
    textsOf(request).length > most ? { status: 413, text: "too large" } : embeddingReply(request),
  );
  const chunk = { maxTokens: 32, overlapTokens: 0 };
  const some = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => ({
      uri: `note:${from + at}`,
      text: Array.from({ length: 20 }, (__, line) => `Line ${line} of ${from + at} has some words. `.repeat(2)).join(
        "\n",
      ),
    }));
  let seen = 0;
  const sizes = () => {
    const fresh = upstream.requests.slice(seen).map((request) => textsOf(request).length);
    seen += fresh.length;
    return fresh;
  };
  await ingest(some(0, 10), { chunk, concurrency: 1 });
  expect(sizes().slice(0, 4)).toEqual([32, 16, 8, 8]);
  await ingest(some(10, 20), { concurrency: 1 });
  // A larger one is tried now and then.
  expect(sizes().filter((size) => size > most)).toEqual([10]);
  most = 32;
  await ingest(some(20, 260), { concurrency: 1 });
  const grown = sizes();
  expect(grown[0]).toBe(8);
  expect(Math.max(...grown)).toBe(32);
  const kb = await opened();
  expect(kb.store.settings).toEqual({ chunk });
});
