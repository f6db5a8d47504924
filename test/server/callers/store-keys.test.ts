// In test:all alone: it needs a database server with roles, for 20 s.
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FoundKeys } from "../../../src/server/callers/found-keys.js";
import type { KeyBook, KeyRecord, NewKey } from "../../../src/server/callers/key.js";
import { keyFile } from "../../../src/server/callers/key-file.js";
import { listKeys, makeKey, revokeKey } from "../../../src/server/callers/manage-keys.js";
import { storeKeys } from "../../../src/server/callers/store-keys.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";
import { served } from "../../support/served.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const documents = ["north", "south"].map((tenant) => ({
  uri: `${tenant}:keys`,
  title: `Keys of ${tenant}`,
  text: `API keys of ${tenant} expire after 90 days.`,
  metadata: { tenant },
}));
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe.skipIf(noPostgres)("keys in the database of a store", () => {
  let server: PostgresServer;
  let made = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  /** A store of its own, by the address of its owner. */
  async function newStore(rowLevelSecurity = false): Promise<string> {
    const url = await server.createDatabase(`keys${++made}`);
    await (await openPostgresStore(url, { space: "made" }, { rowLevelSecurity })).close();
    return url;
  }

  async function open(url: string) {
    const keys = await storeKeys(url);
    onTestFinished(() => keys.close());
    return keys;
  }

  async function client(url: string): Promise<pg.Client> {
    const connected = new pg.Client(url);
    await connected.connect();
    onTestFinished(() => connected.end());
    return connected;
  }

  /** Another user of the database, with what a server is granted. */
  async function asServer(url: string, granted = "SELECT"): Promise<string> {
    const user = `server${made}`;
    const admin = await client(url);
    await admin.query(`CREATE USER ${user}; GRANT USAGE ON SCHEMA citewell TO ${user};
      GRANT ${granted} ON ALL TABLES IN SCHEMA citewell TO ${user}`);
    return url.replace("postgres@", `${user}@`);
  }

  test("are taken, and refused once revoked, by all servers of the store without a restart", async () => {
    const url = await newStore();
    const owner = await open(url);
    const address = await asServer(url);
    const servers = await Promise.all([1, 2].map(async () => served(documents, { keys: await open(address) })));
    const statuses = (key: string) =>
      Promise.all(
        servers.map(async ({ send }) => (await send("GET", "/api/documents", undefined, bearer(key))).status),
      );
    const filter = { metadata: { tenant: "north" } };
    const { key, info } = await makeKey(owner, { name: "north", filter });
    expect(await statuses(key)).toEqual([200, 200]);
    for (const { as } of servers) {
      const { documents: seen } = await as(bearer(key)).json("GET", "/api/documents");
      expect(seen.map(({ uri }) => uri)).toEqual(["north:keys"]);
    }
    const forged = `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`;
    expect(await statuses(forged)).toEqual([401, 401]);
    expect(await statuses(`cw_${"0".repeat(12)}_${"A".repeat(43)}`)).toEqual([401, 401]);
    await revokeKey(owner, info.id.slice(0, 6));
    await expect.poll(() => statuses(key), { timeout: 10_000 }).toEqual([401, 401]);
    const { key: late } = await makeKey(owner, { name: "late", expiresAtMs: Date.now() + 1500 });
    expect(await statuses(late)).toEqual([200, 200]);
    await expect.poll(() => statuses(late), { timeout: 10_000 }).toEqual([401, 401]);
  });

  test("are what the same changes make of a file", async () => {
    const inStore = await open(await newStore());
    const inFile = keyFile(join(await temporaryFolder(), "keys.json"));
    const wanted: NewKey[] = [
      { name: "Ada's \u0000 notebook \ud800 ü", role: "manage" },
      { name: "desk", filter: { metadata: { tenant: "north" } }, metadata: { tenant: "north" }, role: "add" },
      { name: "members", groups: ["/north", "/staff"], limits: { requestsPerMinute: 7 } },
      { name: "late", expiresAtMs: Date.now() + 1_000_000 },
    ];
    for (const key of wanted) {
      const { info } = await makeKey(inFile, key);
      // Ids and digests are random: the same records go through the change of each.
      const record = (await inFile.list()).find(({ id }) => id === info.id)!;
      await inStore.change((all) => [...all, record]);
    }
    const [first, second] = await listKeys(inFile);
    for (const book of [inFile, inStore]) {
      await revokeKey(book, first!.id);
      await expect(revokeKey(book, "")).rejects.toThrow("There is no key with the id");
      await expect(revokeKey(book, "nobody")).rejects.toThrow("There is no key with the id");
      await book.change((all) => all.filter(({ id }) => id !== second!.id));
    }
    const told = async (book: KeyBook) =>
      (await listKeys(book)).map((info) => ({ ...info, ...(info.revokedAtMs && { revokedAtMs: "once" }) }));
    expect(await told(inStore)).toEqual(await told(inFile));
    const ids = (await inStore.list()).map(({ id }) => id);
    expect(await inStore.find!([ids[0]!, second!.id, "000000000000"])).toEqual(
      (await inStore.list()).filter(({ id }) => id === ids[0]),
    );
  });

  test("are all kept when many are made at once, from several places", async () => {
    const url = await newStore();
    const places = await Promise.all([1, 2, 3].map(() => open(url)));
    await Promise.all(Array.from({ length: 24 }, (_, at) => makeKey(places[at % 3]!, { name: `key ${at}` })));
    const names = (await listKeys(places[0]!)).map(({ name }) => name);
    expect(names.toSorted()).toEqual(Array.from({ length: 24 }, (_, at) => `key ${at}`).toSorted());
  });

  describe.each([false, true])("with row-level security of documents: %s", (rowLevelSecurity) => {
    test("are seen by another user one by one, by their ids, and changed by none", async () => {
      const url = await newStore(rowLevelSecurity);
      const owner = await open(url);
      const { key, info } = await makeKey(owner, { name: "ada" });
      await makeKey(owner, { name: "bob" });
      const address = await asServer(url, "ALL");
      const sql = await client(address);
      const seen = async () => (await sql.query<{ id: string }>("SELECT id FROM citewell.caller_keys")).rows;
      expect(await seen()).toEqual([]);
      await sql.query(`SET citewell.keys = '${info.id.slice(0, 11)}%,*,'`);
      expect(await seen()).toEqual([]);
      await sql.query(`SET citewell.keys = '${info.id}'`);
      expect(await seen()).toEqual([{ id: info.id }]);
      expect((await sql.query("DELETE FROM citewell.caller_keys")).rowCount).toBe(0);
      expect((await sql.query("UPDATE citewell.caller_keys SET record = '{}'")).rowCount).toBe(0);
      await expect(sql.query("INSERT INTO citewell.caller_keys VALUES ('000000000000', '{}')")).rejects.toThrow(
        "row-level security",
      );
      const other = await open(address);
      expect(await other.find!([info.id])).toHaveLength(1);
      for (const change of [
        () => listKeys(other),
        () => makeKey(other, { name: "eve", role: "manage" }),
        () => revokeKey(other, info.id),
      ]) {
        await expect(change()).rejects.toMatchObject({
          code: "scope",
          message: expect.stringContaining("only the owner of the store's tables makes, lists and revokes keys"),
        });
      }
      // The rows recognise the key and do not tell it.
      const admin = await client(url);
      const { rows } = await admin.query<{ record: string }>("SELECT record FROM citewell.caller_keys");
      const secret = key.split("_").slice(2).join("_");
      expect(rows.map(({ record }) => record).join("\n")).not.toContain(secret);
    });

    test("stand in a table with a policy, as all tables do that its catalogue lists", async () => {
      const admin = await client(await newStore(rowLevelSecurity));
      const { rows } = await admin.query<{ table: string; secured: boolean; policies: number }>(
        `SELECT relname AS "table", relrowsecurity AS secured,
           (SELECT count(*)::int FROM pg_policy WHERE polrelid = c.oid) AS policies
         FROM pg_class AS c WHERE relkind IN ('r', 'p') AND relnamespace = 'citewell'::regnamespace`,
      );
      expect(rows.length).toBeGreaterThan(10);
      const unsecured = rows.filter(({ secured, policies }) => !secured || policies === 0).map(({ table }) => table);
      if (rowLevelSecurity) expect(unsecured).toEqual([]);
      else expect(unsecured).not.toContain("caller_keys");
      const { rows: granted } = await admin.query(
        `SELECT grantee FROM information_schema.role_table_grants
         WHERE table_schema = 'citewell' AND table_name = 'caller_keys' AND grantee <> 'postgres'`,
      );
      expect(granted).toEqual([]);
    });
  });

  test("let nobody in when they were altered, and the server's log says why", async () => {
    const url = await newStore();
    const owner = await open(url);
    const { key, info } = await makeKey(owner, { name: "ada" });
    const admin = await client(url);
    await admin.query(`UPDATE citewell.caller_keys SET record = replace(record, '"ask"', '"root"')`);
    const errors: unknown[] = [];
    const { send } = await served(documents, { keys: await open(url), onError: (error) => errors.push(error) });
    expect((await send("GET", "/api/documents", undefined, bearer(key))).status).toBe(500);
    expect(errors[0]).toMatchObject({ code: "config", message: expect.stringContaining("nobody is let in by them") });
    // A record under another id is that of another key.
    await admin.query(
      `UPDATE citewell.caller_keys SET record = replace(record, '"root"', '"ask"'), id = '000000000000'`,
    );
    expect((await send("GET", "/api/documents", undefined, bearer(key))).status).toBe(401);
    expect((await owner.list()).map(({ id }) => id)).toEqual(["000000000000"]);
    expect(info.id).not.toBe("000000000000");
  });

  test("are refused where there is no such store, without the password of its address", async () => {
    const url = await server.createDatabase("without_store");
    await expect(storeKeys(url)).rejects.toMatchObject({ code: "missing" });
    await expect(storeKeys(await newStore(), { schema: "other" })).rejects.toMatchObject({ code: "missing" });
    await expect(storeKeys("mysql://ada:secret-word@db/docs")).rejects.toThrow(
      expect.objectContaining({ code: "options", message: expect.not.stringContaining("secret-word") }),
    );
  });
});

