import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { commandFile } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Runs `citewell index` in a process that may open no more than so many files at once. */
async function indexWithin(openFiles: number) {
  const folder = await temporaryFolder({
    "a.md": "# Harbour\n\nShips lie in it.",
    "b.html": "<p>The river.",
    "c.txt": "A quay",
  });
  const command = `ulimit -n ${openFiles} && exec "$0" "$@"`;
  const words = [
    "-c",
    command,
    process.execPath,
    commandFile,
    "index",
    folder,
    "--store",
    `${folder}/.store`,
    "--json",
  ];
  const { PATH, NODE_PATH } = process.env;
  return spawnSync("sh", words, { encoding: "utf8", env: { PATH, NODE_PATH } });
}

test.skipIf(process.platform === "win32")("a process that may open 64 files at once can index", async () => {
  const { status, stdout, stderr } = await indexWithin(64);
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining("EMFILE") });
  expect(JSON.parse(stdout)).toMatchObject({ documents: { added: 3, failed: 0 } });
});

test.skipIf(process.platform === "win32")("one that may open too few says how to let it open more", async () => {
  // Node 22 and newer close each module's file before they open the next.
  const { status, stderr } = await indexWithin(Number.parseInt(process.versions.node) >= 22 ? 26 : 30);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^citewell: .*EMFILE.*ulimit -n.*\n$/);
});
