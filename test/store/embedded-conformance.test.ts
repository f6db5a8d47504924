import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { StoreFactory } from "../../src/conformance/check.js";
import { openStore } from "../../src/store/open-store.js";
import { conformance } from "./conformance.js";

const folder = mkdtempSync(join(tmpdir(), "citewell-conformance-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function searchedBy(index: "flat" | "hnsw"): StoreFactory {
  const opened = (name: string, requireScope = false) =>
    openStore(join(folder, index, name), { space: "conformance" }, { index, requireScope });
  return { open: opened, openRequiringScope: (name) => opened(name, true) };
}

conformance("the embedded store, exact", searchedBy("flat"));
// Reading and writing do not depend on the index.
const ofSearch = ["finds", "filters", "fills", "hides", "shows", "keeps everything", "keeps the vectors", "replaces"];
conformance("the embedded store with a graph", searchedBy("hnsw"), ofSearch);
