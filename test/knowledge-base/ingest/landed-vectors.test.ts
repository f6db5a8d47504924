import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { migrateKnowledgeBase } from "../../../src/knowledge-base/migrate.js";
import { openStore } from "../../../src/store/open-store.js";
import { embeddingReply, textsOf } from "../../support/embedding-service.js";
import type { RecordedRequest } from "../../support/scripted-upstream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { transportFor } from "../../support/transport-for.js";

const space = "test/embed-m3";
const documents = Array.from({ length: 200 }, (_, at) => ({
  uri: `test:${at}`,
  text: at === 0 ? "Of this one the service thinks for ever." : `Mole ${at} digs.`,
}));
const isSlow = (request: RecordedRequest) => textsOf(request).some((text) => text.includes("thinks for ever"));

async function vectorsOnDisk(path: string): Promise<number> {
  const store = await openStore(path, { space }, { create: false });
  try {
    return (await store.counts()).vectors;
  } finally {
    await store.close();
  }
}

test("vectors that arrive while another request hangs are on disk meanwhile, and not sent again", async () => {
  let patient = true;
  const { transport, upstream } = await transportFor((request) =>
    patient && isSlow(request) ? { hang: true } : embeddingReply(request),
  );
  const path = join(await temporaryFolder(), "store");
  const open = async () => {
    const kb = await openKnowledgeBase({ path, transport, models: { embedding: space } });
    onTestFinished(() => kb.close());
    return kb;
  };
  const kb = await open();
  const stop = new AbortController();
  const run = kb.ingest(documents, { signal: stop.signal });
  run.catch(() => {});
  const landed = () => upstream.requests.filter((request) => !isSlow(request)).flatMap(textsOf);
  await expect.poll(() => vectorsOnDisk(path).catch(() => 0), { timeout: 15_000, interval: 200 }).toBeGreaterThan(150);
  expect(await vectorsOnDisk(path)).toBe(landed().length);
  stop.abort();
  await expect(run).rejects.toBe(stop.signal.reason);
  await kb.close();

  patient = false;
  const before = upstream.requests.length;
  const report = await (await open()).ingest(documents);
  const sent = upstream.requests.slice(before).flatMap(textsOf);
  const { added, unchanged, failed } = report.documents;
  expect({ stored: added + unchanged, failed }).toEqual({ stored: 200, failed: 0 });
  expect(sent).toHaveLength(200 - 168);
  expect(report.chunks).toMatchObject({ total: 200, embedded: sent.length });
});

test("a migration saves vectors early too", async () => {
  const { transport } = await transportFor((request) => {
    const { model } = request.body as { model: string };
    return model === "test/other-m3" && isSlow(request) ? { hang: true } : embeddingReply(request);
  });
  const path = join(await temporaryFolder(), "store");
  const kb = await openKnowledgeBase({ path, transport, models: { embedding: space } });
  await kb.ingest(documents);
  await kb.close();
  const stop = new AbortController();
  const models = { embedding: "test/other-m3" };
  const run = migrateKnowledgeBase({ path, transport, models }, { signal: stop.signal });
  run.catch(() => {});
  const made = async () => {
    const store = await openStore(join(path, "generation-1"), { space: "test/other-m3" }, { create: false });
    const { vectors } = await store.counts();
    await store.close();
    return vectors;
  };
  await expect.poll(() => made().catch(() => 0), { timeout: 15_000, interval: 200 }).toBe(168);
  stop.abort();
  await expect(run).rejects.toBe(stop.signal.reason);
});
