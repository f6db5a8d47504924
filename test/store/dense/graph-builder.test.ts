import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { openForReading } from "../../../src/sqlite/database.js";
import { normalised } from "../../../src/store/database/vectors.js";
import { GraphBuilder } from "../../../src/store/dense/graph/graph-builder.js";
import type { GraphFacts } from "../../../src/store/dense/graph/graph-file.js";
import { QuantizedGraph, quantizedEngine } from "../../../src/store/dense/graph/quantized/quantized-graph.js";
import type { GraphEngine } from "../../../src/store/dense/graph/vector-graph.js";
import { openStore } from "../../../src/store/open-store.js";
import { temporaryFolder } from "../temporary-folder.js";

test("two calls that find most of a graph deleted build it again once, however long the old one takes to end", async () => {
  const path = join(temporaryFolder(), "store");
  const store = await openStore(path, { space: "made" }, { index: "flat" });
  onTestFinished(() => store.close());
  const chunks = Array.from({ length: 1600 }, (_, at) => `text ${at}`);
  const documents = [madeDocument("deleted", chunks.slice(0, 1200)), madeDocument("kept", chunks.slice(1200))];
  await store.write(withVectors(documents, 16));

  // The engine behaves as a graph whose threads are busy.
  const engine: GraphEngine = {
    ...quantizedEngine(4),
    create: (dimension, parameters) => {
      const graph = QuantizedGraph.create(4, dimension, parameters);
      const close = graph.close.bind(graph);
      graph.close = async () => {
        await sleep(50);
        await close();
      };
      return graph;
    },
  };
  const database = openForReading(join(path, "store.sqlite"), 1_000_000);
  const builder = await GraphBuilder.open({
    folder: temporaryFolder(),
    store: "made",
    database,
    engine,
    onWarning: (message) => expect.fail(message),
    onUnsaved: () => {},
  });
  onTestFinished(async () => {
    await builder.stop();
    database.close();
  });
  await builder.catchUp();
  await store.deleteDocuments(["deleted"]);
  await Promise.all([builder.catchUp(), builder.catchUp(), builder.catchUp()]);
  expect(builder.search(normalised(madeVector("a question", 16)), 1600).labels).toHaveLength(400);
});

test("a walk looks at twice as many as are wanted, and at no fewer than the tuned number", async () => {
  const path = join(temporaryFolder(), "store");
  const store = await openStore(path, { space: "made" }, { index: "flat" });
  onTestFinished(() => store.close());
  await store.write(withVectors([madeDocument("one", ["alpha", "beta", "gamma"])], 16));
  const walks: unknown[] = [];
  const engine: GraphEngine = {
    ...quantizedEngine(4),
    create: (dimension, parameters) => {
      const graph = QuantizedGraph.create(4, dimension, parameters);
      const search = graph.search.bind(graph);
      graph.search = (vector, count, ef) => {
        walks.push({ count, ef });
        return search(vector, count, ef);
      };
      return graph;
    },
  };
  const database = openForReading(join(path, "store.sqlite"), 1_000_000);
  const options = { folder: temporaryFolder(), store: "made", ef: 96, onUnsaved: () => {} };
  const builder = await GraphBuilder.open({
    ...options,
    database,
    engine,
    onWarning: (message) => expect.fail(message),
  });
  onTestFinished(async () => {
    await builder.stop();
    database.close();
  });
  await builder.catchUp();
  for (const count of [3, 100]) builder.search(normalised(madeVector("a question", 16)), count);
  expect(walks).toEqual([
    { count: 23, ef: 96 },
    { count: 23, ef: 200 },
  ]);
});

test("a saved graph of 8 bits becomes one of 4 bits without being built again, and is saved as such", async () => {
  const path = join(temporaryFolder(), "store");
  const writing = await openStore(path, { space: "made" }, { index: "hnsw", quantization: "int8" });
  const chunks = Array.from({ length: 300 }, (_, at) => `text ${at}`);
  await writing.write(withVectors([madeDocument("one", chunks)], 16));
  await writing.close();
  const manifest = () => JSON.parse(readFileSync(join(path, "graph.json"), "utf8")) as GraphFacts;
  const { store, position } = manifest();
  expect(manifest()).toMatchObject({ format: 3, count: 300 });

  const engine: GraphEngine = { ...quantizedEngine(4), create: () => expect.fail("it is built again") };
  const database = openForReading(join(path, "store.sqlite"), 1_000_000);
  const onWarning = (message: string) => expect.fail(message);
  const options = { folder: path, store, database, onWarning, onUnsaved: () => {} };
  const opened = async (kind: GraphEngine) => {
    const builder = await GraphBuilder.open({ ...options, engine: kind });
    await builder.catchUp();
    const { labels } = builder.search(normalised(madeVector("a question", 16)), 300);
    await builder.save();
    await builder.stop();
    return labels;
  };
  const labels = await opened(engine);
  expect(labels).toHaveLength(300);
  expect(manifest()).toMatchObject({ format: 4, count: 300, position });
  const { mtimeMs } = statSync(join(path, "graph.json"));
  expect(await opened(engine)).toEqual(labels);
  expect(statSync(join(path, "graph.json")).mtimeMs).toBe(mtimeMs);
  // The other way the vectors are rounded already: it is built again from those of the store.
  expect(await opened(quantizedEngine(8))).toEqual(labels);
  expect(manifest()).toMatchObject({ format: 3, count: 300, position });
  database.close();
});
