import SQLite from "better-sqlite3";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StoreError } from "../../src/errors.js";
import { asStoreError } from "../../src/sqlite/database.js";
import { openStore } from "../../src/store/open-store.js";
import { temporaryFolder } from "./temporary-folder.js";

function thrownBy(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error("Nothing was thrown");
}

/** What SQLite throws at a statement. */
function refusedBy(sql: string, options: SQLite.Options = {}): Error {
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
  ["a disk that is full", () => refusedBy("INSERT INTO some VALUES (zeroblob(99999))"), /is full.*Make room/],
  ["a file that may only be read", () => refusedBy("DELETE FROM some", { readonly: true }), /the right to write/],
  ["a path that is no file", () => thrownBy(() => new SQLite(temporaryFolder())), /See that its folder is there/],
  ["a file that is missing", () => thrownBy(() => readFileSync("/no/such/file")), /no such file.*the right to write/],
])("%s is a store's error that says what can be done and what the system said", (_, refuse, message) => {
  const cause = refuse();
  const error = asStoreError("/the/store.sqlite", cause) as StoreError;
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ code: "disk", path: "/the/store.sqlite", cause });
  expect(error.message).toMatch(message);
  expect(error.message).toContain(cause.message);
});

test("a file that was replaced by an empty one while it was open is damaged", () => {
  const cause = refusedBy("SELECT * FROM others");
  const message = expect.stringMatching(/no such table: others.*open it again/);
  expect(asStoreError("/the/store.sqlite", cause)).toMatchObject({ code: "damaged", cause, message });
});

test("an error of wrong use stays as it is", () => {
  for (const error of [refusedBy("INSERT INTO some VALUES (1)"), refusedBy("no SQL"), new TypeError("wrong")]) {
    expect(asStoreError("/the/store.sqlite", error)).toBe(error);
  }
});

test("a store whose folder cannot be made is refused in the same way, and nothing is left of the attempt", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "in the way");
  const refused = { code: "disk", message: expect.stringContaining("what was acknowledged is kept") };
  await expect(openStore(join(folder, "file", "store"), { space: "made" })).rejects.toMatchObject(refused);
  mkdirSync(join(folder, "store", "store.sqlite"), { recursive: true });
  await expect(openStore(join(folder, "store"), { space: "made" })).rejects.toMatchObject(refused);
  expect(existsSync(join(folder, "store", "writer.lock"))).toBe(false);
});