describe("keys that are looked up by their ids", () => {
  const record = (id: string): KeyRecord => ({ id, name: id, digest: "", role: "ask", createdAtMs: 0 });

  test("are looked up one time at once, with all who wait in the next one, and no more often than they age", async () => {
    const asked: string[][] = [];
    let [atOnce, most] = [0, 0];
    const keys = new FoundKeys(async (ids) => {
      asked.push([...ids]);
      most = Math.max(most, ++atOnce);
      await new Promise((done) => setTimeout(done, 20));
      atOnce--;
      return ids.filter((id) => !id.startsWith("x")).map(record);
    }, 200);
    const ids = ["a", "b", "x1", "a", "x2"];
    const first = keys.get("a");
    await new Promise((done) => setTimeout(done, 5));
    const found = await Promise.all(ids.map((id) => keys.get(id)));
    expect(found.map((each) => each?.id)).toEqual(["a", "b", undefined, "a", undefined]);
    expect((await first)?.id).toBe("a");
    expect([asked, most]).toEqual([[["a"], ["a", "b", "x1", "x2"]], 1]);
    await keys.get("a");
    expect(asked).toHaveLength(2);
    await new Promise((done) => setTimeout(done, 250));
    await keys.get("a");
    expect(asked.at(-1)).toEqual(["a"]);
  });

  test("that cannot be looked up fail for who asked, and not for who asks afterwards", async () => {
    let isDown = true;
    const keys = new FoundKeys(async (ids) => {
      if (isDown) throw new Error("The database is down");
      return ids.map(record);
    }, 200);
    await expect(keys.get("a")).rejects.toThrow("The database is down");
    isDown = false;
    expect((await keys.get("a"))?.id).toBe("a");
  });
});
