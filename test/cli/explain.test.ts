import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/citewell.js";
import { runNode } from "../support/run-process.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const explain = (...words: readonly string[]) => runNode(join(root, "dist/bin/citewell.js"), ["explain", ...words]);

test("explain prints cause and way out of a code, without a store, a service or a network", async () => {
  const { exitCode, stdout } = await explain("space");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /^StoreError, code space\n {2}Cause: The store holds vectors of another model\.\n {2}Way out: .*citewell migrate/,
  );
});

test("a code that several classes carry is explained for each of them", async () => {
  const { stdout } = await explain("missing", "--json");
  expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual(["StoreError", "LoadError"]);
});

test("an error that the command line prints ends with the command that explains its code, and a wrong option does not", async () => {
  const folder = await temporaryFolder();
  const run = (...words: readonly string[]) => runNode(join(root, "dist/bin/citewell.js"), words, { cwd: folder });
  const { stderr } = await run("search", "keys");
  const [, code] = /^citewell: There is no store at .* \(citewell explain ([a-z-]+)\)\n$/.exec(stderr) ?? [];
  expect((await explain(code!)).stdout).toContain("StoreError, code missing");
  expect((await run("search", "keys", "--limit", "0")).stderr).not.toContain("explain");
});

test("an unknown code is misuse, and the nearest one is named", async () => {
  const { exitCode, stderr } = await explain("rate-limitted");
  expect(exitCode).toBe(2);
  expect(stderr).toContain("Did you mean rate-limited?");
});

test("every code that an error's constructor takes is explained", async () => {
  const { stdout } = await explain("--json");
  const explained = new Set((JSON.parse(stdout) as { code: string }[]).map(({ code }) => code));
  const sources = ["src/core/errors.ts", "src/transport/video/video-error.ts"].map((path) =>
    readFileSync(join(root, path), "utf8"),
  );
  const unions = sources.flatMap((text) =>
    [...text.matchAll(/type \w+ErrorCode =([^]*?");/g)].map(([, union]) => union!),
  );
  const constants = sources.flatMap((text) => [...text.matchAll(/super\(\s*"([\w-]+)"/g)].map(([, code]) => code!));
  const codes = [
    ...unions.flatMap((union) => [...union.matchAll(/\| "([\w-]+)"/g)].map(([, code]) => code!)),
    ...constants,
  ];
  expect(codes.length).toBeGreaterThan(45);
  expect(codes.filter((code) => !explained.has(code))).toEqual([]);
});
