import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { readConfiguration } from "../../src/cli/settings/configuration.js";
import { OptionsError } from "../../src/core/errors.js";
import { citewell } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const file = (directory: string, settings: object | string, name = "citewell.config.json") =>
  writeFile(join(directory, name), typeof settings === "string" ? settings : JSON.stringify(settings));

describe("configuration", () => {
  test("flags win over variables, variables over the file", async () => {
    const directory = await temporaryFolder();
    await file(directory, { embeddingModel: "file", rerankModel: "file", chatModel: "file" });
    const environment = { CITEWELL_RERANK_MODEL: "variable", CITEWELL_CHAT_MODEL: "variable" };
    expect(readConfiguration({ flags: { chatModel: "flag" }, environment, directory })).toEqual({
      embeddingModel: "file",
      rerankModel: "variable",
      chatModel: "flag",
    });
  });

  test("a model's folder is relative to the file that names it, and excludes a model's id", async () => {
    const directory = await temporaryFolder();
    await file(directory, { modelFolder: "models/small" });
    expect(readConfiguration({ flags: {}, environment: {}, directory })).toEqual({
      modelFolder: join(directory, "models/small"),
    });
    const words = ["search", "anything", "--embedding-model", "m"];
    expect((await citewell(words, { cwd: directory })).stderr).toMatch(/Two embedding models are named/);
  });

  test("a model's folder that holds none is named by index and by doctor", async () => {
    const cwd = await temporaryFolder({ "docs/a.md": "hello", "empty/readme.txt": "" });
    const said = await citewell(["index", "docs", "--model-folder", "empty"], { cwd });
    expect(said.stderr).toContain(`${join(cwd, "empty")} holds no embedding model`);
    expect(said.exitCode).toBe(2);
    const { stdout } = await citewell(["doctor", "--json"], { cwd, environment: { CITEWELL_MODEL_FOLDER: "empty" } });
    expect(JSON.parse(stdout)).toContainEqual({
      check: "embedding model",
      result: "problem",
      message: expect.stringContaining("holds no embedding model") as string,
    });
  });

  test("a service brings its own address, which any other one replaces", async () => {
    const directory = await temporaryFolder();
    const read = (flags: object, environment: Record<string, string> = {}) =>
      readConfiguration({ flags, environment, directory });
    expect(read({ service: "ollama" })).toEqual({ service: "ollama", baseUrl: "http://localhost:11434/v1" });
    expect(read({}, { CITEWELL_SERVICE: "vllm", CITEWELL_BASE_URL: "http://gpu:8000" })).toEqual({
      service: "vllm",
      baseUrl: "http://gpu:8000",
    });
    expect(read({ service: "contract" })).toEqual({ service: "contract" });
    expect(() => read({ service: "azure-openai" })).toThrow(/azure-openai.*CITEWELL_BASE_URL/);
    expect(() => read({}, { CITEWELL_SERVICE: "olama" })).toThrow(/CITEWELL_SERVICE: .*"ollama"/);
  });

  test("an empty variable counts as not set", async () => {
    const directory = await temporaryFolder();
    expect(readConfiguration({ flags: {}, environment: { CITEWELL_BASE_URL: "" }, directory })).toEqual({});
  });

  test.each<[string, object | string, RegExp]>([
    ["an unknown field", { embedingModel: "x" }, /citewell\.config\.json: .*embedingModel/],
    ["broken JSON", "{ not json", /not valid JSON/],
    ["a wrong address", { baseUrl: "ftp://host" }, /baseUrl/],
  ])("%s is refused, naming the file", async (_, settings, message) => {
    const directory = await temporaryFolder();
    await file(directory, settings);
    const act = () => readConfiguration({ flags: {}, environment: {}, directory });
    expect(act).toThrow(OptionsError);
    expect(act).toThrow(message);
  });

  test("an error about the file shows no key from it", async () => {
    const directory = await temporaryFolder();
    await file(directory, { apiKey: "sk-secret", baseUrl: "sk-secret" });
    const act = () => readConfiguration({ flags: {}, environment: {}, directory });
    expect(act).toThrow(/^(?!.*sk-secret)/);
  });

  test.each([
    '{"apiKey": sk-hunter2}',
    '{"apiKey": "sk-hunter2" "store": 1}',
    "sk-hunter2",
    '{"apiKey": "sk-hunter2\n"}',
    "{sk-hunter2",
  ])("an error about the file %j, which is no JSON, shows no key from it", async (text) => {
    const directory = await temporaryFolder();
    await file(directory, text);
    let thrown: unknown;
    try {
      readConfiguration({ flags: {}, environment: {}, directory });
    } catch (error) {
      thrown = error;
    }
    expect((thrown as Error).message).toContain("is not valid JSON");
    expect(inspect(thrown)).not.toMatch(/hunter2|sk-/);
  });

  test("a line break at the end of a key, as mounted secrets have it, is cut off", async () => {
    const directory = await temporaryFolder();
    const environment = { CITEWELL_API_KEY: "sk-1\r\n", CITEWELL_BASE_URL: "https://service.example\n" };
    expect(readConfiguration({ flags: {}, environment, directory })).toEqual({
      apiKey: "sk-1",
      baseUrl: "https://service.example",
    });
  });

  test("a file named by --config must exist", async () => {
    const directory = await temporaryFolder();
    expect(() => readConfiguration({ flags: { config: "other.json" }, environment: {}, directory })).toThrow(
      /other\.json/,
    );
  });

  test.each<[string, object, string]>([
    [
      "CITEWELL_BASE_URL",
      { environment: { CITEWELL_BASE_URL: "localhost:8080" } },
      "CITEWELL_BASE_URL: it must be an address",
    ],
    ["--base-url", { flags: { baseUrl: "localhost:8080" } }, "--base-url: it must be an address"],
  ])("an error about a bad address names its source: %s", async (_, given, message) => {
    const directory = await temporaryFolder();
    expect(() => readConfiguration({ flags: {}, environment: {}, directory, ...given })).toThrow(message);
  });

  test("an unknown field is refused with the list of known ones", async () => {
    const directory = await temporaryFolder();
    await file(directory, { chunk: { maxtokens: 60 } });
    expect(() => readConfiguration({ flags: {}, environment: {}, directory })).toThrow(
      'citewell.config.json: chunk: unknown setting "maxtokens". Settings are maxTokens, overlapTokens, parentTokens, contextLine, strategy',
    );
  });

  test("a file may start with a byte order mark, and its store is relative to the file", async () => {
    const directory = await temporaryFolder({ "settings/citewell.json": '\uFEFF{"store": "kept"}' });
    const flags = { config: "settings/citewell.json" };
    expect(readConfiguration({ flags, environment: {}, directory })).toEqual({
      store: join(directory, "settings/kept"),
    });
    expect(readConfiguration({ flags: { ...flags, store: "here" }, environment: {}, directory }).store).toBe("here");
  });

  describe("a key goes only to an address that its owner chose", () => {
    const elsewhere = { baseUrl: "https://elsewhere.example/v1" };
    const key = { CITEWELL_API_KEY: "sk-mine" };
    const read = async (settings: object, given: { flags?: object; environment?: Record<string, string> }) => {
      const directory = await temporaryFolder();
      await file(directory, settings);
      return readConfiguration({ flags: {}, environment: {}, directory, ...given });
    };

    test.each([
      ["CITEWELL_API_KEY", elsewhere, { environment: key }],
      ["--api-key", elsewhere, { flags: { apiKey: "sk-mine" } }],
      ["--api-key", { ...elsewhere, apiKey: "sk-theirs" }, { flags: { apiKey: "sk-mine" } }],
    ])("%s is not used with an address from the folder's file", async (place, settings, given) => {
      const refused = read(settings, given);
      await expect(refused).rejects.toBeInstanceOf(OptionsError);
      await expect(refused).rejects.toMatchObject({ code: "config" });
      await expect(refused).rejects.toThrow(
        new RegExp(
          `^The key from ${place} is not sent to https://elsewhere\\.example, an address that only .*citewell\\.config\\.json names\\. ` +
            "If you trust it, set CITEWELL_BASE_URL or --base-url to it, or put the key as apiKey into that file$",
        ),
      );
    });

    test("and with the address of a service that only the file names", async () => {
      const directory = await temporaryFolder();
      await file(directory, { service: "jina" });
      const readIn = (flags: object) =>
        readConfiguration({ flags, environment: { CITEWELL_API_KEY: "sk-of-another" }, directory });
      expect(() => readIn({})).toThrow(/not sent to https:\/\/api\.jina\.ai/);
      expect(readIn({ service: "jina" })).toMatchObject({ apiKey: "sk-of-another" });
    });

    test("a file with both is used as it is, whatever key the environment holds", async () => {
      const both = { ...elsewhere, apiKey: "sk-theirs" };
      expect(await read(both, {})).toEqual(both);
      expect(await read(both, { environment: key })).toEqual(both);
    });

    test.each([
      ["the same place", {}, { environment: { ...key, CITEWELL_BASE_URL: "https://mine.example" } }],
      ["a flag", elsewhere, { environment: key, flags: { baseUrl: "https://mine.example" } }],
      [
        "the environment",
        elsewhere,
        { environment: { CITEWELL_BASE_URL: "https://mine.example" }, flags: { apiKey: "sk-mine" } },
      ],
      [
        "a flag, with the key in the file",
        { ...elsewhere, apiKey: "sk-mine" },
        { flags: { baseUrl: "https://mine.example" } },
      ],
    ])("and is used with an address from %s", async (_, settings, given) => {
      expect(await read(settings, given)).toEqual({ baseUrl: "https://mine.example", apiKey: "sk-mine" });
    });

    test("and with the address of a file that --config names", async () => {
      const directory = await temporaryFolder();
      await file(directory, elsewhere, "named.json");
      expect(readConfiguration({ flags: { config: "named.json" }, environment: key, directory })).toEqual({
        ...elsewhere,
        apiKey: "sk-mine",
      });
    });
  });

  test("the command sends nothing to an address from the folder's file when the key is in the environment", async () => {
    const requests: string[] = [];
    const upstream = createServer((request, response) => {
      requests.push(request.headers.authorization ?? "");
      response.writeHead(500).end();
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void upstream.close());
    await once(upstream, "listening");
    const cwd = await temporaryFolder({ "docs/a.md": "Keys expire after 90 days." });
    await file(cwd, { baseUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`, embeddingModel: "m3" });
    const environment = { CITEWELL_API_KEY: "sk-mine" };
    for (const words of [
      ["index", "docs"],
      ["search", "keys"],
      ["ask", "keys?"],
      ["plan", "docs"],
      ["video", "get", "1"],
    ]) {
      const { exitCode, stderr } = await citewell(words, { cwd, environment });
      expect({ exitCode, stderr }).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining("The key from CITEWELL_API_KEY is not sent to http://127.0.0.1") as string,
      });
    }
    expect(requests).toEqual([]);
  });
});
