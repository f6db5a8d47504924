// In test:all alone: it packs, installs and type-checks the package, for 160 s of work.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { referenceOf } from "./api/reference.js";
import { root } from "./support/citewell.js";
import { entries, withDeclarations } from "./support/public-declarations.js";
import { installPublished, isRegistryReachable } from "./support/published-package.js";
import { runNode } from "./support/run-process.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const run = promisify(execFile);

// From Node 22 on, better-sqlite3 is one that comes compiled.
const isSqliteCompiled = Number.parseInt(process.versions.node) >= 22;

/** Packages that this version of Node has from elsewhere (test/runtimes) do not count. */
const ownPackages = { NODE_PATH: "" };

const compilers = { "TypeScript 5.9": "ts5", "TypeScript 6": "ts6", "TypeScript 7": "ts7" };

// Users install the published package in an empty project. Install scripts do not run, as where npm or pnpm
// wait for an approval: everything but a store has to work.
describe.skipIf(!isRegistryReachable)("the published package in an empty project", () => {
  let folder: string;
  let tarball: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "citewell-tarball-"));
    tarball = await installPublished(folder, [
      "@types/node@20.19.39",
      "ts5@npm:typescript@5.9.3",
      "ts6@npm:typescript@6.0.3",
      "ts7@npm:typescript@7.0.2",
      "publint@0.3.25",
      "@arethetypeswrong/cli@0.18.5",
      "pnpm@10.34.9",
    ]);
  }, 300_000);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("holds what the README names, and no map of a source that is not in it", async () => {
    const { stdout } = await run("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], {
      cwd: root,
      maxBuffer: 64 << 20,
    });
    const [{ files }] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(["README.md", "LICENSE", "CHANGELOG.md", "dist/index.js", "dist/index.d.ts"]),
    );
    expect(paths.filter((path) => /^(src|test|benchmarks)\//.test(path))).toEqual([]);
  });

  test.each(Object.entries(compilers))(
    "type-checks with %s, our declarations and those that they lead to included",
    async (_, compiler) => {
      await writeFile(join(folder, "consumer.mts"), consumer);
      await writeFile(
        join(folder, "tsconfig.json"),
        JSON.stringify({
          compilerOptions: {
            module: "nodenext",
            target: "es2023",
            types: ["node"],
            strict: true,
            skipLibCheck: false,
            noEmit: true,
          },
          files: ["consumer.mts"],
        }),
      );
      const checked = await runNode(join(folder, "node_modules", compiler, "bin", "tsc"), ["-p", "."], { cwd: folder });
      expect(checked).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    },
    120_000,
  );

  test("a program that uses all of it is checked by TypeScript 6 in few steps and little memory", async ({
    annotate,
  }) => {
    const uses = join(folder, "uses");
    await mkdir(uses);
    const names = entries.map(({ specifier }, at) => `import * as entry${at} from "${specifier}";`);
    const all = `${names.join("\n")}\nexport const all = [${entries.map((_, at) => `entry${at}`).join()}];\n`;
    const { samples } = withDeclarations(referenceOf);
    // Samples that import what a reader installs beside the package are compiled where the reference is tested.
    const own = samples.map(({ code }) => code).filter((code) => !/ from "(?!citewell|node:|zod)/.test(code));
    for (const [at, code] of [all, structured, ...own].entries()) {
      await writeFile(join(uses, `use-${at}.mts`), code);
    }
    const compilerOptions = { module: "nodenext", target: "es2023", types: ["node"], strict: true, skipLibCheck: true };
    await writeFile(join(uses, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["."] }));
    const words = ["-p", "uses", "--noEmit", "--extendedDiagnostics", "--listFiles"];
    const { exitCode, stdout } = await runNode(join(folder, "node_modules/ts6/bin/tsc"), words, { cwd: folder });
    const figure = (name: string) => Number(new RegExp(`^${name}: +([\\d.]+)`, "m").exec(stdout)![1]);
    const filesOf = (name: string) => stdout.match(new RegExp(`^.*/node_modules/${name}/.*$`, "gm"))?.length ?? 0;
    const read = { citewell: filesOf("citewell"), undici: filesOf("undici") };
    await annotate(
      `${figure("Instantiations")} instantiations, ${figure("Memory used")} kB, ${figure("Total time")} s, ${read.citewell} of our files`,
    );
    expect({ exitCode, errors: stdout.match(/^.*error TS.*$/gm) ?? [] }).toEqual({ exitCode: 0, errors: [] });
    // Measured: 7,878 and 125 MB. One comparison of zod's classes with each other adds 80,000, and a second of checking.
    expect(figure("Instantiations")).toBeLessThan(20_000);
    expect(figure("Memory used")).toBeLessThan(400_000);
    // 208 are read, since what is marked as internal leads no further; unmarked it leads to many more, and to 44 of undici.
    expect(read.citewell).toBeLessThan(215);
    expect(read.undici).toBe(0);
  }, 120_000);

  test("is loaded by require as by import", async () => {
    const script = `console.log(typeof require("citewell").openKnowledgeBase, typeof require("citewell/local").startLocalService)`;
    const { stdout, exitCode } = await runNode("--no-warnings", ["--eval", script], { cwd: folder });
    expect({ stdout, exitCode }).toEqual({ stdout: "function function\n", exitCode: 0 });
  });

  test("publint and attw find nothing wrong with it", async () => {
    const lint = await runNode(join(folder, "node_modules/publint/src/cli.js"), ["node_modules/citewell"], {
      cwd: folder,
    });
    expect(lint.stdout + lint.stderr).toContain("All good!");
    const attw = join(folder, "node_modules/@arethetypeswrong/cli/dist/index.js");
    const types = await runNode(attw, [tarball, "--profile", "esm-only", "--format", "json"], { cwd: folder });
    expect(types.exitCode).toBe(0);
  }, 120_000);

  test.runIf(isSqliteCompiled)(
    "indexes where no install script ran, since its native module comes compiled",
    async () => {
      await writeFile(join(folder, "note.md"), "# Keys\n\nAda keeps the recovery key.\n");
      const command = join(folder, "node_modules/citewell/dist/bin/citewell.js");
      const here = { cwd: folder, environment: ownPackages };
      expect(await runNode(command, ["index", "note.md", "--quiet"], here)).toMatchObject({ exitCode: 0 });
      const { stdout } = await runNode(command, ["ask", "Who keeps the recovery key?"], here);
      expect(stdout).toContain("Ada keeps the recovery key. [1]");
    },
  );

  test.skipIf(isSqliteCompiled)("says in one line what to do when its native module was not built", async () => {
    await writeFile(join(folder, "note.md"), "# Keys\n\nAda keeps the recovery key.\n");
    const command = join(folder, "node_modules/citewell/dist/bin/citewell.js");
    const { exitCode, stdout, stderr } = await runNode(command, ["index", "note.md"], { cwd: folder });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toMatch(
      /better-sqlite3 has no native module .* `npm rebuild better-sqlite3`, .* `pnpm approve-builds`/,
    );
    expect(stderr).not.toContain("node_modules");
  });

  test("installs where nothing can be compiled, and a store says what it lacks or opens", async () => {
    // A slim image has no Python, no make, no compiler. Without `npm` beside it, `node` is all that npm needs.
    const commands = await temporaryFolder();
    const found = (name: string) =>
      process.env["PATH"]!.split(delimiter)
        .map((directory) => join(directory, name))
        .find((path) => existsSync(path))!;
    for (const name of ["npm", "sh"]) await symlink(await realpath(found(name)), join(commands, name));
    await symlink(process.execPath, join(commands, "node"));
    const allowed = { "better-sqlite3": true, "hnswlib-node": true };
    const app = await temporaryFolder({
      "package.json": JSON.stringify({ name: "app", private: true, allowScripts: allowed }),
      "note.md": "# Keys\n\nAda keeps the recovery key.\n",
    });
    const env = { ...process.env, PATH: commands };
    await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", tarball], {
      cwd: app,
      env,
      maxBuffer: 64 << 20,
    });
    expect(existsSync(join(app, "node_modules/hnswlib-node"))).toBe(false);
    const command = join(app, "node_modules/citewell/dist/bin/citewell.js");
    const index = () => runNode(command, ["index", "note.md", "--quiet"], { cwd: app, environment: ownPackages });
    const works = { exitCode: 0, stderr: "" };
    if (isSqliteCompiled) expect(await index()).toMatchObject(works);
    else {
      const { exitCode, stderr } = await index();
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(
        /^citewell: A store cannot be opened: .* is not there\. .* Python, make and a C\+\+ compiler, or take Node 22 .*\n$/,
      );
    }
    // From a package-lock.json, as in an image: npm then compiles what comes compiled, and removes what it cannot compile.
    const guide = await readFile(join(root, "examples/deploying/README.md"), "utf8");
    const [line, ...words] = /^RUN (npm ci .*)$/m.exec(guide)![1]!.split(" ");
    await run(line!, [...words, "--prefer-offline"], { cwd: app, env, maxBuffer: 64 << 20 });
    if (isSqliteCompiled) expect(await index()).toMatchObject(works);
    await rm(join(app, "node_modules/better-sqlite3-13"), { recursive: true, force: true });
    const { exitCode, stderr } = await index();
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(isSqliteCompiled ? /`npm ci --ignore-scripts`/ : /`npm rebuild better-sqlite3`/);
  }, 300_000);

  test("installs no optional peer, and every entry point is imported without any", async () => {
    const { peerDependencies, exports } = JSON.parse(
      await readFile(join(folder, "node_modules/citewell/package.json"), "utf8"),
    ) as { readonly peerDependencies: object; readonly exports: object };
    const peers = Object.keys(peerDependencies);
    expect(peers).toEqual(expect.arrayContaining(["ai", "@langchain/core", "@opentelemetry/api", "sharp"]));
    expect(peers.filter((name) => existsSync(join(folder, "node_modules", name)))).toEqual([]);
    const entryNames = Object.keys(exports).filter((name) => name !== "./package.json");
    const imports = entryNames.map((name) => `await import("citewell${name.slice(1)}");`).join("");
    const imported = await runNode("--input-type=module", ["--eval", imports], { cwd: folder });
    expect(imported).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  test.each([
    ["MCP", "@modelcontextprotocol/server", 2, `mcp", "createMcpServer", { search() {}, ask() {}, document() {} }`],
    ["LangChain", "@langchain/core", 1, `langchain", "toLangChain", {}`],
    [
      "A store on PostgreSQL",
      "pg",
      8,
      `postgres", "openPostgresStore", "postgres://127.0.0.1/db", { space: "a", dimension: 1 }`,
    ],
  ])(
    "says in one line which package %s needs, also where another version of it is installed",
    async (part, name, version, call) => {
      const script = `const call = async (entry, name, ...words) => (await import("citewell/" + entry))[name](...words);
      call("${call}).catch(({ code, message }) => console.log(code, message));`;
      const said = async () => (await runNode("--no-warnings", ["--eval", script], { cwd: folder })).stdout;
      const advice = `missing-package ${part} needs the package ${name} of version ${version}, which is not installed. Install it: npm install ${name}@${version}\n`;
      expect(await said()).toBe(advice);
      const other = join(folder, "node_modules", name);
      await mkdir(other, { recursive: true });
      await writeFile(join(other, "package.json"), `{ "name": "${name}", "version": "0.0.1", "exports": {} }`);
      expect(await said()).toBe(advice);
      await rm(other, { recursive: true });
    },
  );

  test("needs no package to take a model of the AI SDK", async () => {
    const model = `{ specificationVersion: "v3", modelId: "m", doEmbed: async ({ values }) => ({ embeddings: values.map(() => [1, 2]) }) }`;
    const script = `
      import { fromAiSdk } from "citewell/ai-sdk";
      const { embedder } = fromAiSdk({ embeddingModel: ${model} });
      console.log((await embedder.embed(["a", "b"])).vectors.length);`;
    const { stdout } = await runNode("--input-type=module", ["--eval", script], { cwd: folder });
    expect(stdout).toBe("2\n");
  });

  test.skipIf(isSqliteCompiled)(
    "pnpm installs it, and it says the same there",
    async () => {
      const app = await mkdtemp(join(folder, "pnpm-"));
      await writeFile(join(app, "package.json"), `{ "name": "app", "private": true }`);
      await runNode(join(folder, "node_modules/pnpm/bin/pnpm.cjs"), ["add", tarball, "--ignore-scripts"], { cwd: app });
      const command = join(app, "node_modules/citewell/dist/bin/citewell.js");
      expect((await runNode(command, ["--version"], { cwd: app })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
      const { exitCode, stderr } = await runNode(command, ["index", "package.json"], { cwd: app });
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/better-sqlite3 has no native module/);
    },
    120_000,
  );
});

const consumer = `
import { answer, chunk, embedChunks, openKnowledgeBase, Pipeline, tool, type KnowledgeBase, type Document } from "citewell";
import * as transport from "citewell/transport";
import * as video from "citewell/video";
import * as load from "citewell/load";
import * as evaluate from "citewell/evaluate";
import * as local from "citewell/local";
import * as mcp from "citewell/mcp";
import * as postgres from "citewell/postgres";
import * as testing from "citewell/testing";
export const everything = [answer, chunk, embedChunks, tool, transport, video, load, evaluate, local, mcp, postgres, testing];
export const pipeline = Pipeline.from<Document>().pipe(chunk({ maxTokens: 256 }));
export const opened: Promise<KnowledgeBase> = openKnowledgeBase({ path: "./store" });
// @ts-expect-error -- a misspelt option does not compile.
chunk({ maxToken: 256 });
`;

const structured = `
import { answer, openKnowledgeBase, tool, type ChatModel } from "citewell";
import { z } from "zod";
const kb = await openKnowledgeBase({ path: "./store", metadata: z.object({ year: z.number() }) });
const schema = z.object({ days: z.number() });
for await (const event of kb.ask("How long?", { filter: { metadata: { year: 2024 } }, answer: { schema } })) {
  if (event.type === "finish") event.answer.value?.days.toFixed();
}
export const stage = (model: ChatModel) => answer(model, { schema });
export const weather = tool({
  name: "weather",
  description: "Weather in a town.",
  input: z.object({ town: z.string() }),
  run: ({ town }) => town.length,
});
// @ts-expect-error -- a misspelt option beside a schema does not compile.
kb.ask("How long?", { answer: { schema, toolUses: "auto" } });
`;
