import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { migrateKnowledgeBase } from "../../src/knowledge-base/migrate.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { migrateBack } from "../../src/store/migrate-back.js";
import { openStore } from "../../src/store/open-store.js";
import { storeFolder } from "../../src/store/store-address.js";
import { citewell } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { wordEmbedder } from "../support/word-embedder.js";

const secret = "s3cr3t-word";

test.each([
  [`postgress://ada:${secret}@db.example/kb`, "did you mean postgres://?"],
  [`postgre://ada:${secret}@db.example/kb`, "did you mean postgres"],
  [`mongodb://ada:${secret}@db.example/kb`, "There are no stores at mongodb: addresses"],
  [`s3://${secret}/kb`, "There are no stores at s3: addresses"],
  [`HTTP://ada:${secret}@db.example/kb`, "There are no stores at HTTP: addresses"],
  [`mysql:/ada:${secret}@db.example/kb`, "There are no stores at mysql: addresses"],
  [`file://${secret}.example/kb`, "The file:// address names no folder of this machine"],
  [`postgres:ada:${secret}@db.example/kb`, "holds the address of a server or its password"],
  [`postgres//ada:${secret}@db.example/kb`, "holds the address of a server or its password"],
  [`ada:${secret}@db.example/kb`, "holds the address of a server or its password"],
  [`jdbc:postgresql://db.example/kb?user=ada&password=${secret}`, "holds the address of a server or its password"],
  [`host=db.example user=ada password=${secret}`, "holds the address of a server or its password"],
  [`'postgres://ada:${secret}@db.example/kb'`, "holds the address of a server or its password"],
  [` postgres://ada:${secret}@db.example/kb`, "holds the address of a server or its password"],
  [`DATABASE_URL=postgres://ada:${secret}@db.example/kb`, "holds the address of a server or its password"],
  [`pgsql:\\\\ada:${secret}@db.example`, "There are no stores at pgsql: addresses"],
  [`postgres;//ada:${secret}@db.example/kb`, "holds the address of a server or its password"],
  [`postgres：//ada:${secret}@db.example/kb`, "holds the address of a server or its password"],
  [`a:${secret}@db.example`, "holds the address of a server or its password"],
  [`//ada:${secret}@db.example/kb`, "holds the address of a server or its password"],
  [`Server=db.example;User=ada;Pwd=${secret};`, "holds the address of a server or its password"],
  [`file:///tmp/${secret}%00`, "holds no null byte"],
  [`${secret}\0`, "holds no null byte"],
  ["file:///", "names none"],
  [":memory:", "There are no stores in memory"],
  [`file:${secret}`, "names its folder from the root"],
  [`file:///tmp/kb?key=${secret}`, "has no query and no fragment"],
  [`~${secret}/kb`, "would be the home folder of another user"],
])("%s is no store and becomes no folder, and what stands behind its scheme is not repeated", async (place, reason) => {
  const before = readdirSync(".");
  const openings = [
    () => openKnowledgeBase({ path: place }),
    () => openStore(place, wordEmbedder()),
    async () => migrateBack(place),
    () => migrateKnowledgeBase({ path: place }),
  ];
  for (const opening of openings) {
    const error: unknown = await opening().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "options", message: expect.stringContaining(reason) });
    if (!place.startsWith("~")) expect(JSON.stringify([(error as Error).message, error])).not.toContain(secret);
  }
  expect(readdirSync(".")).toEqual(before);
});

test("openStore says who opens a database", async () => {
  const opening = openStore(`postgres://ada:${secret}@db.example/kb`, wordEmbedder());
  await expect(opening).rejects.toThrow("open it by openPostgresStore() or openKnowledgeBase()");
});

test("a file address and a home folder name the same folder on the command line and in the library", async () => {
  const folder = await temporaryFolder({ "docs/a.md": "Moles dig." });
  const address = pathToFileURL(join(folder, "a store")).href;
  const kb = await openKnowledgeBase({ path: address });
  onTestFinished(() => kb.close());
  expect(kb.store.location).toBe(join(folder, "a store"));
  await kb.ingest([{ uri: "note:1", text: "Moles dig." }]);
  const listed = await citewell(["list", "--store", address, "--json"], { cwd: folder });
  expect(listed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("note:1") });
  await citewell(["index", "docs", "--store", "~/kb"], { cwd: folder, environment: { HOME: folder } });
  expect(existsSync(join(folder, "kb", "store.sqlite"))).toBe(true);
  expect(existsSync(join(folder, "~"))).toBe(false);
  expect(storeFolder("~")).toBe(homedir());
  expect(storeFolder("~\\kb")).toContain(homedir());
  expect(storeFolder("./~/kb", folder)).toBe(join(folder, "~", "kb"));
  for (const name of ["notes:2026", "notes@home", "postgres/ada@home", "password-store"]) {
    expect(storeFolder(name, folder)).toBe(join(folder, name));
  }
  expect(storeFolder("C:\\Users\\ada@home", folder)).toContain("ada@home");
});

test("the command line refuses a mistyped database without its password, and makes no folder", async () => {
  const folder = await temporaryFolder({ "docs/a.md": "Moles dig." });
  const place = `postgress://ada:${secret}@db.example/kb`;
  for (const command of [["index", "docs"], ["list"], ["search", "moles"], ["stats"]]) {
    const { exitCode, stderr, stdout } = await citewell([...command, "--store", place], { cwd: folder });
    expect({ exitCode, said: `${stderr}${stdout}` }).toEqual({
      exitCode: 2,
      said: expect.stringContaining("did you mean postgres://?"),
    });
    expect(`${stderr}${stdout}`).not.toContain(secret);
  }
  expect(readdirSync(folder)).toEqual(["docs"]);
});
