import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { WriteLock } from "../../../src/store/database/write-lock.js";
import { temporaryFolder } from "../temporary-folder.js";

function lockOf(folder: string): WriteLock {
  const lock = new WriteLock(folder);
  onTestFinished(() => lock.release());
  return lock;
}

const tears: readonly (readonly [string, (path: string) => void])[] = [
  ["was cut after its first page", (path) => truncateSync(path, 4096)],
  ["was cut within its first page", (path) => truncateSync(path, 100)],
  ["was emptied", (path) => truncateSync(path, 0)],
  ["holds other bytes", (path) => writeFileSync(path, Buffer.alloc(8192, 7))],
  [
    "has a torn second page",
    (path) => {
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill(0xff, 4096));
    },
  ],
  ["is not a database", (path) => writeFileSync(path, "no database\n".repeat(500))],
];

test.each(tears)("the lock can be taken, by one holder at a time, when its file %s", (_, tear) => {
  const folder = temporaryFolder();
  const before = lockOf(folder);
  before.take();
  before.release();
  tear(join(folder, "writer.lock"));
  const [first, second] = [lockOf(folder), lockOf(folder)];
  first.take();
  expect(() => second.take()).toThrow("This process is writing to this store already, through another opening of it");
  first.release();
  second.take();
  expect(second.held).toBe(true);
});
