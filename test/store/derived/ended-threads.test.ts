import { readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { StoreError } from "../../../src/core/errors.js";
import type { Store } from "../../../src/core/ports.js";
import { openEmbeddedStore, type StoreInternals } from "../../../src/store/open-embedded-store.js";
import type { StoreOptions } from "../../../src/store/store-options.js";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";

const made = { space: "made", dimension: 8 };
const documents = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => madeDocument(`d${from + index}`, [`apple number${from + index}`]));

async function opened(path: string, options: StoreOptions, internals: StoreInternals = {}): Promise<Store> {
  const store = await openEmbeddedStore(path, made, options, internals);
  onTestFinished(() => store.close());
  return store;
}

function moduleWith(program: string): URL {
  const path = join(temporaryFolder(), "program.mjs");
  writeFileSync(path, program);
  return pathToFileURL(path);
}

const packageFile = (name: string) => pathToFileURL(createRequire(import.meta.url).resolve(name)).href;
const question = { text: "apple", vector: madeVector("a question", 8) };
const idsFound = async (retriever: Store["dense"]) =>
  (await retriever.retrieve(question, { count: 100 })).map(({ chunkId }) => chunkId);

test("writes fail with an error when the writer's thread dies; reading goes on, and the next opening can write", async () => {
  const path = join(temporaryFolder(), "store");
  const writer = new URL("../../../dist/store/writer/writer-worker.js", import.meta.url);
  const sqlite = new URL("../../../dist/sqlite/database.js", import.meta.url);
  // The usual program, but it exits during its third transaction.
  const writerModule = moduleWith(`
    import { loadSqlite } from ${JSON.stringify(sqlite.href)};
    const SQLite = loadSqlite();
    const { transaction } = SQLite.prototype;
    let transactions = 0;
    SQLite.prototype.transaction = function (work) {
      return transaction.call(this, () => {
        const result = work();
        if (++transactions === 3) process.exit(7);
        return result;
      });
    };
    await import(${JSON.stringify(writer.href)});
  `);
  const store = await opened(path, {}, { writerModule });
  await store.write(withVectors(documents(0, 2), 8));
  await store.write(withVectors(documents(2, 4), 8));
  const ended = { code: "closed", message: expect.stringMatching(/thread that writes.*exit code 7.*open it again/) };
  const [third, fourth] = await Promise.allSettled([
    store.write(withVectors(documents(4, 6), 8)),
    store.deleteDocuments(["d0"]),
  ]);
  for (const outcome of [third, fourth]) {
    expect(outcome).toMatchObject({ status: "rejected", reason: ended });
    expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(StoreError);
  }
  expect(await store.counts()).toEqual({ documents: 4, chunks: 4, vectors: 4 });
  expect(await idsFound(store.dense)).toHaveLength(4);
  expect(await idsFound(store.lexical)).toHaveLength(4);
  await store.close();

  const again = await opened(path, {});
  expect(await again.write(withVectors(documents(4, 6), 8))).toHaveLength(2);
  expect(await idsFound(again.lexical)).toHaveLength(6);
});

test("a warning says that the graph's thread died; searches find the same without it, and the next opening has a graph", async () => {
  const path = join(temporaryFolder(), "store");
  // The usual library, but the thread exits at the 30th vector.
  const graphModule = moduleWith(`
    import hnswlib from ${JSON.stringify(packageFile("hnswlib-node"))};
    let added = 0;
    class HierarchicalNSW extends hnswlib.HierarchicalNSW {
      addPoint(...point) {
        if (++added === 30) process.exit(7);
        super.addPoint(...point);
      }
    }
    export default { ...hnswlib, HierarchicalNSW };
  `).href;
  const warnings: string[] = [];
  const options: StoreOptions = {
    index: "hnsw",
    quantization: "none",
    onWarning: (message) => warnings.push(message),
  };
  const store = await opened(path, options, { graphModule });
  await store.write(withVectors(documents(0, 20), 8));
  expect(await idsFound(store.dense)).toHaveLength(20);
  expect(warnings).toEqual([]);
  await store.write(withVectors(documents(20, 40), 8));
  const found = await Promise.all([idsFound(store.dense), idsFound(store.dense)]);
  for (const ids of found) expect(new Set(ids).size).toBe(40);
  await store.write(withVectors(documents(40, 45), 8));
  // The thread adds vectors at its own pace, and answers until it reaches the 30th.
  await expect
    .poll(async () => {
      expect(await idsFound(store.dense)).toHaveLength(45);
      return warnings.length;
    })
    .toBe(1);
  expect(warnings).toEqual([expect.stringMatching(/graph.*has ended.*exit code 7.*one by one/)]);
  await store.close();

  const again = await opened(path, options);
  const exact = await opened(path, { index: "flat" });
  expect(await idsFound(again.dense)).toEqual(await idsFound(exact.dense));
  await again.close();
  expect(readdirSync(path)).toContain("graph.json");
  expect(warnings).toHaveLength(1);
});
