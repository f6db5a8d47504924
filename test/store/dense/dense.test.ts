import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { Dense, type DenseOptions } from "../../../src/store/dense/dense.js";
import { Changes } from "../../../src/store/derived/changes.js";
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
  const dense = new Dense(new Changes(database), { index: "flat" } as DenseOptions);
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
