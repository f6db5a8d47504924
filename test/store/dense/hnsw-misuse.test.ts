import { appendFileSync, copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { StoreError } from "../../../src/core/errors.js";
import type { Filter } from "../../../src/core/filter.js";
import { HnswGraph, loadHnswLibrary } from "../../../src/store/dense/graph/hnsw.js";
import { checkGraphFile } from "../../../src/store/dense/graph/graph-file.js";
import { openStore } from "../../../src/store/open-store.js";
import { normalised } from "../../../src/store/database/vectors.js";
import { runNode } from "../../support/run-process.js";
import { gaussian, madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { seededRandom } from "../../support/seeded-random.js";
import { temporaryFolder } from "../temporary-folder.js";

// The faults of hnswlib-node 3.0.0 that we guard against, a test each. Calls that would end the process, at once or as it
// exits, run in a process of their own.

const library = await loadHnswLibrary();
const parameters = { m: 16, efConstruction: 200, ef: 200 };
const dimension = 16;
const next = seededRandom(11);
const made = Array.from({ length: 300 }, () =>
  normalised(Float32Array.from({ length: dimension }, () => gaussian(next))),
);
const extra = normalised(Float32Array.from({ length: dimension }, () => gaussian(next)));

function graph(): HnswGraph {
  const whole = HnswGraph.create(library, dimension, parameters);
  for (const [at, vector] of made.entries()) whole.add(at + 1, vector);
  return whole;
}

/** Runs a module in a process of its own, with our graph class, a graph of 50 vectors, and a folder. */
async function processOf(code: string): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  const folder = temporaryFolder();
  const built = (path: string) => JSON.stringify(new URL(`../../../dist/store/${path}`, import.meta.url).href);
  const file = join(folder, "misuse.mjs");
  const program = `
    import { HnswGraph, loadHnswLibrary } from ${built("dense/graph/hnsw.js")};
    import { checkGraphFile } from ${built("dense/graph/graph-file.js")};
    import { openStore } from ${built("open-store.js")};
    import { writeFileSync, readFileSync } from "node:fs";
    const folder = ${JSON.stringify(folder)};
    const library = await loadHnswLibrary();
    const { normalised } = await import(${built("database/vectors.js")});
    const vector = (seed) => normalised(Float32Array.from({ length: 8 }, (_, at) => Math.sin(seed ** 2 * (at + 1))));
    const graph = HnswGraph.create(library, 8, { m: 16, efConstruction: 200, ef: 200 });
    for (let label = 1; label <= 50; label++) graph.add(label, vector(label));
    const refused = (work) => { try { work(); return "accepted"; } catch (error) { return error.name; } };
    ${code}`;
  writeFileSync(file, program);
  return runNode(file, [], { cwd: fileURLToPath(new URL("../../../", import.meta.url)) });
}

test("a Float32Array is accepted as a vector, a plain array is refused", () => {
  const whole = graph();
  whole.add(301, extra);
  expect(whole.search(extra, 1).labels[0]).toBe(301);
  expect(() => whole.add(302, Array.from(extra) as unknown as Float32Array)).toThrow(StoreError);
});

test("NaN in a vector is refused, and no search returns a score that is not a number", () => {
  const whole = graph();
  expect(() =>
    whole.add(
      301,
      extra.map((one, at) => (at === 3 ? NaN : one)),
    ),
  ).toThrow("holds NaN at index 3");
  expect(whole.search(extra, 300).scores.every((score) => Number.isFinite(score))).toBe(true);
});

test("undefined or a string in a vector is refused, and the process survives", async () => {
  const { exitCode, stdout } = await processOf(`
    const bad = [undefined, "1", null, {}].map((one) => refused(() => graph.add(51, [one, ...vector(51).slice(1)])));
    console.log(JSON.stringify({ bad, found: graph.search(vector(7), 1).labels[0] }));`);
  expect(JSON.parse(stdout)).toEqual({ bad: Array.from({ length: 4 }, () => "StoreError"), found: 7 });
  expect(exitCode).toBe(0);
});

test("a filter that throws when it is read fails the call, and the process survives", async () => {
  const { exitCode, stdout } = await processOf(`
    const store = await openStore(folder + "/store", { space: "s" }, { index: "hnsw", quantization: "none" });
    const text = "apple";
    const { vectorKey } = await import(${JSON.stringify(new URL("../../../dist/text/chunking/chunk-identity.js", import.meta.url).href)});
    const chunk = { id: "c", documentId: "d", start: 0, end: 5, text, context: "", tokens: 1 };
    await store.write({ vectors: new Map([[vectorKey(chunk), vector(1)]]), documents: [{ document: { uri: "d", text }, chunks: [chunk] }] });
    const filters = [() => { throw new Error("mine"); }, { get metadata() { throw new Error("mine"); } }, { metadata: { a: () => true } }];
    const outcomes = await Promise.all(filters.map((filter) =>
      store.dense.retrieve({ text, vector: vector(1) }, { count: 1, filter }).then(() => "found", (error) => error.message === "mine" ? "mine" : error.name)));
    const found = await store.dense.retrieve({ text, vector: vector(1) }, { count: 1 });
    console.log(JSON.stringify({ outcomes, found: found.length }));
    await store.close();`);
  expect(JSON.parse(stdout)).toEqual({ outcomes: ["OptionsError", "mine", "OptionsError"], found: 1 });
  expect(exitCode).toBe(0);
});

test("labels -1, 2^32 and 300.7 are refused, not wrapped", () => {
  const whole = graph();
  for (const label of [-1, 0, 2 ** 32, 300.7, NaN]) expect(() => whole.add(label, extra)).toThrow(StoreError);
  expect(whole.count).toBe(300);
});

test("an existing label keeps its vector", () => {
  const whole = graph();
  expect(() => whole.add(7, extra)).toThrow(StoreError);
  expect(whole.search(made[6]!, 1).labels[0]).toBe(7);
});

test("a failed load does not affect a graph in use, and the process exits normally", async () => {
  const { exitCode, stdout } = await processOf(`
    const path = folder + "/bad.bin";
    writeFileSync(path, "garbage");
    const outcomes = ["/missing.bin", "/bad.bin"].map((file) => refused(() => HnswGraph.read(library, folder + file, graph.saved)));
    console.log(JSON.stringify({ outcomes, found: graph.search(vector(7), 1).labels[0], count: graph.count }));`);
  expect(JSON.parse(stdout)).toEqual({ outcomes: ["Error", "Error"], found: 7, count: 50 });
  expect(exitCode).toBe(0);
});

test("a failed load on a new object is an error, and the process exits normally", async () => {
  const { exitCode, stdout } = await processOf(`
    const path = folder + "/graph.bin";
    await graph.write(path);
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, bytes.length / 2));
    const checked = await checkGraphFile(path, graph.saved).then(() => "whole", (error) => error.name);
    console.log(JSON.stringify({ checked, read: refused(() => HnswGraph.read(library, path, graph.saved)) }));`);
  expect(JSON.parse(stdout)).toEqual({ checked: "Error", read: "Error" });
  expect(exitCode).toBe(0);
});

const documents = Array.from({ length: 30 }, (_, at) => madeDocument(`d${at}`, [`apple ${at}`]));

async function openedAt(path: string, warnings: string[] = []) {
  const options = {
    index: "hnsw",
    quantization: "none",
    onWarning: (message: string) => warnings.push(message),
  } as const;
  const store = await openStore(path, { space: "made" }, options);
  onTestFinished(() => store.close());
  return store;
}

test("a file with two changed bytes is not loaded: the graph is built again, with a warning", async () => {
  const path = join(temporaryFolder(), "store");
  const first = await openedAt(path);
  await first.write(withVectors(documents, dimension));
  const query = { text: "", vector: madeVector("question", dimension) };
  const before = await first.dense.retrieve(query, { count: 10 });
  await first.close();
  const { file } = JSON.parse(readFileSync(join(path, "graph.json"), "utf8")) as { file: string };
  const bytes = readFileSync(join(path, file));
  for (const at of [500, 700]) bytes[at]! ^= 1;
  writeFileSync(join(path, file), bytes);
  const warnings: string[] = [];
  const again = await openedAt(path, warnings);
  const found = await again.dense.retrieve(query, { count: 10 });
  expect(found.map(({ chunkId }) => chunkId)).toEqual(before.map(({ chunkId }) => chunkId));
  expect(warnings).toEqual([expect.stringContaining("checksum differs")]);
});

test("a file of another dimension or metric is refused", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "other.bin");
  const other = new library.HierarchicalNSW("l2", 8);
  other.initIndex(300, 16, 200);
  for (let label = 1; label <= 300; label++)
    other.addPoint(
      Array.from({ length: 8 }, () => next()),
      label,
    );
  other.writeIndexSync(path);
  await expect(checkGraphFile(path, graph().saved)).rejects.toThrow("instead of 300 of");
  // The metric is not in the file, so only files of ours are read: the manifest has the store and the checksum.
  const store = join(folder, "store");
  const first = await openedAt(store);
  await first.write(withVectors(documents, dimension));
  await first.close();
  const { file } = JSON.parse(readFileSync(join(store, "graph.json"), "utf8")) as { file: string };
  copyFileSync(path, join(store, file));
  const warnings: string[] = [];
  const again = await openedAt(store, warnings);
  const query = { text: "", vector: madeVector("apple 7", dimension) };
  expect((await again.dense.retrieve(query, { count: 1 }))[0]!.score).toBeCloseTo(1);
  expect(warnings).toHaveLength(1);
});

