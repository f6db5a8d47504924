// In test:all alone: it needs a cluster of database servers, for 170 s.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe } from "vitest";
import type { StoreFactory } from "../../../src/conformance/check.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { type CitusCluster, startCitus } from "../../support/citus-cluster.js";
import { noCitus } from "../../support/postgres-server.js";
import { conformance } from "../conformance.js";

if (noCitus) console.warn(`skipped: ${noCitus}`);

describe.skipIf(noCitus)("on a Citus cluster", () => {
  let cluster: CitusCluster;
  let url: string;
  beforeAll(async () => {
    cluster = await startCitus();
    url = await cluster.createDatabase("docs");
  }, 60_000);
  afterAll(() => cluster.remove());

  function searchedBy(index: "flat" | "hnsw"): StoreFactory {
    const opened = (name: string, requireScope = false) => {
      const schema = `s${createHash("sha256").update(index).update(name).digest("hex").slice(0, 16)}`;
      return openPostgresStore(
        url,
        { space: "conformance" },
        { index, requireScope, schema, distributed: { shards: 4 } },
      );
    };
    return { open: opened, openRequiringScope: (name) => opened(name, true) };
  }

  conformance("the distributed store, exact", searchedBy("flat"));
  // Reading and writing do not depend on the index.
  conformance("the distributed store with a graph", searchedBy("hnsw"), [
    "finds",
    "filters",
    "fills",
    "keeps the vectors",
  ]);
});
