import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../src/store/open-store.js";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";

const documents = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => from + at).map((number) =>
    madeDocument(`d${number}`, [`always own${number} rare${number % 7} ${number % 2 === 0 ? "even" : "odd"}`]),
  );

async function opened(path: string) {
  const warnings: string[] = [];
  const store = await openStore(path, { space: "made" }, { index: "flat", onWarning: (text) => warnings.push(text) });
  onTestFinished(() => store.close());
  const uris = async (text: string) => {
    const hits = await store.hits(await store.lexical.retrieve({ text }, { count: 6000 }));
    return hits.map(({ uri }) => uri);
  };
  return { store, uris, warnings };
}

const segmentFiles = (path: string) => readdirSync(path).filter((file) => /^lexical-.*\.bin$/.test(file));

test("saving after a small change writes the change, not the index, and opening finds all of it", async () => {
  const path = temporaryFolder();
  const first = await opened(path);
  await first.store.write(withVectors(documents(0, 1500), 2));
  await first.store.close();
  const before = segmentFiles(path);

  const second = await opened(path);
  await second.store.write(withVectors(documents(1500, 1510), 2));
  await second.store.deleteDocuments(["d3", "d1503"]);
  await second.store.close();
  const after = segmentFiles(path);
  const size = (file: string) => statSync(join(path, file)).size;
  expect(after).toEqual(expect.arrayContaining(before));
  const written = after.filter((file) => !before.includes(file)).reduce((sum, file) => sum + size(file), 0);
  expect(written).toBeGreaterThan(0);
  expect(written).toBeLessThan(before.reduce((sum, file) => sum + size(file), 0) / 20);

  const third = await opened(path);
  expect(await third.uris("always")).toHaveLength(1508);
  expect(await third.uris("own3")).toEqual([]);
  expect(await third.uris("own1509")).toEqual(["d1509"]);
});

test("many removals are saved beside the segments, and a changed byte among them means building again", async () => {
  const path = temporaryFolder();
  const first = await opened(path);
  await first.store.write(withVectors(documents(0, 5000), 2));
  await first.store.close();
  const [segment] = segmentFiles(path);

  const second = await opened(path);
  await second.store.deleteDocuments(Array.from({ length: 1100 }, (_, at) => `d${4 * at}`));
  const expected = await second.uris("even rare3");
  expect(expected).toHaveLength(2500 - 1100 + 357);
  await second.store.close();
  const added = segmentFiles(path).filter((file) => file !== segment);
  expect(added).toHaveLength(1);

  const third = await opened(path);
  expect(await third.uris("even rare3")).toEqual(expected);
  expect(third.warnings).toEqual([]);
  await third.store.close();

  const removals = join(path, added[0]!);
  const bytes = readFileSync(removals);
  bytes[100]! ^= 1;
  writeFileSync(removals, bytes);
  const fourth = await opened(path);
  expect(await fourth.uris("even rare3")).toEqual(expected);
  expect(fourth.warnings).toEqual([expect.stringMatching(/lexical index.*was changed.*built again/)]);
});

test("processes that save in turn never name a file that another one has deleted", async () => {
  const path = temporaryFolder();
  const write = async (from: number) => {
    const { store } = await opened(path);
    await store.write(withVectors(documents(from, from + 10), 2));
    await store.close();
  };
  for (let from = 0; from < 30; from += 10) await write(from);
  const open = await opened(path);
  expect(await open.uris("always")).toHaveLength(30);
  const before = segmentFiles(path);
  // The eighth segment makes all of them one.
  for (let from = 30; from < 80; from += 10) await write(from);
  for (const file of segmentFiles(path)) expect(before).not.toContain(file);
  await open.store.write(withVectors(documents(80, 90), 2));
  await open.store.close();

  const last = await opened(path);
  expect(await last.uris("always")).toHaveLength(90);
  expect(last.warnings).toEqual([]);
});

test("a damaged segment that a repair has found is not saved again by the store that was repaired", async () => {
  const path = temporaryFolder();
  const first = await opened(path);
  await first.store.write(withVectors(documents(0, 100), 2));
  await first.store.close();
  const file = join(path, segmentFiles(path)[0]!);
  const bytes = readFileSync(file);
  bytes[100]! ^= 1;

  const second = await opened(path);
  writeFileSync(file, bytes);
  expect((await second.store.verify({ repair: true })).problems).toEqual([
    expect.objectContaining({ what: "lexical", repairable: true }),
  ]);
  await second.store.write(withVectors(documents(100, 110), 2));
  await second.store.close();

  const third = await opened(path);
  expect((await third.store.verify()).problems).toEqual([]);
  expect(await third.uris("always")).toHaveLength(110);
});
