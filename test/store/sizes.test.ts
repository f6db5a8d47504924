// In test:all alone: it needs a database server and a cluster, for 40 s.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { madeDocument, withVectors } from "../../src/conformance/made-documents.js";
import { keepsConversations } from "../../src/store/conversations/keeps-conversations.js";
import { openStore } from "../../src/store/open-store.js";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.js";
import type { Store, StoreSizes } from "../../src/core/ports.js";
import { query, startCitus } from "../support/citus-cluster.js";
import { noCitus, noPostgres, startPostgres } from "../support/postgres-server.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const documents = Array.from({ length: 200 }, (_, at) =>
  madeDocument(`note:${at}`, [`Owl ${at} sleeps in the old barn`, `Owl ${at} hunts at night`], { title: `Owl ${at}` }),
);
const total = ({ databaseBytes, indexBytes, conversationBytes, otherGenerationBytes }: StoreSizes) =>
  databaseBytes + indexBytes + conversationBytes + otherGenerationBytes;

async function converse(store: Store): Promise<void> {
  if (!keepsConversations(store)) throw new Error("It keeps no conversations");
  const kept = store.conversations();
  await kept.of("").ask({ id: "talk" }, "Where do owls sleep?".repeat(1000));
  kept.close();
}

describe("the sizes of a store", () => {
  test("in a folder are those of its files, and none is another's", async () => {
    const folder = join(await temporaryFolder(), "store");
    const store = await openStore(folder, { space: "made", dimension: 64 });
    onTestFinished(() => store.close());
    const empty = await store.sizes!();
    expect(empty.conversationBytes).toBe(0);
    await store.write(withVectors(documents, 64));
    const written = await store.sizes!();
    expect(written.databaseBytes).toBeGreaterThan(empty.databaseBytes + 200 * 2 * 64 * 4);
    await converse(store);
    expect((await store.sizes!()).conversationBytes).toBeGreaterThan(20_000);
    await store.close();
    const again = await openStore(folder, { space: "made", dimension: 64 });
    onTestFinished(() => again.close());
    const closed = await again.sizes!();
    expect(closed.indexBytes).toBeGreaterThan(0);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const bytes = files
      .filter(
        ({ name }) => /\.(sqlite|sqlite-wal|sqlite-shm|bin)$/.test(name) || /^(lexical|graph|flat)\.json$/.test(name),
      )
      .map((entry) => statSync(join(entry.parentPath, entry.name)).size);
    expect(total(closed)).toBe(bytes.reduce((sum, size) => sum + size, 0));
  });

  test.skipIf(noPostgres)(
    "in PostgreSQL are those of its tables with their indexes, also to who may only read",
    async () => {
      const server = await startPostgres();
      onTestFinished(() => server.remove());
      const url = server.url();
      const store = await openPostgresStore(url, { space: "made" });
      onTestFinished(() => store.close());
      const empty = await store.sizes!();
      await store.write(withVectors(documents, 64));
      await converse(store);
      const written = await store.sizes!();
      for (const part of ["databaseBytes", "indexBytes", "conversationBytes"] as const) {
        expect([part, written[part] > empty[part]]).toEqual([part, true]);
      }
      const [inServer] = await query<{ bytes: string }>(
        url,
        `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class AS c
       WHERE relkind = 'r' AND relnamespace = 'citewell'::regnamespace`,
      );
      expect(total(written)).toBe(Number(inServer!.bytes));
      expect(written.otherGenerationBytes).toBe(0);
      await query(
        url,
        "CREATE SCHEMA citewell_previous; CREATE TABLE citewell_previous.documents AS SELECT * FROM citewell.documents",
      );
      expect((await store.sizes!()).otherGenerationBytes).toBeGreaterThan(0);
      await query(
        url,
        "CREATE USER reader; GRANT USAGE ON SCHEMA citewell TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA citewell TO reader",
      );
      const reading = await openPostgresStore(url.replace("postgres@", "reader@"), { space: "made" });
      onTestFinished(() => reading.close());
      expect(await reading.sizes!()).toEqual(await store.sizes!());
    },
  );

  test.skipIf(noCitus)(
    "on a cluster are those of all nodes",
    async () => {
      const cluster = await startCitus();
      onTestFinished(() => cluster.remove());
      await cluster.createDatabase("docs");
      const store = await openPostgresStore(
        cluster.coordinator.url("docs"),
        { space: "made" },
        { distributed: { shards: 4 } },
      );
      onTestFinished(() => store.close());
      await store.write(withVectors(documents, 64));
      await converse(store);
      // Shards are tables, too, which Citus hides from most programs.
      const shown = encodeURIComponent(
        "-c citus.override_table_visibility=off -c citus.show_shards_for_app_name_prefixes=*",
      );
      const [own, ...others] = [cluster.coordinator, ...cluster.workers].map(
        (node) => `${node.url("docs")}?options=${shown}`,
      );
      const bytesAt = async (url: string, names: string) => {
        const [found] = await query<{ bytes: string }>(
          url,
          `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class AS c
           WHERE relkind = 'r' AND relnamespace = 'citewell'::regnamespace AND relname ~ '${names}'`,
        );
        return Number(found!.bytes);
      };
      // A node also has each distributed table itself, empty, with its indexes.
      const ofNodes = await Promise.all(others.map((url) => bytesAt(url, "_[0-9]+$")));
      const shards = ofNodes.reduce((sum, size) => sum + size, 0);
      const sizes = await store.sizes!();
      expect(shards).toBeGreaterThan(1_000_000);
      expect(total(sizes)).toBeGreaterThan(shards);
      expect(total(sizes)).toBeLessThanOrEqual(shards + (await bytesAt(own!, "")));
      expect(sizes.conversationBytes).toBeGreaterThan(0);
    },
    240_000,
  );
});
