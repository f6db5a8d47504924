import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { optionalPackages } from "../../src/cli/explain/optional-packages.js";
import { startLocalService } from "../../src/local/service.js";
import { citewell, root } from "../support/citewell.js";
import { scriptedUpstream } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function doctor(cwd: string, environment: Readonly<Record<string, string>> = {}) {
  const { exitCode, stdout, stderr } = await citewell(["doctor", "--json"], { cwd, environment });
  expect(stderr).toBe("");
  const findings = JSON.parse(stdout) as { check: string; result: string; message: string }[];
  return { exitCode, of: (check: string) => findings.find((each) => each.check === check) };
}

test("doctor finds a fresh set-up in order, says that a quoting model answers, and creates nothing", async () => {
  const cwd = await temporaryFolder();
  const { exitCode, of } = await doctor(cwd);
  expect(exitCode).toBe(0);
  expect(of("Node")).toMatchObject({ result: "ok" });
  expect(of("better-sqlite3")).toMatchObject({ result: "ok" });
  expect(of("service")).toMatchObject({
    result: "note",
    message: expect.stringMatching(/quoting.*CITEWELL_BASE_URL/) as string,
  });
  expect(of("store")).toMatchObject({ result: "note", message: expect.stringContaining("citewell index") as string });
  expect(existsSync(join(cwd, ".citewell"))).toBe(false);
});

test("doctor knows the documents of the store, and one that is damaged", async () => {
  const cwd = await temporaryFolder({ "docs/a.md": "# Keys\n\nAda keeps the key.\n" });
  await citewell(["index", "docs"], { cwd });
  expect((await doctor(cwd)).of("store")).toMatchObject({
    result: "ok",
    message: expect.stringContaining("1 document") as string,
  });
  const { writeFile } = await import("node:fs/promises");
  await writeFile(join(cwd, ".citewell", "store.sqlite"), "no database ".repeat(1000));
  const { exitCode, of } = await doctor(cwd);
  expect(exitCode).toBe(1);
  expect(of("store")).toMatchObject({
    result: "problem",
    message: expect.stringMatching(/backup|index again/) as string,
  });
});

test("doctor tells a wrong key, a missing key, an unknown model and an address where nobody answers", async () => {
  const cwd = await temporaryFolder();
  const service = await startLocalService({ apiKey: "the-right-key" });
  onTestFinished(() => service.close());
  const models = { CITEWELL_EMBEDDING_MODEL: "citewell/local-lexical", CITEWELL_CHAT_MODEL: "citewell/no-such-model" };
  const reached = { CITEWELL_BASE_URL: service.url, ...models };

  const right = await doctor(cwd, { ...reached, CITEWELL_API_KEY: "the-right-key" });
  expect(right.exitCode).toBe(1);
  expect(right.of("service")).toMatchObject({ result: "ok" });
  expect(right.of("embedding model")).toMatchObject({ result: "ok" });
  expect(right.of("chat model")).toMatchObject({
    result: "problem",
    message: expect.stringContaining("citewell/no-such-model is not among the") as string,
  });

  expect((await doctor(cwd, { ...reached, CITEWELL_API_KEY: "another-key" })).of("key")).toMatchObject({
    result: "problem",
  });
  expect((await doctor(cwd, reached)).of("key")).toMatchObject({
    result: "problem",
    message: expect.stringContaining("CITEWELL_API_KEY") as string,
  });
  const nobody = await doctor(cwd, { CITEWELL_BASE_URL: "http://127.0.0.1:9", CITEWELL_API_KEY: "the-right-key" });
  expect(nobody.of("service")).toMatchObject({
    result: "problem",
    message: expect.stringContaining("ECONNREFUSED") as string,
  });
});

test("a service that lists no models is nothing wrong", async () => {
  const { baseUrl } = await scriptedUpstream(() => ({ status: 404, json: { error: "no such path" } }));
  const environment = { CITEWELL_BASE_URL: baseUrl, CITEWELL_API_KEY: "the-right-key" };
  const { exitCode, of } = await doctor(await temporaryFolder(), environment);
  expect(exitCode).toBe(0);
  expect(of("service")).toMatchObject({
    result: "note",
    message: expect.stringContaining("does not list its models") as string,
  });
});

test("doctor names the proxy of the environment without its password, and one that is no address", async () => {
  const cwd = await temporaryFolder();
  const set = await doctor(cwd, { HTTPS_PROXY: "http://me:hunter2@proxy.example:3128", https_proxy: "" });
  expect(set.of("proxy")).toEqual({
    check: "proxy",
    result: "ok",
    message: "http://proxy.example:3128, by the environment",
  });
  const bad = await doctor(cwd, { http_proxy: "socks5://proxy.example:1080" });
  expect(bad.of("proxy")).toMatchObject({
    result: "problem",
    message: expect.stringContaining("http://host:port") as string,
  });
  expect((await doctor(cwd)).of("proxy")).toBeUndefined();
});

test("doctor shows which optional packages are there, with their version, and that none missing is a problem", async () => {
  const { exitCode, of } = await doctor(await temporaryFolder());
  expect(exitCode).toBe(0);
  const { version } = JSON.parse(readFileSync(join(root, "node_modules/pg/package.json"), "utf8")) as {
    readonly version: string;
  };
  expect(of("package pg")).toEqual({
    check: "package pg",
    result: "ok",
    message: `${version}, keeps a store in PostgreSQL`,
  });
  // The heaviest of them, which the project itself does without.
  expect(of("package @huggingface/transformers")).toEqual({
    check: "package @huggingface/transformers",
    result: "note",
    message: "not installed; runs models with layers in the local service",
  });
});

test("doctor and the page of optional packages name the optional peers of package.json, and no others", () => {
  const { peerDependencies, peerDependenciesMeta } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly peerDependencies: Readonly<Record<string, string>>;
    readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
  };
  const peers = Object.keys(peerDependencies);
  expect(Object.keys(peerDependenciesMeta).toSorted()).toEqual(peers.toSorted());
  expect(optionalPackages.map(({ name }) => name)).toEqual(peers);
  const page = readFileSync(join(root, "site/pages/reference/optional-packages.md"), "utf8");
  const rows = [...page.matchAll(/^\| `([^`]+)` +\| (\S+) +\| (.+?) +\| +([\d.]+) MB +\|$/gm)];
  expect(rows.map(([, name, range, brings]) => ({ name, range: range!.replaceAll("`", ""), brings }))).toEqual(
    optionalPackages.map(({ name, brings }) => ({ name, range: peerDependencies[name], brings })),
  );
});