test("a write into a missing folder is detected, although the library reports success", async () => {
  const path = join(temporaryFolder(), "not", "there.bin");
  const whole = graph();
  await whole.write(path);
  expect(existsSync(path)).toBe(false);
  await expect(checkGraphFile(path, whole.saved)).rejects.toThrow(path);
});

test.skipIf(!existsSync("/dev/full"))(
  "a full disk's refusal is detected, although the library reports success",
  async () => {
    const whole = graph();
    await whole.write("/dev/full");
    await expect(checkGraphFile("/dev/full", whole.saved)).rejects.toThrow("/dev/full");
  },
);

test("vectors that are added while the graph is saved are complete in the file", async () => {
  const path = join(temporaryFolder(), "store");
  const store = await openedAt(path);
  const many = Array.from({ length: 40 }, (_, at) =>
    madeDocument(
      `m${at}`,
      Array.from({ length: 50 }, (__, part) => `${at} ${part}`),
    ),
  );
  const writing = many.map((document) => store.write(withVectors([document], dimension)));
  await Promise.all([...writing, store.dense.retrieve({ text: "", vector: extra }, { count: 1 })]);
  await store.close();
  const manifest = JSON.parse(readFileSync(join(path, "graph.json"), "utf8")) as { file: string } & HnswGraph["saved"];
  expect(manifest.count).toBe(2000);
  await expect(checkGraphFile(join(path, manifest.file), manifest)).resolves.toBeUndefined();
  expect(await (await openedAt(path)).verify()).toMatchObject({ ok: true });
});

