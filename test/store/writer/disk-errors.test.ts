import type { Options } from "better-sqlite3";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { StoreError } from "../../../src/core/errors.js";
import { asStoreError } from "../../../src/sqlite/database.js";
import { openStore } from "../../../src/store/open-store.js";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";
import { SQLite } from "../../support/sqlite.js";

function thrownBy(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error("Nothing was thrown");
}

/** The error that SQLite throws for a statement. */
function refusedBy(sql: string, options: Options = {}): Error {
  const path = join(temporaryFolder(), "some.sqlite");
  new SQLite(path).exec("CREATE TABLE some (text UNIQUE); INSERT INTO some VALUES (1)").close();
  const database = new SQLite(path, options);
  database.pragma("max_page_count = 3");
  try {
    return thrownBy(() => database.exec(sql));
  } finally {
    database.close();
  }
}

test.each([
  ["a full disk", () => refusedBy("INSERT INTO some VALUES (zeroblob(99999))"), /is full.*Free some space/],
  ["a read-only file", () => refusedBy("DELETE FROM some", { readonly: true }), /write permission/],
  ["a path that is a folder", () => thrownBy(() => new SQLite(temporaryFolder())), /Check that its folder exists/],
  ["a missing file", () => thrownBy(() => readFileSync("/no/such/file")), /no such file.*may write there/],
])("%s becomes a StoreError with a way out and the system's own message", (_, refuse, message) => {
  const cause = refuse();
  const error = asStoreError("/the/store.sqlite", cause) as StoreError;
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ code: "disk", path: "/the/store.sqlite", cause });
  expect(error.message).toMatch(message);
  expect(error.message).toContain(cause.message);
});

test("a file that was replaced by an empty one while it was open is reported as damaged", () => {
  const cause = refusedBy("SELECT * FROM others");
  const message = expect.stringMatching(/no such table: others.*open it again/);
  expect(asStoreError("/the/store.sqlite", cause)).toMatchObject({ code: "damaged", cause, message });
});

test.each([0, 2, 6, 10, 16])(
  "with %i files left to open, a store works as far as it can, and otherwise says what to do",
  async (left) => {
    const path = join(temporaryFolder(), "store");
    const store = await openStore(path, { space: "made" });
    await store.write(withVectors([madeDocument("one", ["apple"]), madeDocument("other", ["pear"])], 16));
    await store.close();
    const script = join(import.meta.dirname, "few-files-left.mjs");
    const { stdout } = await promisify(execFile)("sh", [
      "-c",
      'ulimit -n 120; exec "$0" "$@"',
      process.execPath,
      script,
      path,
      String(left),
    ]);
    const outcomes = JSON.parse(stdout) as readonly { readonly code?: string; readonly message?: string }[];
    for (const { code, message } of outcomes) {
      if (code === undefined) continue;
      expect(["disk", "closed"]).toContain(code);
      expect(message).toMatch(/raise its limit \(ulimit -n\)|may open more files/);
    }
    const again = await openStore(path, { space: "made" });
    onTestFinished(() => again.close());
    expect((await again.lexical.retrieve({ text: "pear" }, { count: 3 })).length).toBe(1);
    expect(await again.verify()).toMatchObject({ ok: true });
  },
);

test("an error of misuse stays as it is", () => {
  for (const error of [refusedBy("INSERT INTO some VALUES (1)"), refusedBy("no SQL"), new TypeError("wrong")]) {
    expect(asStoreError("/the/store.sqlite", error)).toBe(error);
  }
});

test("a store whose folder or file cannot be created is refused with what is in its way, and leaves nothing behind", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "in the way");
  const refused = { code: "disk", message: expect.stringContaining("everything acknowledged is kept") };
  await expect(openStore(join(folder, "file", "store"), { space: "made" })).rejects.toMatchObject({
    code: "options",
    message: expect.stringContaining(`${join(folder, "file")} is a file. A store is a folder`),
  });
  mkdirSync(join(folder, "store", "store.sqlite"), { recursive: true });
  await expect(openStore(join(folder, "store"), { space: "made" })).rejects.toMatchObject(refused);
  expect(existsSync(join(folder, "store", "writer.lock"))).toBe(false);
});
