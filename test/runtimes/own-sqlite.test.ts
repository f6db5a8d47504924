import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/citewell.js";
import { runNode } from "../support/run-process.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const preload = join(root, "test/runtimes/own-sqlite.cjs");
const compiled = join(root, "node_modules/better-sqlite3/build/Release/better_sqlite3.node");
const script = `new (require("better-sqlite3"))(":memory:"); new Worker(\`new (require("better-sqlite3"))(":memory:")\`, { eval: true }).on("exit", console.log)`;

/** Opens a database in the main thread and in a worker, with this file in place of the package's own. */
const openWith = (file: string) =>
  runNode("--require", [preload, "--eval", `const { Worker } = require("node:worker_threads"); ${script}`], {
    cwd: root,
    environment: { BETTER_SQLITE3_FILE: file },
  });

test("a Node of another version opens the better-sqlite3 that was compiled for it, in threads, too", async () => {
  // A test of this file on another Node has that Node's own in the variable already.
  const mine = process.env["BETTER_SQLITE3_FILE"] ?? compiled;
  const own = join(await temporaryFolder(), "other.node");
  await copyFile(mine, own);
  expect(await openWith(own)).toEqual({ exitCode: 0, stdout: "0\n", stderr: "" });
});

test("a better-sqlite3 that was not compiled is named, and the one of another version is not taken instead", async () => {
  const missing = join(await temporaryFolder(), "missing.node");
  const { exitCode, stderr } = await openWith(missing);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(missing);
});
