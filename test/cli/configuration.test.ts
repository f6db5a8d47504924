import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfiguration } from "../../src/cli/configuration.js";
import { OptionsError } from "../../src/errors.js";
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

  test("an empty variable is as good as none", async () => {
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

  test("no key of the file stands in an error about it", async () => {
    const directory = await temporaryFolder();
    await file(directory, { apiKey: "sk-secret", baseUrl: "sk-secret" });
    const act = () => readConfiguration({ flags: {}, environment: {}, directory });
    expect(act).toThrow(/^(?!.*sk-secret)/);
  });

  test("a file that was named must be there", async () => {
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
  ])("a bad address is told of by where it stands: %s", async (_, given, message) => {
    const directory = await temporaryFolder();
    expect(() => readConfiguration({ flags: {}, environment: {}, directory, ...given })).toThrow(message);
  });

  test("an unknown field is told of with those there are", async () => {
    const directory = await temporaryFolder();
    await file(directory, { chunk: { maxtokens: 60 } });
    expect(() => readConfiguration({ flags: {}, environment: {}, directory })).toThrow(
      'citewell.config.json: chunk: "maxtokens" is no setting: there are maxTokens, overlapTokens, parentTokens, strategy',
    );
  });

  test("a file may begin with a byte order mark, and its store lies where the file lies", async () => {
    const directory = await temporaryFolder({ "settings/citewell.json": '\uFEFF{"store": "kept"}' });
    const flags = { config: "settings/citewell.json" };
    expect(readConfiguration({ flags, environment: {}, directory })).toEqual({
      store: join(directory, "settings/kept"),
    });
    expect(readConfiguration({ flags: { ...flags, store: "here" }, environment: {}, directory }).store).toBe("here");
  });
});
