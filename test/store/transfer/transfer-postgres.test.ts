import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { openStore } from "../../../src/store/open-store.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { copyStore } from "../../../src/store/transfer/copy-store.js";
import { temporaryFolder } from "../temporary-folder.js";
import { citewell, citewellJson, type SearchJson } from "../../support/citewell.js";
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

  test("a store that is spread over servers is named by their addresses with commas: commands index, search, copy, export and import it", async () => {
    const cwd = await filesIn({
      "docs/keys.md": "# Keys\n\nAda keeps the recovery key.\n",
      "docs/doors.md": "# Doors\n\nThe north door closes at nine.\n",
      "docs/locks.md": "# Locks\n\nThe oil is in the cellar.\n",
    });
    const made = await Promise.all(["one", "two", "three", "four"].map((name) => server.createDatabase(name)));
    const [spread, other] = [made.slice(0, 2).join(","), made.slice(2).join(",")];
    await citewellJson(["index", "docs", "--store", spread], { cwd });
    const { hits } = await citewellJson<SearchJson>(["search", "recovery key", "--store", spread], { cwd });
    expect(hits[0]!.text).toContain("recovery key");
    const report = { copied: 3, documents: { source: 3, target: 3 }, differences: [] };
    expect(await citewellJson(["copy", spread, "folder"], { cwd })).toMatchObject(report);
    expect(await citewellJson(["export", "docs.jsonl", "--store", spread], { cwd })).toMatchObject(report);
    const environment = { CITEWELL_STORE: other };
    expect(await citewellJson(["import", "docs.jsonl"], { cwd, environment })).toMatchObject(report);
    expect(await citewellJson(["copy", "folder", other], { cwd })).toMatchObject({ copied: 0, unchanged: 3 });
    const counts = await Promise.all(made.map(documentsIn));
    expect(counts[0]! + counts[1]!).toBe(3);
    expect(counts[2]! + counts[3]!).toBe(3);
    // One of them alone is refused: it does not have all documents.
    const alone = await citewell(["list", "--store", made[0]!], { cwd });
    expect(alone).toMatchObject({ exitCode: 2, stdout: "" });
  });
});