test("ef is saved with the graph, and a loaded graph finds what the saved one found", async () => {
  const path = join(temporaryFolder(), "graph.bin");
  const whole = graph();
  await whole.write(path);
  const read = HnswGraph.read(library, path, whole.saved);
  expect(read.saved.ef).toBe(200);
  for (const query of made.slice(0, 20)) expect(read.search(query, 50)).toEqual(whole.search(query, 50));
});

test("a filter that allows one in a thousand is answered exactly, and native code calls no JavaScript", async () => {
  const path = join(temporaryFolder(), "store");
  const store = await openedAt(path);
  const some = Array.from({ length: 1000 }, (_, at) => madeDocument(`d${at}`, [`apple ${at}`], { metadata: { at } }));
  await store.write(withVectors(some, dimension));
  const filter: Filter = { metadata: { at: 417 } };
  const found = await store.dense.retrieve({ text: "", vector: extra }, { count: 10, filter });
  expect(found.map(({ chunkId }) => chunkId)).toEqual([some[417]!.chunks[0]!.id]);
});

test("vectors can be added to a loaded graph", async () => {
  const path = join(temporaryFolder(), "graph.bin");
  const whole = graph();
  await whole.write(path);
  const read = HnswGraph.read(library, path, whole.saved);
  read.add(301, extra);
  expect(read.count).toBe(301);
  expect(read.search(extra, 1).labels[0]).toBe(301);
});

test("deleting twice, or an unknown label, is no error, and deleted vectors are not counted", () => {
  const whole = graph();
  expect([whole.remove(5), whole.remove(5), whole.remove(9999)]).toEqual([true, false, false]);
  expect(whole.search(extra, 1000).labels).toHaveLength(299);
});

test("asking for more than there are returns all", () => {
  expect(graph().search(extra, 1_000_000).labels).toHaveLength(300);
});

test("a file with additional bytes at its end is refused", async () => {
  const path = join(temporaryFolder(), "graph.bin");
  const whole = graph();
  await whole.write(path);
  appendFileSync(path, "x");
  await expect(checkGraphFile(path, whole.saved)).rejects.toThrow(path);
});
