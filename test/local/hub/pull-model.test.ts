import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderEmbedder } from "../../../src/local/folder-embedder.js";
import { pullModel } from "../../../src/local/pull-model.js";
import type { PullProgress } from "../../../src/local/pull-options.js";
import { findPulledModel, pulledModels } from "../../../src/local/pulled-models.js";
import { tokenizerFile } from "../../../src/models/tokenizer-file.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { tunnelProxy } from "../../support/tunnel-proxy.js";
import { numbersAs, safetensors, wholeWords } from "../engines/static-models.js";
import { type HubModel, startHub } from "./hub-server.js";

const vocabulary = ["cat", "dog", "mat"];
const rows = Array.from({ length: 5 * 4000 }, (_, at) => Math.sin(at));
const staticFiles = {
  "config.json": JSON.stringify({ model_type: "model2vec", normalize: true }),
  "tokenizer.json": JSON.stringify(wholeWords(vocabulary)),
  "model.safetensors": safetensors({ embeddings: numbersAs("F32", rows, 5, 4000) }),
};
const tableBytes = staticFiles["model.safetensors"].length;
const commits = ["a", "b"].map((letter) => letter.repeat(40)) as [string, string];

const hubOf = (changes: Partial<HubModel> = {}) =>
  startHub({ id: "owner/small", commit: commits[0], files: staticFiles, ...changes });

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

describe("a model of a hub", () => {
  test("is downloaded once with what is needed to compute it, checked, and found without a network", async () => {
    const hub = await hubOf({
      files: {
        ...staticFiles,
        "README.md": "# Small",
        "pytorch_model.bin": "weights",
        "onnx/model.onnx": "another form of it",
      },
    });
    const folder = await temporaryFolder();
    const progress: PullProgress[] = [];
    const model = await pullModel("owner/small", { folder, endpoint: hub.url, onProgress: (at) => progress.push(at) });
    expect(model).toMatchObject({ id: "owner/small", revision: "main", commit: commits[0] });
    expect(await filesBelow(model.folder)).toEqual(["citewell-model.json", ...Object.keys(staticFiles)].toSorted());
    for (const [name, content] of Object.entries(staticFiles)) {
      expect((await readFile(join(model.folder, name))).equals(Buffer.from(content))).toBe(true);
    }
    expect(progress.at(-1)).toMatchObject({ bytes: model.sizeBytes, totalBytes: model.sizeBytes });
    const asked = hub.requests.length;
    expect(findPulledModel("hf:owner/small", folder)).toBe(model.folder);
    expect(await pulledModels(folder)).toEqual([model]);
    const { vectors } = await (await folderEmbedder(model.folder, tokenizerFile)).embed(["cat"]);
    expect(vectors[0]).toHaveLength(4000);
    expect(hub.requests).toHaveLength(asked);
    await pullModel("owner/small", { folder, endpoint: hub.url });
    expect(hub.requests.slice(asked).map(({ path }) => path)).toEqual([
      "/api/models/owner/small/revision/main?blobs=true",
    ]);
  });

  test("for ONNX is downloaded with its ONNX and no other weights", async () => {
    const files = {
      "config.json": JSON.stringify({ architectures: ["BertModel"] }),
      "tokenizer.json": "{}",
      "1_Pooling/config.json": "{}",
      "onnx/model.onnx": "weights",
      "onnx/model_quantized.onnx": "other weights",
      "model.safetensors": "weights",
    };
    const hub = await hubOf({ files });
    const { folder } = await pullModel("owner/small", { folder: await temporaryFolder(), endpoint: hub.url });
    expect(await filesBelow(folder)).toEqual([
      "1_Pooling/config.json",
      "citewell-model.json",
      "config.json",
      "onnx/model.onnx",
      "tokenizer.json",
    ]);
  });

  test("that cannot be computed is refused before its weights are fetched", async () => {
    const hub = await hubOf({ files: { "config.json": "{}", "pytorch_model.bin": "weights" } });
    const pulling = pullModel("owner/small", { folder: await temporaryFolder(), endpoint: hub.url });
    await expect(pulling).rejects.toMatchObject({ code: "config", message: /cannot be computed/ });
    expect(hub.storeRequests).toEqual([]);
  });

  test("at a new commit is fetched as far as it changed, and serves as before until then", async () => {
    const hub = await hubOf();
    const folder = await temporaryFolder();
    const before = await pullModel("owner/small", { folder, endpoint: hub.url });
    hub.model.commit = commits[1];
    hub.model.files = { ...staticFiles, "config.json": JSON.stringify({ model_type: "model2vec" }) };
    hub.requests.length = 0;
    hub.faults.push({ path: "config.json", status: 404 });
    await expect(pullModel("owner/small", { folder, endpoint: hub.url })).rejects.toMatchObject({ code: "not-found" });
    expect(findPulledModel("owner/small", folder)).toBe(before.folder);
    expect(await readFile(join(before.folder, "config.json"), "utf8")).toBe(staticFiles["config.json"]);
    const model = await pullModel("owner/small", { folder, endpoint: hub.url });
    expect(model.commit).toBe(commits[1]);
    expect(await readFile(join(model.folder, "config.json"), "utf8")).toBe(hub.model.files["config.json"]);
    expect(
      hub.requests.filter(({ path }) => path.includes("resolve")).map(({ path }) => path.split("/").at(-1)),
    ).toEqual(["config.json", "config.json"]);
    expect(await filesBelow(folder)).toEqual(
      ["citewell-model.json", ...Object.keys(staticFiles)].map((name) => `owner/small/${name}`).toSorted(),
    );
  });

  test("at another revision lies beside it", async () => {
    const hub = await hubOf();
    const folder = await temporaryFolder();
    await pullModel("owner/small", { folder, endpoint: hub.url });
    const named = `owner/small@${commits[0]}`;
    await pullModel(named, { folder, endpoint: hub.url });
    expect(findPulledModel(named, folder)).toBe(join(folder, named));
    expect((await pulledModels(folder)).map(({ revision }) => revision)).toEqual(["main", commits[0]]);
  });
});

