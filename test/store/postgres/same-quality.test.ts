// In test:all alone: it ranks a collection on a database server and embedded, for 17 s.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openCollection } from "../../../src/evaluate/collection.js";
import { openStore } from "../../../src/store/open-store.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { root } from "../../support/citewell.js";
import { noPostgres, startPostgres } from "../../support/postgres-server.js";
import { storeQuality, type StoreQuality } from "../../support/store-quality.js";
import { wordEmbedder } from "../../support/word-embedder.js";
import { temporaryFolder } from "../temporary-folder.js";

const folder = join(root, "../shared/data/cranfield");
const absent = noPostgres ?? (existsSync(folder) ? undefined : `there is no collection at ${folder}`);
if (absent) console.warn(`skipped: ${absent}`);

// All collections with better vectors: benchmarks/proofs/stores.ts.
test.skipIf(absent)(
  "a collection is ranked as well on PostgreSQL, as in a folder",
  async () => {
    const collection = await openCollection(folder);
    const embedder = wordEmbedder({ maxInputTokens: 8192 });
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const stores = [await openStore(temporaryFolder(), embedder), await openPostgresStore(server.url(), embedder)];
    const qualities: StoreQuality[] = [];
    for (const store of stores) {
      qualities.push(await storeQuality(collection, embedder, store, 60));
      await store.close();
    }
    const [embedded, ...others] = qualities;
    expect(embedded!.lexical).toBeGreaterThan(0.3);
    for (const each of others) {
      for (const mode of ["dense", "lexical", "hybrid"] as const) {
        expect(Math.abs(each[mode] - embedded![mode])).toBeLessThanOrEqual(0.005);
      }
    }
  },
  120_000,
);
