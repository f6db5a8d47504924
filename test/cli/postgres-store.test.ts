// In test:all alone: it starts a database and the command for each case, for 23 s.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
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
    const talk = ["chat", "--conversation", "keys", "--json"];
    expect(await citewell(talk, { cwd, environment, input: "Who keeps the recovery key?\n" })).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("Ada") as string,
    });
    const { exitCode } = await citewell(talk, { cwd, environment, input: "When does the north door close?\n" });
    expect(exitCode).toBe(0);
    const kb = await openKnowledgeBase({ path: store[1]! });
    onTestFinished(() => kb.close());
    expect(await kb.conversations()).toMatchObject([
      { id: "keys", exchanges: 2, title: "Who keeps the recovery key?" },
    ]);
    const stats = await citewellJson<object>(["stats"], { cwd, environment });
    expect(stats).toMatchObject({ documents: 2 });
    expect(stats).not.toHaveProperty("diskBytes");
    expect(await citewellJson(["verify"], { cwd, environment })).toMatchObject({ ok: true, problems: [] });
    expect(await citewellJson(["remove", "docs/doors.md"], { cwd, environment })).toMatchObject({
      documents: { deleted: 1 },
    });
    expect(await citewellJson(["list"], { cwd, environment })).toHaveLength(1);
    await citewellJson(["stats", "--report", "stats.html"], { cwd, environment });
    const report = readFileSync(join(cwd, "stats.html"), "utf8");
    for (const part of ["Length of chunks", "Map of the collection", "Growth"]) expect(report).toContain(part);
    expect(existsSync(join(cwd, ".citewell"))).toBe(false);
    // Some fifteen processes, each of which connects to the server.
  }, 300_000);

  test("is moved to another model in its place, and back", async () => {
    const cwd = await temporaryFolder({ "docs/keys.md": "# Keys\n\nAda keeps the recovery key.\n" });
    const store = ["--store", await server.createDatabase("moved_model")];
    const model = ["--embedding-model", "citewell/local-lexical"];
    await citewellJson(["index", "docs", ...store], { cwd });
    expect(await citewellJson(["migrate", ...model, ...store], { cwd })).toMatchObject({ switched: true });
    const { hits } = await citewellJson<SearchJson>(["search", "recovery key", ...model, ...store], { cwd });
    expect(hits[0]!.text).toContain("recovery key");
    expect(await citewellJson(["migrate", "--back", ...store], { cwd })).toEqual({ back: true });
    expect((await citewellJson<SearchJson>(["search", "recovery key", ...store], { cwd })).hits).toHaveLength(1);
  });

  test("takes the schema that holds the store from a flag, and refuses one beside a folder", async () => {
    const cwd = await temporaryFolder({
      "keys.md": "Ada keeps the recovery key.\n",
      "doors.md": "The door is shut.\n",
    });
    const store = ["--store", await server.createDatabase("schemas")];
    for (const name of ["keys", "doors"]) {
      const words = ["index", `${name}.md`, ...store, "--schema", name];
      expect(await citewellJson(words, { cwd })).toMatchObject({ documents: { added: 1 } });
    }
    const listed = await citewellJson<{ uri: string }[]>(["list", ...store, "--schema", "doors"], { cwd });
    expect(listed.map(({ uri }) => uri)).toEqual([expect.stringMatching(/doors\.md$/)]);
    const named = { cwd, environment: { CITEWELL_STORE: `${store[1]}?schema=keys` } };
    expect(await citewellJson(["list"], named)).toEqual([expect.objectContaining({ chunks: 1 })]);
    expect(await citewell(["list", "--schema", "keys"], { cwd })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--store postgres://") as string,
    });
  });

  test("says what distributing a new store needs, when it indexes and when it queues", async () => {
    const cwd = await temporaryFolder({ "keys.md": "Ada keeps the recovery key.\n" });
    const store = ["--store", await server.createDatabase("alone"), "--distributed"];
    for (const words of [[], ["--enqueue"]]) {
      const refused = await citewell(["index", "keys.md", ...store, ...words], { cwd });
      expect(refused.exitCode).toBe(2);
      expect(refused.stderr).toMatch(/CREATE EXTENSION citus/);
    }
    expect(await citewell(["index", "keys.md", "--distributed"], { cwd })).toMatchObject({ exitCode: 2 });
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
