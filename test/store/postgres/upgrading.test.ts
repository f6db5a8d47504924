// In test:all alone: it needs a database server, for 5 s.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { query } from "../../support/citus-cluster.js";
import { postgresContent } from "../../support/postgres-content.js";
import { noPostgres, startPostgres } from "../../support/postgres-server.js";

/** Three documents as an earlier version wrote them, one of them twice, with a graph, a note and a reader's rights. */
const earlier = readFileSync(
  fileURLToPath(new URL("../../fixtures/stores/postgres-version-3.sql", import.meta.url)),
  "utf8",
);

test.skipIf(noPostgres)(
  "a store of version 3 is upgraded when it is opened, and then is what this version writes",
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const url = server.url();
    await query(url, "CREATE EXTENSION vector");
    await query(url, "CREATE ROLE reader");
    await query(url, earlier);
    await query(url, "GRANT SELECT ON ALL TABLES IN SCHEMA citewell TO reader");
    const upgraded = await openPostgresStore(url, { space: "made" }, { index: "hnsw" });
    // Version 3 knew no names of pages, so that their words are found by them only after a repair.
    const { problems } = await upgraded.verify();
    expect(problems.map(({ what, repairable }) => ({ what, repairable }))).toEqual(
      ["one", "two", "three"].map(() => ({ what: "lexical", repairable: true })),
    );
    expect(await upgraded.verify({ repair: true })).toMatchObject({ ok: true, recall: 1 });
    const fresh = await openPostgresStore(url, { space: "made" }, { index: "hnsw", schema: "fresh" });
    const documents = ["one", "two", "three"].map((uri, at) =>
      madeDocument(uri, [`the first of ${uri}`, `the second of ${uri}`], {
        title: uri,
        metadata: { name: uri, number: at },
      }),
    );
    await fresh.write({ ...withVectors(documents, 4), notes: new Map([["a file", "read"]]), settings: { kept: 1 } });
    const two = { title: "two", metadata: { name: "two", number: 7 } };
    await fresh.write(withVectors([madeDocument("two", ["the second of two", "another of two"], two)], 4));
    expect(await postgresContent(url)).toEqual(await postgresContent(url, "fresh"));
    const search = { text: "second", vector: madeVector("the second of two", 4) };
    for (const side of ["dense", "lexical"] as const) {
      expect(await upgraded[side].retrieve(search, { count: 10 })).toEqual(
        await fresh[side].retrieve(search, { count: 10 }),
      );
    }
    expect(upgraded.settings).toEqual({ kept: 1 });
    // Keys of callers are new: who may look them up is for the owner to say.
    const rights = await query(
      url,
      "SELECT relname FROM pg_class WHERE relnamespace = 'citewell'::regnamespace AND relkind = 'r' AND NOT has_table_privilege('reader', oid, 'SELECT')",
    );
    expect(rights).toEqual([{ relname: "caller_keys" }]);
    await Promise.all([upgraded.close(), fresh.close()]);
  },
);
