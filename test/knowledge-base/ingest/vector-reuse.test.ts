import { cp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { KnowledgeBase, KnowledgeBaseOptions } from "../../../src/knowledge-base/options.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { migrateKnowledgeBase } from "../../../src/knowledge-base/migrate.js";
import { embeddingReply, textsOf } from "../../support/embedding-service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { transportFor } from "../../support/transport-for.js";

const handbook = fileURLToPath(new URL("../../fixtures/handbook", import.meta.url));
const small = { maxTokens: 48, overlapTokens: 0 };

/** An ingested folder; `ingest` brings the store up to date and returns what was sent for it. */
async function ingested() {
  const { transport, upstream } = await transportFor(embeddingReply);
  const folder = await temporaryFolder();
  const docs = join(folder, "docs");
  await cp(handbook, docs, { recursive: true });
  const options = { path: join(folder, "store"), transport, models: { embedding: "test/embed-m3" } };
  const open = async (chunk: KnowledgeBaseOptions["chunk"] = small): Promise<KnowledgeBase> => {
    const kb = await openKnowledgeBase({ ...options, chunk });
    onTestFinished(() => kb.close());
    return kb;
  };
  const ingest = async (kb: KnowledgeBase) => {
    const before = upstream.requests.length;
    const report = await kb.ingest(readFolder(docs));
    return { ...report, sent: upstream.requests.slice(before).flatMap(textsOf) };
  };
  const kb = await open();
  await ingest(kb);
  return { docs, kb, open, ingest, options };
}

describe("a text that was embedded once is never sent again", () => {
  test("when its file moved, which is a deletion and an addition in one run", async () => {
    const { docs, kb, ingest } = await ingested();
    await rename(join(docs, "leave.md"), join(docs, "holidays.md"));
    const { sent, requests, documents } = await ingest(kb);
    expect({ sent, requests }).toEqual({ sent: [], requests: 0 });
    expect(documents).toMatchObject({ added: 1, deleted: 1, unchanged: 2 });
  });

  test("when its file was copied", async () => {
    const { docs, kb, ingest } = await ingested();
    await cp(join(docs, "leave.md"), join(docs, "copy.md"));
    const { sent, documents, chunks } = await ingest(kb);
    expect(sent).toEqual([]);
    expect(documents).toMatchObject({ added: 1, unchanged: 3 });
    expect(chunks.embedded).toBe(0);
  });

  test("when other parts of its document changed: they alone are sent", async () => {
    const { docs, kb, ingest } = await ingested();
    const path = join(docs, "laptops.md");
    await writeFile(path, (await readFile(path, "utf8")).replace("four years", "six years"));
    const { sent, documents } = await ingest(kb);
    expect(documents).toMatchObject({ updated: 1, unchanged: 2 });
    expect(sent).toHaveLength(1);
    expect(sent[0]).toContain("six years");
  });

  test("when its document came back after a deletion", async () => {
    const { docs, kb, ingest } = await ingested();
    await rm(join(docs, "leave.md"));
    expect((await ingest(kb)).documents.deleted).toBe(1);
    await cp(join(handbook, "leave.md"), join(docs, "leave.md"));
    const { sent, documents } = await ingest(kb);
    expect({ sent, added: documents.added }).toEqual({ sent: [], added: 1 });
  });

  test("when other chunk settings cut it in the same way, and again when they are reverted", async () => {
    const { kb, open, ingest } = await ingested();
    const before = await kb.store.documents();
    const texts = async (of: KnowledgeBase) =>
      new Set(
        (await of.search("the of and days", { mode: "lexical", count: 1000 })).hits.map(({ chunk }) => chunk.text),
      );
    const cutSmall = await texts(kb);
    await kb.close();

    const larger = await open({ maxTokens: 96, overlapTokens: 0 });
    const recut = await ingest(larger);
    expect(recut.documents.updated).toBeGreaterThan(0);
    expect(recut.sent.length).toBe(recut.chunks.embedded);
    expect(recut.sent.filter((sent) => cutSmall.has(sent))).toEqual([]);
    await larger.close();

    const back = await open();
    const { sent } = await ingest(back);
    expect(sent).toEqual([]);
    expect(await back.store.documents()).toEqual(before);
    expect(await texts(back)).toEqual(cutSmall);
  });
});

test("unused vectors stay behind when a store is migrated, even to its own model", async () => {
  const { docs, kb, ingest, options } = await ingested();
  await rm(join(docs, "leave.md"));
  await ingest(kb);
  const { chunks, vectors } = await kb.store.counts();
  expect(vectors).toBeGreaterThan(chunks);
  await kb.close();
  expect(await migrateKnowledgeBase({ ...options, chunk: small })).toMatchObject({ switched: true, requests: 0 });
  const compact = await openKnowledgeBase(options);
  onTestFinished(() => compact.close());
  expect(await compact.store.counts()).toMatchObject({ documents: 2, chunks, vectors: chunks });
});
