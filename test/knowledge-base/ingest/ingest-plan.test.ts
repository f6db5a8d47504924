import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { KnowledgeBaseOptions } from "../../../src/knowledge-base/options.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { allSources } from "../../../src/load/sources/source.js";
import { readFile } from "../../../src/load/sources/read-file.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import type { Document } from "../../../src/core/types.js";
import { embeddingReply, textsOf } from "../../support/embedding-service.js";
import type { ScriptedReply, RecordedRequest } from "../../support/scripted-upstream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { transportFor } from "../../support/transport-for.js";

async function opened(
  options: Partial<KnowledgeBaseOptions> = {},
  script: (request: RecordedRequest) => ScriptedReply = embeddingReply,
) {
  const { transport, upstream } = await transportFor(script, { maxRetries: 0 });
  const path = options.path ?? join(await temporaryFolder(), "store");
  const kb = await openKnowledgeBase({ path, transport, models: { embedding: "test/embed-m3" }, ...options });
  onTestFinished(() => kb.close());
  return { kb, upstream, path };
}

/** Documents of several chunks; some paragraphs are those of another document. */
function documents(count: number): Document[] {
  return Array.from({ length: count }, (_, number) => ({
    uri: `note:${number}`,
    text: [number, number + 1, number]
      .map(
        (topic, at) => `Paragraph about topic ${topic}. ${"It goes on and on. ".repeat(12)}${at === 2 ? number : ""}`,
      )
      .join("\n\n"),
    mediaType: "text/markdown",
  }));
}

const chunk = { maxTokens: 64, overlapTokens: 0 };

describe("plan", () => {
  test("says what ingest then does: documents, chunks, tokens, requests, reuse and money", async () => {
    const { kb } = await opened({ chunk });
    const before = documents(40);
    await kb.ingest(before.slice(0, 10));
    const changed = [
      { ...before[0]!, text: `${before[0]!.text}\n\nA new end.` },
      { ...before[5]!, uri: "note:moved" },
      ...before.slice(1, 70),
      { uri: "blank", text: " " },
    ];
    const plan = await kb.plan(changed, { price: 0.5 });
    const report = await kb.ingest(changed, { price: 0.5 });
    expect(plan).toEqual({
      documents: 42,
      outcomes: report.documents,
      chunks: report.chunks.total,
      tokens: report.tokens,
      requests: report.requests,
      reused: report.chunks.reused,
      cost: (report.tokens * 0.5) / 1e6,
      failures: [],
      skipped: [],
      warnings: [],
    });
    expect(report.cost).toBe(plan.cost);
    expect(plan.outcomes).toEqual({ added: 32, updated: 1, unchanged: 9, deleted: 0, failed: 0 });
    expect(plan.reused).toBeGreaterThan(0);
    expect(plan.requests).toBeGreaterThan(1);
  });

  test("sends nothing, writes nothing, and names the files that cannot be read", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "good.md"), "# Good\n\nReadable.\n");
    const program = join(await temporaryFolder(), "program");
    await writeFile(program, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0, 0, 255, 254, 0]));
    const { kb, upstream } = await opened();
    const plan = await kb.plan(allSources([readFolder(folder), readFile(program)]));
    expect(plan).toMatchObject({ documents: 1, chunks: 1, requests: 1, reused: 0, outcomes: { added: 1, failed: 1 } });
    expect(plan.failures).toMatchObject([{ uri: expect.stringMatching(/program$/), error: { code: "binary" } }]);
    expect(upstream.requests).toEqual([]);
    expect(await kb.store.counts()).toEqual({ documents: 0, chunks: 0, vectors: 0 });
  });

  test("counts vanished documents as deleted, and keeps them", async () => {
    const folder = await temporaryFolder();
    for (const name of ["a.md", "b.md"]) await writeFile(join(folder, name), `# ${name}\n\nText of ${name}.\n`);
    const { kb } = await opened();
    await kb.ingest(readFolder(folder));
    await mkdir(join(folder, "deeper"));
    await rename(join(folder, "a.md"), join(folder, "deeper", "a.md"));
    const plan = await kb.plan(readFolder(folder));
    expect(plan).toMatchObject({ documents: 2, requests: 0, tokens: 0, reused: plan.chunks });
    expect(plan.outcomes).toEqual({ added: 1, updated: 0, unchanged: 1, deleted: 1, failed: 0 });
    expect((await kb.store.documents()).map(({ uri }) => uri.slice(-4))).toEqual(["a.md", "b.md"]);
  });
});

