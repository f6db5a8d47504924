import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { openStore } from "../../../src/store/open-store.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { copyStore } from "../../../src/store/transfer/copy-store.js";
import { temporaryFolder } from "../temporary-folder.js";
import { citewellJson } from "../../support/citewell.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";

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
});
