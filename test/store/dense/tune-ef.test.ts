import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../../src/core/ports.js";
import { openStore } from "../../../src/store/open-store.js";
import type { StoreOptions } from "../../../src/store/store-options.js";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";

// Evenly distributed vectors are the hardest to find by a graph.
const dimension = 48;

async function opened(path: string, options: StoreOptions): Promise<Store> {
  const store = await openStore(path, { space: "made" }, options);
  onTestFinished(() => store.close());
  return store;
}

const madeIn = (prefix: string, documents: number) =>
  withVectors(
    Array.from({ length: documents }, (_, at) =>
      madeDocument(
        `${prefix}${at}`,
        Array.from({ length: 100 }, (__, part) => `${prefix} ${at} ${part}`),
      ),
    ),
    dimension,
  );

const saved = (path: string) =>
  JSON.parse(readFileSync(join(path, "graph.json"), "utf8")) as { readonly ef: number; readonly tunedAt: number };

test("ef is tuned until the graph reaches the recall, and is saved and used with it", async () => {
  const path = temporaryFolder();
  const settings = { index: "hnsw", m: 6, efConstruction: 40 } as const;
  const first = await opened(path, settings);
  await first.write(madeIn("few", 10));
  await first.close();
  expect(saved(path)).toMatchObject({ ef: 200, tunedAt: 0 });

  const second = await opened(path, settings);
  await second.write(madeIn("many", 95));
  await second.close();
  // 200 would find 90 % of a graph with so few links.
  expect(saved(path).ef).toBeGreaterThan(200);
  expect(saved(path).tunedAt).toBe(10_500);

  const exact = await opened(path, { index: "flat" });
  const [tuned, untuned] = [await opened(path, settings), await opened(path, { ...settings, ef: 200 })];
  const recall = async (store: Store) => {
    let shared = 0;
    for (let question = 0; question < 50; question++) {
      const query = { text: "", vector: madeVector(`question ${question}`, dimension) };
      const expected = new Set((await exact.dense.retrieve(query, { count: 10 })).map(({ chunkId }) => chunkId));
      const found = await store.dense.retrieve(query, { count: 10 });
      shared += found.filter(({ chunkId }) => expected.has(chunkId)).length;
    }
    return shared / 500;
  };
  expect(await recall(tuned)).toBeGreaterThanOrEqual(0.95);
  expect(await recall(untuned)).toBeLessThan(0.95);
}, 60_000);
