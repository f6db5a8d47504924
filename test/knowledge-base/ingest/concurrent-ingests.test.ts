import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Store } from "../../../src/core/ports.js";
import { ingest } from "../../../src/knowledge-base/ingest.js";
import { openStore } from "../../../src/store/open-store.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { noPostgres, startPostgres } from "../../support/postgres-server.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { wordEmbedder } from "../../support/word-embedder.js";

const documents = Array.from({ length: 40 }, (_, at) => ({
  uri: `test:${at}`,
  title: `Mole ${at}`,
  text: `Mole ${at} digs. It has ${at + 2} tunnels.`,
  metadata: { at },
}));
const space = { space: "words" } as const;

/** Ingests the same documents into both stores, each looking everything up before the other has stored anything. */
async function ingestAtOnce(stores: readonly [Store<"words">, Store<"words">]) {
  let started = 0;
  let go = () => {};
  const bothStarted = new Promise<void>((resolve) => (go = resolve));
  const running = stores.map((store) => {
    const before = (_texts: unknown, _call: unknown, index: number) => {
      if (index === 0 && ++started === stores.length) go();
      return bothStarted;
    };
    return ingest(documents, { store, embedder: wordEmbedder({ before }) });
  });
  const reports = await Promise.all(running);
  return reports.map((report) => report.documents);
}

async function expectEachAddedOnce(stores: readonly [Store<"words">, Store<"words">]) {
  const [first, second] = await ingestAtOnce(stores);
  expect([first, second]).toEqual([
    expect.objectContaining({ updated: 0, failed: 0, added: second!.unchanged }),
    expect.objectContaining({ updated: 0, failed: 0, added: first!.unchanged }),
  ]);
  expect(first!.added + second!.added).toBe(documents.length);
  expect(await stores[0].counts()).toMatchObject({ documents: documents.length });
  expect(await stores[0].verify()).toMatchObject({ ok: true, problems: [] });
  const changed = [{ ...documents[0]!, metadata: { at: 100 } }];
  const { documents: outcomes } = await ingest(changed, { store: stores[1], embedder: wordEmbedder() });
  expect(outcomes).toMatchObject({ updated: 1 });
}

describe("of two ingests of the same documents at once, one adds each of them and the other finds it unchanged", () => {
  test("in an embedded store", async () => {
    const store = await openStore(join(await temporaryFolder(), "store"), space);
    onTestFinished(() => store.close());
    await expectEachAddedOnce([store, store]);
  });

  test.skipIf(noPostgres)("on PostgreSQL, each through a store of its own", async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const open = async () => {
      const store = await openPostgresStore(server.url(), space);
      onTestFinished(() => store.close());
      return store;
    };
    await expectEachAddedOnce([await open(), await open()]);
  });
});
