// In test:all alone: it bundles the package with the bundlers of others, for 70 s.
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { root } from "../support/citewell.js";
import { installPublished, isRegistryReachable } from "../support/published-package.js";
import { runNode } from "../support/run-process.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

// An application that bundles, each time with the settings that the guide of Next.js names. Next.js takes 300 MB, so that it is
// installed only where the clients are: npm has the same versions in its cache then.
describe.skipIf(!isRegistryReachable)("a program that is bundled", () => {
  let app: string;

  beforeAll(async () => {
    app = await mkdtemp(join(tmpdir(), "citewell-bundled-"));
    const names = ["esbuild", "vite", "next", "react", "react-dom"] as const;
    await installPublished(
      app,
      names.map((name) => `${name}@${dependencies[name]}`),
    );
    // Install scripts did not run, so that what they compile comes from this project.
    for (const name of ["better-sqlite3", "hnswlib-node"]) {
      await rm(join(app, "node_modules", name), { recursive: true, force: true });
      await cp(join(root, "node_modules", name), join(app, "node_modules", name), { recursive: true });
    }
    await writeFile(join(app, "answer.mjs"), answer);
  }, 300_000);

  afterAll(() => rm(app, { recursive: true, force: true }));

  /** Imports a module of one of the application's packages. */
  const imported = async (path: string) =>
    (await import(join(app, "node_modules", path))) as { build: (options: object) => Promise<unknown> };

  async function answered(bundle: string): Promise<string> {
    const { stdout, stderr } = await runNode(join(app, bundle), [await temporaryFolder()], { cwd: app });
    return stdout + stderr;
  }

  /** The passage that answers, with its mark, at the end of the output. */
  const quoted = /\n\nAPI keys expire after 90 days\..* \[1\]\n$/;

  const esbuild = async (entry: string, outfile: string, options: object = {}) => {
    const { build } = await imported("esbuild/lib/main.js");
    const paths = { absWorkingDir: app, entryPoints: [entry], outfile };
    await build({ ...paths, bundle: true, platform: "node", format: "esm", logLevel: "error", ...options });
  };

  test("by esbuild with citewell external indexes and answers", async () => {
    await esbuild("answer.mjs", "out/answer.mjs", { external: ["citewell"] });
    expect(await answered("out/answer.mjs")).toMatch(quoted);
  });

  test("by Vite for a server indexes and answers without a setting, and with one where all else is bundled", async () => {
    const { build } = await imported("vite/dist/node/index.js");
    const bundle = (outDir: string, ssr: object) =>
      build({ root: app, configFile: false, logLevel: "error", build: { ssr: "answer.mjs", outDir }, ssr });
    await bundle("vite", {});
    expect(await answered("vite/answer.mjs")).toMatch(quoted);
    await bundle("vite-all", { noExternal: true, external: ["citewell"] });
    expect(await answered("vite-all/answer.mjs")).toMatch(quoted);
  });

  test("with citewell in it runs pipelines and the transport, and what needs its threads says how to bundle", async () => {
    await writeFile(join(app, "pipeline.mjs"), pipeline);
    await esbuild("pipeline.mjs", "out/pipeline.mjs");
    expect(await answered("out/pipeline.mjs")).toMatch(
      /^1 chunk, 512 dimensions\nmissing-package: .* Leave citewell, better-sqlite3 .*\n$/,
    );
  });

  test("by Next.js into a folder of its own answers from there, with its native modules", async () => {
    const guide = await readFile(join(root, "examples/next-route/README.md"), "utf8");
    const files = {
      "next.config.mjs": /^```js\n([\s\S]*?)^```$/m.exec(guide)![1]!,
      "app/layout.jsx": "export default ({ children }) => <html><body>{children}</body></html>;",
      "app/page.jsx": "export default () => <p>Documents</p>;",
      "app/api/[...path]/route.js": await readFile(join(root, "build/examples/next-route/route.js"), "utf8"),
    };
    await mkdir(join(app, "app/api/[...path]"), { recursive: true });
    for (const [path, text] of Object.entries(files)) await writeFile(join(app, path), text);
    const built = await runNode(join(app, "node_modules/next/dist/bin/next"), ["build"], {
      cwd: app,
      environment: quiet,
    });
    expect(built).toMatchObject({ exitCode: 0 });
    // Away from the application's own packages.
    const alone = join(await temporaryFolder(), "standalone");
    await rename(join(app, ".next/standalone"), alone);
    expect(existsSync(join(alone, "node_modules/vite"))).toBe(false);

    const store = await temporaryFolder();
    await runNode(join(app, "answer.mjs"), [store], { cwd: app });
    const port = await freePort();
    const environment = { ...quiet, CITEWELL_STORE: store, PORT: `${port}`, HOSTNAME: "127.0.0.1" };
    const server = spawn(process.execPath, ["server.js"], { cwd: alone, env: { ...process.env, ...environment } });
    onTestFinished(() => void server.kill());
    const address = `http://127.0.0.1:${port}`;
    while (!(await fetch(address).catch(() => undefined))?.ok && server.exitCode === null) await sleep(100);
    const messages = [{ id: "1", role: "user", parts: [{ type: "text", text: "When do API keys expire?" }] }];
    const reply = await fetch(`${address}/api/chat`, {
      method: "POST",
      headers: { "x-user": "ada", "content-type": "application/json" },
      body: JSON.stringify({ id: "chat-1", messages }),
    });
    expect(await reply.text()).toMatch(/"data-citation".*"quote":"API keys expire after 90 days\.","supported":true/);
  }, 300_000);
});

const quiet = { NEXT_TELEMETRY_DISABLED: "1" };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  server.close();
  return port;
}

const answer = `
import { collectAnswer, openKnowledgeBase } from "citewell";
const kb = await openKnowledgeBase({ path: process.argv[2] });
await kb.ingest([{ uri: "keys", text: "API keys expire after 90 days." }]);
console.log((await collectAnswer(kb.ask("When do API keys expire?"))).text);
await kb.close();
`;

const pipeline = `
import { chunk, collect, createTransport, embedder, openKnowledgeBase, Pipeline } from "citewell";
import { startLocalService } from "citewell/local";
const service = await startLocalService();
const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
const embed = embedder(transport, { model: "citewell/local-lexical" });
const document = { uri: "a", text: "Ada keeps the recovery key.", mediaType: "text/plain" };
const chunks = await collect(Pipeline.from().pipe(chunk({ for: embed })).stream([document]));
const { vectors } = await embed.embed([chunks[0].text], {});
console.log(chunks.length + " chunk, " + vectors[0].length + " dimensions");
const kb = await openKnowledgeBase({ path: process.argv[2], transport, models: { embedding: "citewell/local-lexical" } });
await kb.ingest([document]).catch(({ code, message }) => console.log(code + ": " + message));
await kb.close();
await transport.close();
await service.close();
`;
