// In test:all alone: it starts other runtimes, for 32 s.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../support/citewell.js";
import { installPublished, isRegistryReachable } from "../support/published-package.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const isLinux = process.platform === "linux" && process.arch === "x64";

const runtimes = {
  "Node, as a measure": [process.execPath],
  "Bun 1.4.5": ["node_modules/@oven/bun-linux-x64/bin/bun"],
  "Deno 2.9.6": ["node_modules/@deno/linux-x64-glibc/deno", "run", "--allow-all"],
} as const;

describe.skipIf(!isRegistryReachable || !isLinux)("the published package", () => {
  let app: string;

  beforeAll(async () => {
    app = await mkdtemp(join(tmpdir(), "citewell-runtimes-"));
    // Both take the better-sqlite3 of Node 22, which npm leaves out on Node 20 unless it is asked for.
    const sqlite = "better-sqlite3-13@npm:better-sqlite3@^13.2.0";
    await installPublished(app, [sqlite, "@oven/bun-linux-x64@1.4.5", "@deno/linux-x64-glibc@2.9.6"]);
    for (const [command] of Object.values(runtimes).slice(1)) await chmod(join(app, command), 0o755);
    // Install scripts did not run, so that what they compile comes from this project.
    for (const name of ["better-sqlite3", "hnswlib-node"]) {
      await rm(join(app, "node_modules", name), { recursive: true, force: true });
      await cp(join(root, "node_modules", name), join(app, "node_modules", name), { recursive: true });
    }
    await cp(join(root, "test/runtimes/each-part.mjs"), join(app, "each-part.mjs"));
  }, 300_000);

  afterAll(() => rm(app, { recursive: true, force: true }));

  test.each(Object.entries(runtimes))("reads, writes, searches, answers, serves and ends on %s", async (_, command) => {
    const documents = await temporaryFolder();
    await cp(join(root, "test/fixtures/handbook"), documents, { recursive: true });
    await cp(join(root, "test/fixtures/office97/letter.doc"), join(documents, "letter.doc"));
    const words = [...command.slice(1), "each-part.mjs", documents, await temporaryFolder()];
    const child = spawn(resolve(app, command[0]), words, { cwd: app, stdio: ["ignore", "pipe", "pipe"] });
    const ended = once(child, "close");
    const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    expect({ exitCode: exitCode as unknown, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^read: 4\nwritten: 100\nwhole: true recall of the graph: 1\nanswer: /);
    expect(stdout).toMatch(/\nEmployees get 27 days of paid leave a year\. .*\[1\]\nserver: 200\nclosed\n$/);
  });
});
