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
});
