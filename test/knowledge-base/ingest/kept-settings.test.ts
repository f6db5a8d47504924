// In test:all alone: it fills and migrates a store for every setting that is kept, for 18 s.
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { KnowledgeBaseOptions } from "../../../src/knowledge-base/options.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { migrateKnowledgeBase } from "../../../src/knowledge-base/migrate.js";
import type { Document } from "../../../src/core/types.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";
import { embeddingReply, textsOf } from "../../support/embedding-service.js";
import type { RecordedRequest, ScriptedReply } from "../../support/scripted-upstream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { transportFor } from "../../support/transport-for.js";

/** A store that every run opens anew, as runs of the command do. */
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

test("a run without chunk options cuts as the previous run did", async () => {
  const { ingest, opened } = await setting();
  const first = await ingest(documents, { chunk: { maxTokens: 64, overlapTokens: 0, strategy: "fixed" } });
  expect(await ingest(documents)).toMatchObject({ documents: { unchanged: 12 }, requests: 0 });
  const larger = await ingest(documents, { chunk: { maxTokens: 200 } });
  expect(larger.chunks.total).toBeLessThan(first.chunks.total);
  const kb = await opened();
  expect(kb.store.settings).toEqual({ chunk: { maxTokens: 200, overlapTokens: 0, strategy: "fixed" } });
  expect(await kb.plan(documents)).toMatchObject({ outcomes: { unchanged: 12 }, requests: 0 });
});

test("a migration cuts documents as before, within the limit of the new model, unless told otherwise", async () => {
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

test("semantic chunks: the cost of sentences is planned, reported, within the budget, and paid once", async () => {
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

test("the service's batch limit is learned once, and learned again when it rises", async () => {
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

test("a migration to the same model keeps what was learned about its service", async () => {
  // It counts a third more than we do, and takes five texts at once.
  const counting = (request: RecordedRequest): ScriptedReply => {
    if (textsOf(request).length > 5)
      return { status: 413, json: { code: 20015, message: "too many inputs", data: null } };
    const reply = embeddingReply(request) as { json: { usage: { prompt_tokens: number; total_tokens: number } } };
    const tokens = Math.ceil(1.34 * textsOf(request).reduce((sum, text) => sum + defaultTokens.count(text), 0));
    return { json: { ...reply.json, usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens } } };
  };
  const { ingest, migrate, opened } = await setting(counting);
  await ingest(documents, { chunk: { maxTokens: 128, overlapTokens: 0 } });
  const learned = async (more: Partial<KnowledgeBaseOptions> = {}) => {
    const kb = await opened(more);
    const { tokenMargin, settings } = kb.store;
    await kb.close();
    return { tokenMargin, batchTexts: settings?.["batchTexts"] };
  };
  const before = await learned();
  expect(before.tokenMargin).toBe(1.35);
  expect(before.batchTexts).toBeLessThanOrEqual(5);
  await migrate({ chunk: { maxTokens: 100 } });
  expect(await learned()).toEqual(before);
});

test("a migration checks metadata as the new knowledge base will", async () => {
  const { ingest, migrate } = await setting();
  const tagged = documents.map((document, at): Document =>
    at === 3 ? document : { ...document, metadata: { tag: "a" } },
  );
  await ingest(tagged);
  const metadata = z.object({ tag: z.string() });
  const report = await migrate({ models: { embedding: "test/other-m3" }, metadata });
  expect(report).toMatchObject({ switched: false, documents: { added: 11, failed: 1 } });
  expect(report.failures[0]).toMatchObject({ uri: "note:3" });
});
