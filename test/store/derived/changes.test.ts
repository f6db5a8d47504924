import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { openForReading } from "../../../src/sqlite/database.js";
import { Changes } from "../../../src/store/derived/changes.js";
import { openStore } from "../../../src/store/open-store.js";
import { temporaryFolder } from "../temporary-folder.js";

test("the vectors that a search reads take no memory after it", async () => {
  const path = temporaryFolder();
  const store = await openStore(path, { space: "made" }, { index: "flat" });
  onTestFinished(() => store.close());
  await store.write(withVectors([madeDocument("d", ["one", "two", "three"])], 16));
  const database = openForReading(join(path, "store.sqlite"));
  onTestFinished(() => {
    database.close();
  });
  const changes = new Changes(database);
  const expected = Array.from(changes.vectorsAfter(0, -1));
  const read: Float32Array[] = [];
  changes.eachVectorOf([3, 1, 99], (label, vector) => {
    expect(vector).toEqual(expected.find((row) => row.label === label)!.vector);
    read.push(vector);
  });
  expect(read.map(({ byteLength }) => byteLength)).toEqual([0, 0]);
});