describe("a download that is disturbed", () => {
  test("goes on where the connection was cut, and tries again after 429 and 503", async () => {
    const hub = await hubOf();
    hub.faults.push(
      { path: "/api/", status: 429, retryAfter: "0" },
      { path: "tokenizer.json", status: 503 },
      { path: "model.safetensors", cutAfter: 0 },
      { path: "/model.safetensors", cutAfter: 50_000 },
    );
    // The first of the table is the hub's own, which only leads elsewhere.
    const { folder } = await pullModel("owner/small", { folder: await temporaryFolder(), endpoint: hub.url });
    expect(
      (await readFile(join(folder, "model.safetensors"))).equals(Buffer.from(staticFiles["model.safetensors"])),
    ).toBe(true);
    expect(hub.storeRequests.map(({ range }) => range)).toEqual([undefined, "bytes=50000-"]);
  });

  test("is gone on with by another run", async () => {
    const hub = await hubOf();
    const folder = await temporaryFolder();
    const stop = new AbortController();
    // The hub leads to the table, and the server that has it stops after 30,000 bytes.
    hub.faults.push({ path: "/resolve/" }, { path: "/resolve/" }, { path: "/resolve/" });
    hub.faults.push({ path: "/model.safetensors", cutAfter: 30_000 });
    const pulling = pullModel("owner/small", {
      folder,
      endpoint: hub.url,
      signal: stop.signal,
      onProgress: ({ file, bytes }) => {
        if (file === "model.safetensors" && bytes > 10_000) stop.abort(new Error("stopped by hand"));
      },
    });
    await expect(pulling).rejects.toThrow("stopped by hand");
    expect(await pulledModels(folder)).toEqual([]);
    const model = await pullModel("owner/small", { folder, endpoint: hub.url });
    expect(hub.storeRequests.at(-1)?.range).toBe("bytes=30000-");
    expect((await readFile(join(model.folder, "model.safetensors"))).length).toBe(tableBytes);
    expect(await filesBelow(folder)).toHaveLength(4);
  });

  test("starts again where a server knows no ranges", async () => {
    const hub = await hubOf();
    const folder = await temporaryFolder({ "owner/small.partial/model.safetensors.part": "something else" });
    hub.faults.push({ path: "/resolve/" }, { path: "/resolve/" }, { path: "/resolve/" });
    hub.faults.push({ path: "/model.safetensors", ignoresRange: true });
    const model = await pullModel("owner/small", { folder, endpoint: hub.url });
    expect(hub.storeRequests.map(({ range }) => range)).toEqual(["bytes=14-"]);
    expect((await readFile(join(model.folder, "model.safetensors"))).length).toBe(tableBytes);
  });

  test.each([
    ["a large file", "model.safetensors", true],
    ["a small one", "tokenizer.json", false],
  ])("of the wrong hash is refused and deleted, and fetched whole the next time: %s", async (_, name, large) => {
    const hub = await hubOf();
    const folder = await temporaryFolder();
    hub.faults.push(...(large ? [{ path: `/resolve/${commits[0]}/${name}` }] : []), { path: name, corrupts: true });
    const pulling = pullModel("owner/small", { folder, endpoint: hub.url });
    await expect(pulling).rejects.toMatchObject({
      code: "reply",
      message: /arrived damaged.*the hub states [0-9a-f]{40}/,
    });
    expect((await filesBelow(folder)).filter((path) => path.includes(name))).toEqual([]);
    expect(await pulledModels(folder)).toEqual([]);
    await pullModel("owner/small", { folder, endpoint: hub.url });
    expect(await pulledModels(folder)).toHaveLength(1);
  });

  test("is checked by the hashes of the replies where the list has none", async () => {
    const hub = await hubOf({ bare: true });
    const folder = await temporaryFolder();
    hub.faults.push(
      { path: `/resolve/${commits[0]}/model.safetensors` },
      { path: "model.safetensors", corrupts: true },
    );
    await expect(pullModel("owner/small", { folder, endpoint: hub.url })).rejects.toMatchObject({ code: "reply" });
    expect(await pullModel("owner/small", { folder, endpoint: hub.url })).toMatchObject({ commit: commits[0] });
  });

  test.each([
    [404, "not-found", /no such model/],
    [403, "forbidden", /grant access/],
    [401, "unauthorized", /HF_TOKEN/],
    [418, "refused", /status 418/],
  ] as const)("by a refusal with status %i ends at once, in one sentence", async (status, code, message) => {
    const hub = await hubOf();
    hub.faults.push({ status });
    const pulling = pullModel("owner/small", { folder: await temporaryFolder(), endpoint: hub.url });
    await expect(pulling).rejects.toMatchObject({ code, message, status });
    expect(hub.requests).toHaveLength(1);
  });

  test("by something that is no hub ends in one sentence", async () => {
    const hub = await hubOf({ id: "other/model" });
    const missing = pullModel("owner/small", { folder: await temporaryFolder(), endpoint: hub.url });
    await expect(missing).rejects.toMatchObject({ code: "not-found" });
    const nobody = pullModel("owner/small", { folder: await temporaryFolder(), endpoint: "http://127.0.0.1:9" });
    await expect(nobody).rejects.toMatchObject({
      code: "network",
      message: /could not be fetched from http:\/\/127\.0\.0\.1:9/,
    });
  });
});

