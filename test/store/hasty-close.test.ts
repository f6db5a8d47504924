import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { madeDocument, madeVector, withVectors } from "../../src/conformance/made-documents.js";
import { temporaryFolder } from "./temporary-folder.js";

const dimension = 256;
const made = Array.from({ length: 6000 }, (_, at) => madeDocument(`d${at}`, [`note ${at}`]));

interface SavedIndex {
  readonly position: { readonly label: number };
}

function savedLabel(path: string, name: string): number {
  try {
    return (JSON.parse(readFileSync(join(path, `${name}.json`), "utf8")) as SavedIndex).position.label;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
}

test("an aborted close saves the graph as far as it was built, and the next opening completes it", async () => {
  const path = temporaryFolder();
  const store = await openStore(path, { space: "made" }, { index: "hnsw" });
  await store.write(withVectors(made, dimension));
  const impatience = new AbortController();
  const closing = store.close({ signal: impatience.signal });
  impatience.abort(new Error("no time"));
  await closing;
  // Inserting 6,000 vectors takes seconds, writing them a fraction of one.
  expect(savedLabel(path, "graph")).toBeLessThan(made.length);

  const again = await openStore(path, { space: "made" }, { index: "hnsw" });
  onTestFinished(() => again.close());
  for (const at of [0, 2999, 5999]) {
    const [found] = await again.dense.retrieve({ text: "", vector: madeVector(`note ${at}`, dimension) }, { count: 1 });
    expect(found?.score).toBeCloseTo(1, 4);
  }
  await again.close();
  expect(savedLabel(path, "graph")).toBe(made.length);
  expect(savedLabel(path, "lexical")).toBe(made.length);
});
