import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { openStore } from "../../../src/store/open-store.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { copyStore } from "../../../src/store/transfer/copy-store.js";
import { temporaryFolder } from "../temporary-folder.js";
import { citewell, citewellJson } from "../../support/citewell.js";
import { temporaryFolder as filesIn } from "../../support/temporary-folder.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";

async function documentsIn(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ count: string }>("SELECT count(*) FROM citewell.documents");
  await client.end();
  return Number(rows[0]!.count);
}

describe.skipIf(noPostgres)("with PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  test("a store moves from a folder to a database and back, equal to the last bit, also by the command", async () => {
    const folder = temporaryFolder();
    const url = await server.createDatabase("copied");
    const source = await openStore(join(folder, "source"), { space: "made" });
    onTestFinished(() => source.close());
    const made = Array.from({ length: 230 }, (_, at) =>
      madeDocument(
        `d${at}`,
        Array.from({ length: 1 + (at % 3) }, (__, part) => `part ${part} of ${at} \ud83d \0`),
        {
          metadata: { at, odd: "\0" },
        },
      ),
    );
    await source.write({ ...withVectors(made, 12), notes: new Map([["d1", "a note"]]), settings: { one: 1 } });
    const report = { copied: 230, documents: { source: 230, target: 230 }, differences: [] };
    expect(await citewellJson(["copy", "source", url], { cwd: folder })).toMatchObject(report);
    expect(await citewellJson(["copy", url, "back"], { cwd: folder })).toMatchObject(report);
    const database = await openPostgresStore(url, { space: "made" });
    onTestFinished(() => database.close());
    const back = await openStore(join(folder, "back"), { space: "made" });
    onTestFinished(() => back.close());
    expect(await copyStore(back, database)).toMatchObject({ copied: 0, unchanged: 230, differences: [] });
    expect(await copyStore(source, back)).toMatchObject({ copied: 0, unchanged: 230, differences: [] });
    expect(await back.notes!(["d1"])).toEqual(new Map([["d1", "a note"]]));
    expect([database.settings, back.settings]).toEqual([{ one: 1 }, { one: 1 }]);
  });

  test("a store that an earlier version spread over two servers is refused by either address, and copied by both", async () => {
    const cwd = await filesIn({
      "one/keys.md": "# Keys\n\nAda keeps the recovery key.\n",
      "two/doors.md": "# Doors\n\nThe north door closes at nine.\n",
      "two/locks.md": "# Locks\n\nThe oil is in the cellar.\n",
    });
    const [first, second, target] = await Promise.all(
      ["one", "two", "three"].map((name) => server.createDatabase(name)),
    );
    await citewellJson(["index", "one", "--store", first!], { cwd });
    await citewellJson(["index", "two", "--store", second!], { cwd });
    const client = new pg.Client(first);
    await client.connect();
    // The map from documents to servers: half of the buckets each.
    const value = JSON.stringify({ "00": "a", "01": "b" });
    await client.query("INSERT INTO citewell.meta VALUES ('allotment', $1, 0)", [value]);
    await client.end();
    const refused = await citewell(["search", "recovery key", "--store", first!], { cwd });
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain("citewell copy");
    const both = `${first!},${second!}`;
    expect((await citewell(["search", "recovery key", "--store", both], { cwd })).stderr).toContain("citewell copy");
    const report = { copied: 3, documents: { source: 3, target: 3 }, differences: [] };
    expect(await citewellJson(["copy", both, target!], { cwd })).toMatchObject(report);
    expect(await documentsIn(target!)).toBe(3);
  });
});
