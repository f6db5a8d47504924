import { expect, test } from "vitest";
import { citewell, citewellJson, commandFile, handbook, type SearchJson } from "../support/citewell.js";
import { runNode } from "../support/run-process.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const hooks = new URL("../support/name-loaded-packages.mjs", import.meta.url).href;
const atExit = 'process.on("exit", () => console.error(process.moduleLoadList.join("\\n")));';

test("a search without a service starts no server, loads no HTTP client, and opens few files", async () => {
  const cwd = await temporaryFolder();
  expect((await citewell(["index", handbook], { cwd })).exitCode).toBe(0);
  const words = ["--import", `data:text/javascript,${atExit}`, commandFile, "search", "recovery key", "--json"];
  const { stdout, stderr } = await runNode("--import", [hooks, ...words], { cwd });
  const { hits } = JSON.parse(stdout) as SearchJson;
  expect(hits).toEqual((await citewellJson<SearchJson>(["search", "recovery key"], { cwd })).hits);
  expect(hits[0]?.text).toContain("recovery key");

  const lines = stderr.split("\n");
  const builtIn = lines.flatMap((line) => /^NativeModule (\w+)$/.exec(line)?.[1] ?? []);
  expect(builtIn).toContain("fs");
  for (const name of ["http", "https", "tls"]) expect(builtIn).not.toContain(name);
  const packages = new Set(lines.filter((line) => /^[@a-z]/.test(line)));
  expect([...packages].toSorted()).toEqual(["citewell", "opencc-js", "stemmer"]);
  // Each file that is opened takes half a millisecond: there were 115 of our own before those of a search were joined.
  expect(lines.filter((line) => line === "citewell").length).toBeLessThanOrEqual(50);
});

test("loading the library loads no package in the form of CommonJS, whose first one takes 4 MB", async () => {
  const index = new URL("../../dist/index.js", import.meta.url).href;
  const program = `await import(${JSON.stringify(index)})`;
  const { stderr } = await runNode("--import", [hooks, "--input-type=module", "--eval", program]);
  const packages = new Set(stderr.split("\n").filter((line) => /^[@a-z]/.test(line)));
  expect([...packages].toSorted()).toEqual(["citewell", "opencc-js", "stemmer", "zod"]);
});
