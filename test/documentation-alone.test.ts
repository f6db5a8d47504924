// In test:all alone: it installs the package, and runs every sample and program of its pages there, for 150 s of work.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "./support/citewell.js";
import { installPublished, isRegistryReachable } from "./support/published-package.js";
import { runNode } from "./support/run-process.js";

const own = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Readonly<
  Record<"dependencies" | "devDependencies", Readonly<Record<string, string>>>
>;
const clients = JSON.parse(await readFile(join(root, "test/clients/package.json"), "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
};
const versions = { ...clients.dependencies, ...own.dependencies, ...own.devDependencies };

/** Readers install these besides, as the pages say with `npm install`; React comes with its types. */
const named = ["hono", "@hono/node-server", "zod", "ai", "@langchain/core", "@modelcontextprotocol/server"];
named.push("@modelcontextprotocol/client", "@opentelemetry/api", "@opentelemetry/context-async-hooks");
named.push("@opentelemetry/sdk-metrics", "@opentelemetry/sdk-trace-base", "tesseract.js", "@tesseract.js-data/eng");
named.push("@ai-sdk/react", "react", "react-dom", "@types/react", "@types/react-dom", "@types/node", "typescript");

/** Programs that go on until they are stopped, or are modules of others. Other tests talk to them. */
const unfinished = new Set(["chatbot/chat-server.ts", "tenants/server.ts", "own-store.ts", "next-route/route.ts"]);

interface Sample {
  readonly name: string;
  readonly code: string;
  readonly needsService: boolean;
}

/** No install script runs, and on Node 20 that of better-sqlite3 makes its module: here it is the one of this repository. */
async function placeNativeModule(folder: string): Promise<void> {
  const build = "node_modules/better-sqlite3/build";
  if (Number.parseInt(process.versions.node) < 22) {
    await cp(join(root, build), join(folder, build), { recursive: true });
  }
}

async function filesBelow(folder: string, ending: RegExp): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => ending.test(name)).map((name) => join(folder, name));
}

/** Whole programs among the samples of a page. A block without imports is part of a program that stands beside it. */
function samplesOf(page: string, text: string): readonly Sample[] {
  return [...text.matchAll(/^```ts( service)?\n([\s\S]*?)^```$/gm)]
    .filter(([, , code]) => /^import /m.test(code!))
    .map(([, needs, code], at) => ({
      name: `${page.replaceAll(/[/.]/g, "-")}-${at}`,
      code: code!,
      needsService: needs !== undefined,
    }));
}

describe.skipIf(!isRegistryReachable)("in a project that has the package alone", () => {
  let folder: string;
  let samples: readonly Sample[];
  let programs: readonly string[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "citewell-alone-"));
    await installPublished(
      folder,
      named.map((name) => `${name}@${versions[name]!}`),
    );
    await writeFile(join(folder, "package.json"), JSON.stringify({ name: "app", private: true, type: "module" }));
    await placeNativeModule(folder);
    const installed = join(folder, "node_modules/citewell");
    const pages = (await filesBelow(installed, /\.md$/)).filter((path) => !path.startsWith(join(installed, "dist")));
    samples = (
      await Promise.all(pages.map(async (path) => samplesOf(relative(installed, path), await readFile(path, "utf8"))))
    ).flat();
    await cp(join(installed, "examples"), join(folder, "examples"), { recursive: true });
    programs = (await filesBelow(join(folder, "examples"), /\.tsx?$/)).map((path) =>
      relative(join(folder, "examples"), path),
    );
    await mkdir(join(folder, "samples"));
    for (const { name, code } of samples) await writeFile(join(folder, "samples", `${name}.ts`), code);
  }, 600_000);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(["nodenext", "bundler"])("every sample and program compiles by the resolver %s", async (resolver) => {
    expect(samples.length).toBeGreaterThan(18);
    expect(programs.length).toBeGreaterThan(25);
    const compilerOptions = {
      target: "es2023",
      lib: ["es2023", "dom", "dom.iterable"],
      types: ["node"],
      module: resolver === "bundler" ? "esnext" : "nodenext",
      moduleResolution: resolver,
      moduleDetection: "force",
      jsx: "react-jsx",
      strict: true,
      skipLibCheck: true,
      rootDir: ".",
      outDir: `compiled-${resolver}`,
    };
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, include: ["samples", "examples"] }),
    );
    const compiler = join(folder, "node_modules/typescript/bin/tsc");
    expect(await runNode(compiler, ["-p", "."], { cwd: folder })).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  test("every sample that needs no service runs, in a folder with documents", async () => {
    const failed: string[] = [];
    for (const { name, needsService } of samples) {
      if (needsService) continue;
      const cwd = await mkdtemp(join(folder, "run-"));
      await cp(join(root, "test/fixtures/handbook"), join(cwd, "docs"), { recursive: true });
      const program = join(folder, "compiled-nodenext/samples", `${name}.js`);
      const { exitCode, stderr } = await runNode(program, [], { cwd });
      if (exitCode !== 0 || stderr !== "") failed.push(`${name}: ${exitCode} ${stderr}`);
    }
    expect(failed).toEqual([]);
  }, 300_000);

  test("every program of the guides runs", async () => {
    const failed: string[] = [];
    for (const name of programs) {
      if (unfinished.has(name) || name.endsWith(".tsx")) continue;
      const cwd = await mkdtemp(join(folder, "run-"));
      const program = join(folder, "compiled-nodenext/examples", name.replace(/ts$/, "js"));
      const { exitCode, stderr } = await runNode(program, [], { cwd, environment: { TMPDIR: dirname(program) } });
      if (exitCode !== 0 || stderr !== "") failed.push(`${name}: ${exitCode} ${stderr}`);
    }
    expect(failed).toEqual([]);
  }, 300_000);

  test("every entry point is loaded by require, on the versions of Node that allow it, and typed for it", async () => {
    const { exports } = JSON.parse(await readFile(join(folder, "node_modules/citewell/package.json"), "utf8")) as {
      readonly exports: Readonly<Record<string, unknown>>;
    };
    const names = Object.keys(exports)
      .filter((name) => name !== "./package.json")
      .map((name) => name.replace(/^\./, "citewell"));
    const script = names.map((name) => `if (Object.keys(require("${name}")).length < 2) throw Error("${name}");`);
    // Node 20.19 warns that it is experimental; 22.13 and newer do not.
    const words = ["--eval", script.join("\n")];
    const loaded = await runNode("--no-warnings", words, { cwd: join(folder, "node_modules/citewell/..") });
    expect(loaded).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    const uses = names.map((name, at) => `import entry${at} = require("${name}");\nexport const e${at} = entry${at};`);
    await mkdir(join(folder, "required"));
    await writeFile(join(folder, "required/use.cts"), uses.join("\n"));
    const compilerOptions = { module: "nodenext", target: "es2023", types: ["node"], strict: true, noEmit: true };
    await writeFile(
      join(folder, "required/tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...compilerOptions, skipLibCheck: true }, files: ["use.cts"] }),
    );
    const compiler = join(folder, "node_modules/typescript/bin/tsc");
    const compiled = await runNode(compiler, ["-p", "required"], { cwd: folder });
    expect(compiled).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });
});
