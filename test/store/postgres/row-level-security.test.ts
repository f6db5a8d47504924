// In test:all alone: it needs a database server and a cluster with roles, for 80 s.
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import type { Searchable } from "../../../src/core/ports.js";
import { ingest } from "../../../src/knowledge-base/ingest.js";
import { planIngest } from "../../../src/knowledge-base/plan.js";
import { enqueue } from "../../../src/knowledge-base/workers/enqueue.js";
import { literal } from "../../../src/postgres/local-settings.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import type { PostgresStoreOptions } from "../../../src/store/postgres/options.js";
import { scopeFacts } from "../../../src/store/postgres/row-level-security.js";
import { restrictRole } from "../../../src/store/postgres/secure-store.js";
import { startCitus } from "../../support/citus-cluster.js";
import { noCitus, noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";
import { wordEmbedder } from "../../support/word-embedder.js";

const dimension = 16;
const documents = Array.from({ length: 40 }, (_, at) =>
  madeDocument(`file:///${at}.md`, [`The owl number ${at}`, `An owl sleeps, ${at % 5} times`], {
    title: `Owl ${at}`,
    metadata: { tenant: at % 4 === 0 ? "north" : "south", level: at % 3, open: at % 2 === 0 },
  }),
);
const ofNorth = documents
  .filter((_, at) => at % 4 === 0)
  .map(({ document }) => document.uri)
  .toSorted();
const query = { text: "owl number sleeps", vector: madeVector("owl", dimension) };
const tables = ["documents", "texts", "fields", "chunks", "embeddings", "postings", "vectors", "notes"];

if (noCitus) console.warn(`skipped: ${noCitus}`);

describe.skipIf(noPostgres)("a store with row-level security, on one server", () => {
  secures(false);
});
describe.skipIf(noCitus)("a store with row-level security, on a cluster", () => {
  secures(true);
});

function secures(isDistributed: boolean): void {
  let server: Pick<PostgresServer, "remove">;
  /** Addresses of the database on all servers, the first of which is asked. */
  let nodes: string[];
  /** Each store has a schema of its own. */
  const addressOf = (schema: string) => `${nodes[0]}?schema=${schema}`;
  const shards = isDistributed ? { distributed: { shards: 4 } } : {};
  beforeAll(async () => {
    if (!isDistributed) {
      const single = await startPostgres();
      [server, nodes] = [single, [single.url()]];
      return;
    }
    const cluster = await startCitus();
    await cluster.createDatabase("docs");
    [server, nodes] = [cluster, [cluster.coordinator, ...cluster.workers].map((node) => node.url("docs"))];
  }, 180_000);
  afterAll(() => server.remove());

  /** A store written by its owner, and the address by which another user reads it. */
  async function secured(name: string, options: PostgresStoreOptions = {}, secureFirst = true) {
    const url = addressOf(name);
    const owner = await openPostgresStore(
      url,
      { space: "made" },
      { ...shards, rowLevelSecurity: secureFirst, ...options },
    );
    onTestFinished(() => owner.close());
    await owner.write({ ...withVectors(documents, dimension), notes: new Map([["file:///0.md", "a note"]]) });
    if (!secureFirst) {
      await (await openPostgresStore(url, { space: "made" }, { rowLevelSecurity: true })).close();
    }
    const admin = new pg.Client(url);
    await admin.connect();
    await admin.query(`CREATE USER ${name}_reader; GRANT USAGE ON SCHEMA ${name} TO ${name}_reader;
      GRANT SELECT ON ALL TABLES IN SCHEMA ${name} TO ${name}_reader`);
    await admin.end();
    const address = url.replace("postgres@", `${name}_reader@`);
    const open = async (more: PostgresStoreOptions = {}) => {
      const store = await openPostgresStore(address, { space: "made" }, { rowLevelSecurity: true, ...more });
      onTestFinished(() => store.close());
      return store;
    };
    const sql = (...texts: string[]) =>
      lastOf<{ count: number; uri: string }>(address, `SET search_path = ${name}, public`, ...texts);
    return { owner, open, sql };
  }

  async function plainStore(name: string) {
    const store = await openPostgresStore(addressOf(name), { space: "made" });
    onTestFinished(() => store.close());
    return store;
  }

  /** The rows of the last of some statements. A cluster hands on whole messages, so that each is one of its own. */
  async function lastOf<Row extends object>(url: string, ...texts: string[]): Promise<Row[]> {
    const client = new pg.Client(url);
    await client.connect();
    try {
      let rows: Row[] = [];
      for (const text of texts) rows = (await client.query<Row>(text)).rows;
      return rows;
    } finally {
      await client.end();
    }
  }

  const within = (tenant: string, text: string) => [
    "SET citus.propagate_set_commands = 'local'",
    "BEGIN",
    `SET LOCAL citewell.scope = ${literal(scopeFacts({ metadata: { tenant } }, "all"))}`,
    text,
  ];
  const uris = (found: readonly { readonly uri: string }[]) => found.map(({ uri }) => uri).toSorted();

  test("of an earlier version is brought up to date by its owner, as others are told", async () => {
    const { open } = await secured("earlier");
    const owner = new pg.Client(addressOf("earlier"));
    await owner.connect();
    await owner.query("DROP TABLE earlier.commits; UPDATE earlier.meta SET value = '2' WHERE name = 'version'");
    await owner.end();
    await expect(open()).rejects.toMatchObject({ code: "version", message: expect.stringContaining("as their owner") });
  });

  test("shows another user no row of any table without a scope, and with one its rows alone, also to SQL without a condition", async () => {
    const { open, sql } = await secured("plain");
    for (const table of tables) {
      const results = await sql(`SELECT count(*)::int FROM ${table}`);
      expect({ table, count: results[0]!.count }).toEqual({ table, count: 0 });
    }
    const seen = await sql(...within("north", "SELECT uri FROM documents"));
    expect(uris(seen)).toEqual(ofNorth);
    for (const [table, count] of Object.entries({ chunks: 20, embeddings: 20, texts: 10, vectors: 0, notes: 0 })) {
      const results = await sql(...within("north", `SELECT count(*)::int FROM ${table}`));
      expect({ table, count: results[0]!.count }).toEqual({ table, count });
    }
    const words = await sql(...within("north", "SELECT count(DISTINCT document)::int FROM postings"));
    expect(words[0]!.count).toBe(10);
    expect((await sql(...within("nobody", "SELECT count(*)::int FROM documents")))[0]!.count).toBe(0);
    // The setting ends with its transaction, so that the next user of the connection sees nothing.
    expect((await sql(...within("north", "COMMIT"), "SELECT count(*)::int FROM documents"))[0]!.count).toBe(0);
    const store = await open();
    expect(() => store.scoped({ uri: { prefix: "file:///" } })).toThrow(/rowLevelSecurity.*tenant/);
    await expect(store.dense.retrieve(query, { count: 3 })).rejects.toMatchObject({ code: "scope" });
  });

  test("hides every other table that the store or its queue makes, whatever the reader was granted", async () => {
    const { sql, open } = await secured("queued");
    const plain = await plainStore("queued");
    const embedder = { ...wordEmbedder(), space: "made" };
    await enqueue([{ uri: "file:///secret.md", text: "The owl of the south." }], { store: plain, embedder });
    const admin = new pg.Client(addressOf("queued"));
    await admin.connect();
    onTestFinished(() => admin.end());
    await admin.query("GRANT ALL ON ALL TABLES IN SCHEMA queued TO queued_reader");
    const unsecured = await admin.query<{ relname: string }>(
      "SELECT relname FROM pg_class WHERE relnamespace = 'queued'::regnamespace AND relkind IN ('r', 'p') AND NOT relrowsecurity",
    );
    expect(unsecured.rows).toEqual([]);
    const names = ["ingest_documents", "ingest_runs", "ingest_members", "ingest_rates", "commits"];
    for (const name of names) {
      const written = await admin.query<{ count: number }>(`SELECT count(*)::int FROM queued.${name}`);
      const seen = await sql(`SELECT count(*)::int FROM ${name}`);
      expect({ name, seen: seen[0]!.count }).toEqual({ name, seen: 0 });
      if (name === "ingest_documents" || name === "commits") expect(written.rows[0]!.count).toBeGreaterThan(0);
    }
    const before = await admin.query("SELECT id FROM queued.commits");
    await sql("DELETE FROM commits");
    expect((await admin.query("SELECT id FROM queued.commits")).rows).toEqual(before.rows);
    await expect(sql("INSERT INTO commits (id, made_by) VALUES (gen_random_uuid(), 'postgres')")).rejects.toThrow(
      "row-level security",
    );
    const reader = (await open()).scoped({ metadata: { tenant: "north" } });
    expect((await reader.lexical.retrieve(query, { count: 3 })).length).toBe(3);
  });

  test("hides the rows of others on every node, where any table of the store that its catalogue lists has a policy", async () => {
    await secured("everywhere");
    await enqueue([{ uri: "file:///secret.md", text: "The owl of the south." }], {
      store: await plainStore("everywhere"),
      embedder: { ...wordEmbedder(), space: "made" },
    });
    for (const [at, url] of nodes.entries()) {
      // Shards are tables, too, which Citus hides from most programs.
      const settings = [
        "SET citus.show_shards_for_app_name_prefixes = '*'",
        "SET citus.override_table_visibility = off",
      ];
      const found = await lastOf<{ table: string; secured: boolean; policies: number }>(
        url,
        ...settings,
        `SELECT relname AS "table", relrowsecurity AS secured,
           (SELECT count(*)::int FROM pg_policy WHERE polrelid = c.oid) AS policies
         FROM pg_class AS c WHERE relkind IN ('r', 'p') AND relnamespace = 'everywhere'::regnamespace`,
      );
      expect(found.length).toBeGreaterThanOrEqual(at > 0 ? 2 * tables.length : tables.length);
      const isOpen = ({ table, secured: isSecured, policies }: (typeof found)[number]) =>
        !isSecured || (policies === 0 && !table.startsWith("ingest_"));
      expect(found.filter(isOpen)).toEqual([]);
      const documentTables = found.filter(({ table }) => tables.includes(table.replace(/_\d+$/, "")));
      const reader = url.replace("postgres@", "everywhere_reader@");
      for (const { table } of documentTables) {
        const seen = await lastOf<{ count: number }>(
          reader,
          ...settings,
          `SELECT count(*)::int FROM everywhere.${table}`,
        );
        expect({ table, count: seen[0]!.count }).toEqual({ table, count: 0 });
      }
    }
  });

  test("shows members of a role that is bound to a scope nothing else, whatever they set, until it is freed", async () => {
    const { open, sql } = await secured("bound", { rowLevelSecurity: ["tenant"] });
    const address = addressOf("bound");
    const count = async (texts: string[]) => (await sql(...texts))[0]!.count;
    const documentsOf = (tenant: string) => count(within(tenant, "SELECT count(*)::int FROM documents"));
    expect([await documentsOf("north"), await documentsOf("south")]).toEqual([10, 30]);
    // A member of the role, by way of another, that is named as no statement can write it unquoted.
    await lastOf(address, `CREATE ROLE "the ""north"""; GRANT "the ""north""" TO bound_reader`);
    await restrictRole(address, `the "north"`, { metadata: { tenant: "north" } });
    expect([await documentsOf("north"), await documentsOf("south")]).toEqual([10, 0]);
    for (const table of ["texts", "fields", "chunks", "postings", "embeddings"]) {
      expect(await count(within("south", `SELECT count(*)::int FROM ${table}`))).toBe(0);
    }
    const scope = { metadata: { tenant: { in: ["north", "south"] }, level: 1 } };
    const found = await (await open()).scoped(scope).lexical.retrieve(query, { count: 30 });
    expect(found.length).toBeGreaterThan(0);
    const infos = await (await open()).scoped(scope).documents();
    expect(uris(infos)).toEqual(ofNorth.filter((uri) => infos.some((info) => info.uri === uri)));
    await expect(restrictRole(address, "nobody_there", { metadata: { tenant: "north" } })).rejects.toMatchObject({
      code: "missing",
    });
    // There are no facts of the level.
    await expect(restrictRole(address, "bound_reader", { metadata: { level: 1 } })).rejects.toThrow(".tenant");
    await restrictRole(address, `the "north"`, null);
    expect(await documentsOf("south")).toBe(30);
  });

  test("moves a document with its new facts from one scope to another", async () => {
    const { owner, sql } = await secured("moved", { rowLevelSecurity: ["tenant"] });
    const { document } = documents[0]!;
    const moved = madeDocument(document.uri, ["The owl number 0", "An owl sleeps, 0 times"], {
      title: "Owl 0",
      metadata: { ...document.metadata, tenant: "south" },
    });
    await owner.write(withVectors([moved], dimension));
    for (const [table, count] of Object.entries({ documents: 31, texts: 31, chunks: 62, embeddings: 62 })) {
      const seen = await sql(...within("south", `SELECT count(*)::int FROM ${table}`));
      expect({ table, count: seen[0]!.count }).toEqual({ table, count });
    }
    const words = await sql(...within("south", "SELECT count(DISTINCT document)::int FROM postings"));
    expect(words[0]!.count).toBe(31);
    expect((await owner.verify()).problems).toEqual([]);
  });

  test("secures tables that were made before they had a policy, when its owner opens it", async () => {
    const { sql } = await secured("unbound");
    const admin = new pg.Client(addressOf("unbound"));
    await admin.connect();
    onTestFinished(() => admin.end());
    await admin.query(`DROP POLICY citewell_scope ON unbound.commits; ALTER TABLE unbound.commits DISABLE ROW LEVEL SECURITY;
      ALTER TABLE unbound.commits DROP COLUMN made_by`);
    expect((await sql("SELECT count(*)::int FROM commits"))[0]!.count).toBeGreaterThan(0);
    await (await openPostgresStore(addressOf("unbound"), { space: "made" }, { rowLevelSecurity: true })).close();
    expect((await sql("SELECT count(*)::int FROM commits"))[0]!.count).toBe(0);
  });

  test.each([
    ["exact", { index: "flat" }, true],
    ["with a graph", { index: "hnsw" }, true],
    ["secured after it was written", { index: "hnsw" }, false],
  ] as const)(
    "is searched and read in every way as the owner would within the scope, %s",
    async (kind, options, first) => {
      const { owner, open } = await secured(`ways_${kind.replaceAll(" ", "_")}`, options, first);
      const scope = { metadata: { tenant: "north", level: { in: [0, 1] }, open: true } };
      const [trusted, reader] = [owner.scoped(scope), (await open()).scoped(scope)];
      const found = async (side: Searchable, filter?: { metadata: { level: number } }) => {
        const [near, relevant] = await Promise.all(
          [side.dense, side.lexical].map((retriever) =>
            retriever.retrieve(query, { count: 30, ...(filter && { filter }) }),
          ),
        );
        const ids = (some: typeof near) => some!.map(({ chunkId }) => chunkId).toSorted();
        const infos = await side.documents();
        const uri = infos[0]!.uri;
        return {
          near: near!.map(({ chunkId }) => chunkId),
          relevant: ids(relevant),
          hits: (await side.hits(near!)).map(({ chunk }) => chunk.text),
          infos,
          document: await side.document(uri),
          info: await side.documentInfo(uri),
          other: [await side.document("file:///1.md"), await side.documentInfo("file:///1.md")],
        };
      };
      const expected = await found(trusted);
      expect(expected.near.length).toBeGreaterThan(10);
      expect(await found(reader)).toEqual(expected);
      expect(await found(reader, { metadata: { level: 1 } })).toEqual(await found(trusted, { metadata: { level: 1 } }));
      expect(await found(reader.scoped({ metadata: { level: 0 } }))).toEqual(
        await found(trusted.scoped({ metadata: { level: 0 } })),
      );
      const nobody = (await open()).scoped({ metadata: { tenant: "nobody" } });
      expect(await nobody.dense.retrieve(query, { count: 5 })).toEqual([]);
      expect(await nobody.lexical.retrieve(query, { count: 5 })).toEqual([]);
    },
  );

  test("is filled, planned and checked by its owner, and by nobody whose rows it hides", async () => {
    const url = addressOf("filled");
    const embedder = wordEmbedder();
    const owner = await openPostgresStore(url, embedder, { rowLevelSecurity: true });
    onTestFinished(() => owner.close());
    const notes = ["north", "south"].map((tenant) => ({
      uri: `note:${tenant}`,
      text: `Owls of the ${tenant} sleep.`,
      metadata: { tenant },
    }));
    expect((await ingest(notes, { store: owner, embedder })).documents).toMatchObject({ added: 2 });
    expect((await planIngest(notes, { store: owner, embedder })).outcomes).toMatchObject({ unchanged: 2 });
    expect((await ingest(notes, { store: owner, embedder, map: () => null })).documents).toMatchObject({ deleted: 2 });
    expect((await ingest(notes, { store: owner, embedder })).documents).toMatchObject({ added: 2 });
    expect((await owner.verify()).problems).toEqual([]);
    expect(() => owner.scoped({ uri: { prefix: "note:" } })).toThrow(/rowLevelSecurity.*tenant/);
    const admin = new pg.Client(url);
    await admin.connect();
    await admin.query(`CREATE USER filled_writer; GRANT USAGE ON SCHEMA filled TO filled_writer;
      GRANT ALL ON ALL TABLES IN SCHEMA filled TO filled_writer`);
    await admin.end();
    for (const rowLevelSecurity of [true, false]) {
      const address = url.replace("postgres@", "filled_writer@");
      const tenant = await openPostgresStore(address, embedder, { rowLevelSecurity });
      onTestFinished(() => tenant.close());
      const refused = { code: "scope", message: expect.stringContaining("the owner of the tables alone") };
      await expect(tenant.verify()).rejects.toMatchObject(refused);
      if (rowLevelSecurity) await expect(ingest(notes, { store: tenant, embedder })).rejects.toMatchObject(refused);
    }
  });
}