describe("what a hub may not do", () => {
  test.each([
    "../../evil.json",
    "/etc/evil.json",
    "a/../../evil.json",
    "..\\evil.json",
    "C:/evil.json",
    "./evil.json",
    "a//evil.json",
    "evil\u0000.json",
    "",
  ])("a file named %j is refused, and nothing is kept", async (name) => {
    const hub = await hubOf({ listed: [name] });
    const folder = await temporaryFolder();
    const pulling = pullModel("owner/small", { folder, endpoint: hub.url });
    await expect(pulling).rejects.toMatchObject({ code: "config", message: /leads out of its folder/ });
    expect(await filesBelow(folder)).toEqual([]);
  });

  test.each(["../up", "owner/..", "owner/name/more", "a@b@c", "", "owner/na me", ".hidden/name", "owner/name@../x"])(
    "a model named %j is refused before anything is sent",
    async (name) => {
      const hub = await hubOf();
      const pulling = pullModel(name, { folder: await temporaryFolder(), endpoint: hub.url });
      await expect(pulling).rejects.toMatchObject({ code: "options" });
      expect(hub.requests).toEqual([]);
    },
  );

  test("a token goes to the hub and not where it leads, and stands in no message", async () => {
    const token = "hf_secretsecret";
    const hub = await hubOf({ token });
    const folder = await temporaryFolder();
    const without = pullModel("owner/small", { folder, endpoint: hub.url });
    await expect(without).rejects.toMatchObject({ code: "unauthorized", message: /who set HF_TOKEN/ });
    const wrong = pullModel("owner/small", { folder, endpoint: hub.url, token: "hf_wrongwrong" });
    await expect(wrong).rejects.toMatchObject({
      message: expect.not.stringContaining("hf_wrong"),
      code: "unauthorized",
    });
    await expect(pullModel("owner/small", { folder, endpoint: hub.url, token: "hf_two words" })).rejects.toMatchObject({
      message: expect.not.stringContaining("hf_two"),
    });
    await pullModel("owner/small", { folder, endpoint: hub.url, token });
    expect(hub.storeRequests.map(({ authorization }) => authorization)).toEqual([undefined]);
  });
});

test("a hub is reached through a proxy, and not through it where it need not be", async () => {
  const hub = await hubOf();
  const proxy = await tunnelProxy();
  const folder = await temporaryFolder();
  await pullModel("owner/small", { folder, endpoint: hub.url, proxyUrl: proxy.url });
  expect(proxy.tunnels.map(({ target }) => target)).toContain(new URL(hub.url).host);
  const count = proxy.tunnels.length;
  await pullModel("owner/small", { folder, endpoint: hub.url, proxyUrl: proxy.url, noProxy: ["127.0.0.1"] });
  expect(proxy.tunnels).toHaveLength(count);
});
