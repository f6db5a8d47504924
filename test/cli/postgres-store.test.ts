import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { citewell, citewellJson, type IndexJson, type SearchJson } from "../support/citewell.js";
import { noPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.js";
import { temporaryFolder } from "../support/temporary-folder.js";

describe.skipIf(noPostgres)("a command with the address of a database as its store", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  test("does with it what it does with a folder, and makes none", async () => {
    const cwd = await temporaryFolder({
      "docs/keys.md": "# Keys\n\nAda keeps the recovery key.\n",
      "docs/doors.md": "# Doors\n\nThe north door closes at nine.\n",
    });
    const store = ["--store", await server.createDatabase("commands")];
    const indexed = await citewellJson<IndexJson>(["index", "docs", ...store], { cwd });
    expect(indexed.documents).toMatchObject({ added: 2, failed: 0 });
    const again = await citewellJson<IndexJson>(["index", "docs", ...store], { cwd });
    expect(again.documents).toMatchObject({ unchanged: 2 });
    expect(again.chunks).toMatchObject({ embedded: 0 });
    const { hits } = await citewellJson<SearchJson>(["search", "recovery key", ...store], { cwd });
    expect(hits[0]!.text).toContain("recovery key");
    // A variable names the store for all commands.
    const environment = { CITEWELL_STORE: store[1]! };
    expect(await citewellJson(["ask", "Who keeps the recovery key?"], { cwd, environment })).toMatchObject({
      answered: true,
    });
    expect(await citewellJson(["list"], { cwd, environment })).toHaveLength(2);
    const stats = await citewellJson<object>(["stats"], { cwd, environment });
    expect(stats).toMatchObject({ documents: 2 });
    expect(stats).not.toHaveProperty("diskBytes");
    expect(await citewellJson(["verify"], { cwd, environment })).toMatchObject({ ok: true, problems: [] });
    expect(await citewellJson(["remove", "docs/doors.md"], { cwd, environment })).toMatchObject({
      documents: { deleted: 1 },
    });
    expect(await citewellJson(["list"], { cwd, environment })).toHaveLength(1);
    const migrating = await citewell(["migrate", "--embedding-model", "citewell/local-lexical"], { cwd, environment });
    expect(migrating).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("store in a folder alone") as string,
    });
    expect(existsSync(join(cwd, ".citewell"))).toBe(false);
  });

  test("never shows the password of the address", async () => {
    const cwd = await temporaryFolder();
    const address = server.url("nowhere").replace("postgres@", "postgres:geheim@");
    const { exitCode, stderr } = await citewell(["list", "--store", address], { cwd });
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("nowhere");
    expect(stderr).not.toContain("geheim");
  });
});