describe("a budget", () => {
  test("ends each run before the request that would exceed it, and consecutive runs finish without paying twice", async () => {
    const source = documents(150);
    const { kb, upstream } = await opened({ chunk });
    const { tokens: whole } = await kb.plan(source);
    const maxTokens = Math.ceil(whole / 3);
    const reports = [];
    do reports.push(await kb.ingest(source, { maxTokens }));
    while (reports.at(-1)!.stopped && reports.length < 10);
    for (const { tokens, stopped, documents: outcomes } of reports.slice(0, -1)) {
      expect(tokens).toBeLessThanOrEqual(maxTokens);
      expect(tokens).toBeGreaterThan(maxTokens / 3);
      expect(stopped!.unfinished).toBeGreaterThan(0);
      expect(outcomes.failed).toBe(0);
    }
    expect(reports.at(-1)!.documents).toMatchObject({ failed: 0 });
    expect(reports.length).toBeGreaterThan(2);
    const sent = upstream.requests.flatMap(textsOf);
    expect(new Set(sent).size).toBe(sent.length);
    expect(reports.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(whole);
    expect((await kb.store.counts()).documents).toBe(150);
  });

  test("holds as the service counts, which may be more than we do", async () => {
    const { kb } = await opened({ chunk }, (request) => {
      const { data, usage } = embeddingReply(request).json as { data: object; usage: { prompt_tokens: number } };
      return { json: { data, usage: { prompt_tokens: usage.prompt_tokens * 2 } } };
    });
    const { tokens } = await kb.plan(documents(150));
    const report = await kb.ingest(documents(150), { maxTokens: tokens });
    expect(report.stopped!.reason).toContain(`The budget is ${tokens.toLocaleString("en-US")} tokens`);
    expect(report.tokens).toBeLessThanOrEqual(tokens);
    expect(report.tokens).toBeGreaterThan(tokens / 2);
  });

  test("smaller than a batch still buys what fits; in money it is the tokens that the money buys", async () => {
    const { kb } = await opened({ chunk });
    const report = await kb.ingest(documents(20), { maxCost: 0.0004, price: 2 });
    expect(report.tokens).toBeGreaterThan(100);
    expect(report.tokens).toBeLessThanOrEqual(200);
    expect(report.cost).toBeLessThanOrEqual(0.0004);
  });

  test("deletes nothing if it stopped the run: documents that were not reached have not vanished", async () => {
    const folder = await temporaryFolder();
    for (const name of ["a", "b", "c"]) await writeFile(join(folder, `${name}.md`), `# ${name}\n\nText of ${name}.\n`);
    const { kb } = await opened();
    await kb.ingest(readFolder(folder));
    for (const name of ["a", "b"]) await rename(join(folder, `${name}.md`), join(folder, `new ${name}.md`));
    await writeFile(join(folder, "b2.md"), "# Other\n\nSomething else altogether.\n");
    const report = await kb.ingest(readFolder(folder), { maxTokens: 1 });
    expect(report.stopped).toBeDefined();
    expect(report.documents.deleted).toBe(0);
    expect((await kb.store.documents()).filter(({ uri }) => /\/[ab]\.md$/.test(uri))).toHaveLength(2);
  });

  test("in money without a price is refused", async () => {
    const { kb } = await opened();
    await expect(kb.ingest([], { maxCost: 1 })).rejects.toThrow("maxCost needs the price of a million tokens");
  });
});
