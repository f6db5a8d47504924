import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { HnswGraph, loadHnswLibrary } from "../../../src/store/dense/graph/hnsw.js";
import { isWorthPacking, savePacked, withUnpackedGraph } from "../../../src/store/dense/graph/packed-graph.js";
import { normalised } from "../../../src/store/database/vectors.js";
import { openStore } from "../../../src/store/open-store.js";
import { seededRandom } from "../../support/seeded-random.js";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";

const temporary = process.env["TMPDIR"];
afterEach(() => {
  if (temporary === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = temporary;
});

const dimension = 256;

/** Vectors like those of words: 20 of 256 components are not zero. */
function wordVectors(count: number): Float32Array[] {
  const next = seededRandom(7);
  return Array.from({ length: count }, () => {
    const vector = new Float32Array(dimension);
    for (let word = 0; word < 20; word++) vector[Math.floor(next() * dimension)] = 1 + Math.floor(next() * 4);
    return vector;
  });
}

test.each(["among the temporary files", "beside the graph where those cannot be written"])(
  "a packed graph is unpacked to the bytes that the library wrote, for as long as they are read, %s",
  async (where) => {
    const folder = temporaryFolder();
    const graph = HnswGraph.create(await loadHnswLibrary(), dimension, { m: 8, efConstruction: 50, ef: 50 });
    // More than a block of records, and elements with upper links.
    for (const [at, vector] of wordVectors(700).entries()) graph.add(at + 1, normalised(vector));
    graph.remove(3);
    const [packed, whole] = [join(folder, "graph-1.bin"), join(folder, "whole.bin")];
    await savePacked(packed, graph.saved, async (path) => {
      await graph.write(path);
      cpSync(path, whole);
    });
    const written = readFileSync(whole);
    expect(readFileSync(packed).length).toBeLessThan(written.length / 3);
    const temporaries = join(folder, "temporaries");
    process.env["TMPDIR"] = where.startsWith("beside") ? temporaries : temporaryFolder();
    let copy = "";
    const read = await withUnpackedGraph(packed, graph.saved, async (path) => {
      copy = path;
      return readFileSync(path);
    });
    expect(read.equals(written)).toBe(true);
    expect(copy.startsWith(where.startsWith("beside") ? folder : process.env["TMPDIR"])).toBe(true);
    expect(existsSync(copy)).toBe(false);
    expect(readdirSync(folder).toSorted()).toEqual(["graph-1.bin", "whole.bin"]);
  },
);

test("the copy of a process that was killed is removed by the next one that unpacks a graph; copies in use are not", async () => {
  const [temporaries, packed] = [temporaryFolder(), join(temporaryFolder(), "graph-1.bin")];
  process.env["TMPDIR"] = temporaries;
  const ended = spawnSync(process.execPath, ["--eval", ""]).pid;
  const anHourAgo = Date.now() / 1000 - 3600;
  const abandoned = `citewell-${ended}-graph-a.tmp`;
  const others = [
    `citewell-${process.pid}-graph-b.tmp`,
    `citewell-${ended}-graph-recent.tmp`,
    `other-${ended}-graph-c.tmp`,
  ];
  for (const name of [abandoned, ...others]) {
    writeFileSync(join(temporaries, name), "");
    if (!name.includes("recent")) utimesSync(join(temporaries, name), anHourAgo, anHourAgo);
  }
  const graph = HnswGraph.create(await loadHnswLibrary(), dimension, { m: 8, efConstruction: 50, ef: 50 });
  graph.add(1, normalised(wordVectors(1)[0]!));
  await savePacked(packed, graph.saved, (path) => graph.write(path));
  const during = await withUnpackedGraph(packed, graph.saved, async (path) => basename(path));
  expect(during).toMatch(new RegExp(`^citewell-${process.pid}-graph-`));
  expect(readdirSync(temporaries).toSorted()).toEqual(others.toSorted());
});

test("only a graph of vectors that are mostly zeros is worth packing", () => {
  const words = wordVectors(20);
  expect(isWorthPacking(words)).toBe(true);
  expect(isWorthPacking([...words, new Float32Array(dimension).fill(0.5)])).toBe(false);
});

test("a store of word vectors finds the same after its graph was packed, saved and read again", async () => {
  const path = join(temporaryFolder(), "store");
  const [document, ...more] = Array.from({ length: 60 }, (_, at) =>
    madeDocument(`d${at}`, [`apple ${at}`, `pear ${at}`]),
  );
  const write = withVectors([document!, ...more], dimension);
  const words = wordVectors(write.vectors!.size);
  const vectors = new Map([...write.vectors!.keys()].map((key, at) => [key, words[at]!]));
  const warnings: string[] = [];
  const open = () => openStore(path, { space: "words" }, { index: "hnsw", onWarning: (line) => warnings.push(line) });
  const query = { text: "", vector: words[5]! };
  const first = await open();
  await first.write({ ...write, vectors });
  await first.close();
  expect(JSON.parse(readFileSync(join(path, "graph.json"), "utf8"))).toMatchObject({ format: 2, count: 120 });
  const again = await open();
  onTestFinished(() => again.close());
  const found = await again.dense.retrieve(query, { count: 10 });
  const exact = await openStore(path, { space: "words" }, { index: "flat" });
  onTestFinished(() => exact.close());
  const ids = (await exact.dense.retrieve(query, { count: 10 })).map(({ chunkId }) => chunkId);
  expect(found.map(({ chunkId }) => chunkId)).toEqual(ids);
  expect(await again.verify()).toMatchObject({ ok: true, problems: [] });
  expect(warnings).toEqual([]);
});
