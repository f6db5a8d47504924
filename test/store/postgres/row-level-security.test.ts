import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import type { Searchable } from "../../../src/core/ports.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import type { PostgresStoreOptions } from "../../../src/store/postgres/options.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";

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

describe.skipIf(noPostgres)("a store with row-level security", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  /** A store written by its owner, and the address by which another user reads it. */
  async function secured(name: string, options: PostgresStoreOptions = {}, secureFirst = true) {
    const url = await server.createDatabase(name);
    const owner = await openPostgresStore(url, { space: "made" }, { ...options, rowLevelSecurity: secureFirst });
    onTestFinished(() => owner.close());
    await owner.write({ ...withVectors(documents, dimension), notes: new Map([["file:///0.md", "a note"]]) });
    if (!secureFirst) {
      await (await openPostgresStore(url, { space: "made" }, { rowLevelSecurity: true })).close();
    }
    const admin = new pg.Client(url);
    await admin.connect();
    await admin.query(`CREATE USER ${name}_reader; GRANT USAGE ON SCHEMA citewell TO ${name}_reader;
      GRANT SELECT ON ALL TABLES IN SCHEMA citewell TO ${name}_reader`);
    await admin.end();
    const address = url.replace("postgres@", `${name}_reader@`);
    const open = async (more: PostgresStoreOptions = {}) => {
      const store = await openPostgresStore(address, { space: "made" }, { rowLevelSecurity: true, ...more });
      onTestFinished(() => store.close());
      return store;
    };
    const sql = async (text: string) => {
      const client = new pg.Client(address);
      await client.connect();
      try {
        return (await client.query<{ count: number }>(`SET search_path = citewell, public; ${text}`)) as unknown as {
          rows: { count: number; uri: string }[];
        }[];
      } finally {
        await client.end();
      }
    };
    return { owner, open, sql };
  }

  const uris = (found: readonly { readonly uri: string }[]) => found.map(({ uri }) => uri).toSorted();

  test("of an earlier version is brought up to date by its owner, as others are told", async () => {
    const { open } = await secured("earlier");
    const owner = new pg.Client(server.url("earlier"));
    await owner.connect();
    await owner.query("DROP TABLE citewell.commits; UPDATE citewell.meta SET value = '2' WHERE name = 'version'");
    await owner.end();
    await expect(open()).rejects.toMatchObject({ code: "version", message: expect.stringContaining("as their owner") });
  });

  test("shows another user no row of any table without a scope, and with one its rows alone, also to SQL without a condition", async () => {
    const { open, sql } = await secured("plain");
    for (const table of tables) {
      const results = await sql(`SELECT count(*)::int FROM ${table}`);
      expect({ table, count: results.at(-1)!.rows[0]!.count }).toEqual({ table, count: 0 });
    }
    const scope = (value: string) =>
      JSON.stringify({ conditions: 1, values: [{ condition: 0, name: ".tenant", kind: "text", text: value }] });
    const within = (value: string, text: string) => `BEGIN; SET LOCAL citewell.scope = '${scope(value)}'; ${text}`;
    const seen = (await sql(within("north", "SELECT uri FROM documents"))).at(-1)!.rows;
    expect(uris(seen)).toEqual(ofNorth);
    for (const [table, count] of Object.entries({ chunks: 20, embeddings: 20, texts: 10, vectors: 0, notes: 0 })) {
      const results = await sql(within("north", `SELECT count(*)::int FROM ${table}`));
      expect({ table, count: results.at(-1)!.rows[0]!.count }).toEqual({ table, count });
    }
    const words = await sql(
      within("north", "SELECT count(*)::int FROM postings WHERE chunk NOT IN (SELECT label FROM chunks)"),
    );
    expect(words.at(-1)!.rows[0]!.count).toBe(0);
    expect((await sql(within("nobody", "SELECT count(*)::int FROM documents"))).at(-1)!.rows[0]!.count).toBe(0);
    // The setting ends with its transaction, so that the next user of the connection sees nothing.
    expect(
      (await sql(`${within("north", "COMMIT")}; SELECT count(*)::int FROM documents`)).at(-1)!.rows[0]!.count,
    ).toBe(0);
    const store = await open();
    expect(() => store.scoped({ uri: { prefix: "file:///" } })).toThrow(/rowLevelSecurity.*tenant/);
    await expect(store.dense.retrieve(query, { count: 3 })).rejects.toMatchObject({ code: "scope" });
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
});
