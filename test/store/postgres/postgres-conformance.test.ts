// In test:all alone: it runs every case of the Store port on a database server, for 49 s.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe } from "vitest";
import type { StoreFactory } from "../../../src/conformance/check.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";
import { conformance } from "../conformance.js";

describe.skipIf(noPostgres)("on PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  function searchedBy(index: "flat" | "hnsw"): StoreFactory {
    const opened = (name: string, requireScope = false) =>
      openPostgresStore(
        server.url(),
        { space: "conformance" },
        { index, requireScope, schema: schemaOf(index + name) },
      );
    return { open: opened, openRequiringScope: (name) => opened(name, true) };
  }

  conformance("the PostgreSQL store, exact", searchedBy("flat"));
  // Reading and writing do not depend on the index.
  const ofSearch = ["finds", "filters", "fills", "hides", "shows", "keeps everything", "keeps the vectors", "replaces"];
  conformance("the PostgreSQL store with a graph", searchedBy("hnsw"), ofSearch);
});

/** Each name is a store of its own. */
function schemaOf(name: string): string {
  return `s${createHash("sha256").update(name).digest("hex").slice(0, 16)}`;
}
