import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../support/citewell.js";
import { served } from "../support/served.js";

const run = promisify(execFile);

const documents = [{ uri: "file:///docs/keys.md", title: "Keys", text: "API keys expire after 90 days." }];

/** A program as its author would write it against the generated types; every mistake that it claims is one is checked. */
const program = `import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

export async function run(baseUrl: string) {
  const client = createClient<paths>({ baseUrl });
  const found = await client.POST("/api/search", { body: { question: "When do API keys expire?", limit: 3 } });
  const passage: components["schemas"]["Passage"] | undefined = found.data?.passages[0];
  const document = await client.GET("/api/passages", { params: { query: { uri: passage?.uri ?? "" } } });
  const completion = await client.POST("/v1/chat/completions", {
    body: { model: "citewell", messages: [{ role: "user", content: "When do API keys expire?" }] },
  });
  const missing = await client.GET("/api/conversations/{id}", { params: { path: { id: "none" } } });
  const listed = await client.GET("/api/documents", { params: { query: { search: "keys" } } });
  // @ts-expect-error a search has a question
  void (() => client.POST("/api/search", { body: {} }));
  // @ts-expect-error there is no such path
  void (() => client.GET("/api/nothing"));
  // @ts-expect-error a document is named by its address
  void (() => client.DELETE("/api/documents", { params: { query: {} } }));
  return {
    uri: passage?.uri,
    text: document.data?.text,
    // A stream would be a text.
    answer: typeof completion.data === "object" ? completion.data.choices[0]?.message.content : undefined,
    missing: missing.error?.error.code,
    total: listed.data?.total,
  };
}
`;

test("a client that openapi-typescript generates compiles, refuses mistakes, and runs against the server", async () => {
  const { url, send } = await served(documents);
  const folder = await mkdtemp(join(root, "test/clients/generated-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { default: generate, astToString } = await import("openapi-typescript");
  const description = await (await send("GET", "/api/openapi.json")).text();
  const types = await generate(description);
  await writeFile(join(folder, "api.ts"), astToString(types));
  await writeFile(join(folder, "program.ts"), program);
  // The types are a source file, since files of declarations are not checked.
  const options = {
    target: "es2023",
    module: "nodenext",
    strict: true,
    types: [],
    lib: ["es2023", "dom"],
    skipLibCheck: true,
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["program.ts"] }));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [compiler, "-p", folder]).catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
  const compiled = (await import(pathToFileURL(join(folder, "program.js")).href)) as {
    readonly run: (url: string) => Promise<object>;
  };
  expect(await compiled.run(url)).toEqual({
    uri: "file:///docs/keys.md",
    text: "API keys expire after 90 days.",
    answer: expect.stringContaining("90 days") as string,
    missing: "not-found",
    total: 1,
  });
}, 300_000);

test("Redocly's recommended rules find no errors in the document", async () => {
  const { send } = await served(documents);
  // The linter that its command runs; the one that openapi-typescript brings along.
  const path = createRequire(createRequire(import.meta.url).resolve("openapi-typescript")).resolve(
    "@redocly/openapi-core",
  );
  const { createConfig, lintFromString } = (await import(pathToFileURL(path).href)) as {
    readonly createConfig: (config: object) => Promise<object>;
    readonly lintFromString: (
      options: object,
    ) => Promise<readonly { readonly severity: string; readonly ruleId: string }[]>;
  };
  const config = await createConfig({ extends: ["recommended"] });
  const lint = async (source: string) => {
    const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
    return problems.map(({ severity, ruleId }) => `${severity} ${ruleId}`);
  };
  const source = await (await send("GET", "/api/openapi.json")).text();
  // A probe has no reply that is the caller's fault.
  expect(new Set(await lint(source))).toEqual(new Set(["warn operation-4xx-response"]));
  expect(await lint(source.replaceAll('"operationId":"ask"', '"operationId":"search"'))).toContain(
    "error operation-operationId-unique",
  );
});
