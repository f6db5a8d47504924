import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { Dense, type DenseOptions } from "../../../src/store/dense/dense.js";
import { Changes } from "../../../src/store/derived/changes.js";
import { Bm25Index } from "../../../src/store/lexical/bm25-index.js";
import { openEmbeddedStore } from "../../../src/store/open-embedded-store.js";
import { SQLite } from "../../support/sqlite.js";
import { temporaryFolder } from "../temporary-folder.js";

test("without a graph, vectors are read at the opening and from the first search on: not as they are written, and not to end", async () => {
  const path = join(temporaryFolder(), "store");
  const store = await openEmbeddedStore(path, { space: "made", dimension: 8 });
  onTestFinished(() => store.close());
  let reads = 0;
  const database = new SQLite(join(path, "store.sqlite"), {
    verbose: (sql) => {
      if (/JOIN vectors/.test(String(sql))) reads++;
    },
  });
  onTestFinished(() => void database.close());
  const dense = new Dense(new Changes(database), { index: "flat", folder: path } as DenseOptions);
  const write = async (uri: string) => {
    await store.write(withVectors([madeDocument(uri, ["alpha beta"])], 8));
    await dense.prepare();
    await dense.catchUp();
    await dense.save();
  };
  await dense.prepare();
  await write("one");
  expect(reads).toBe(0);
  expect((await dense.search(madeVector("question", 8), 9)).labels).toHaveLength(1);
  expect(reads).toBe(1);
  await write("two");
  expect(reads).toBe(2);
});

test("a hybrid search sends its vector to the graph's thread before it looks words up, so that both search at once", async () => {
  const store = await openEmbeddedStore(temporaryFolder(), { space: "made", dimension: 8 }, { index: "hnsw" });
  onTestFinished(() => store.close());
  await store.write(withVectors([madeDocument("one", ["alpha beta"])], 8));
  const steps: string[] = [];
  onTestFinished(() => void vi.restoreAllMocks());
  const ask = async () => {
    const query = { text: "alpha", vector: madeVector("question", 8) };
    const found = await Promise.all([store.dense, store.lexical].map((side) => side.retrieve(query, { count: 9 })));
    expect(found.map((side) => side.length)).toEqual([1, 1]);
  };
  await ask();
  const record = (step: string, of: object, method: string) => {
    const whole = Reflect.get(of, method) as (...given: unknown[]) => unknown;
    vi.spyOn(of as Record<string, typeof whole>, method).mockImplementation(function (this: unknown, ...given) {
      steps.push(step);
      return whole.apply(this, given);
    });
  };
  record("vector", Worker.prototype, "postMessage");
  record("words", Bm25Index.prototype, "search");
  await ask();
  expect(steps).toEqual(["vector", "words"]);
});
