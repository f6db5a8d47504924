import { describe, expect, test } from "vitest";
import { readFolder } from "../../src/load/sources/read-folder.js";
import { startLocalService } from "../../src/local/service.js";
import { answer } from "../../src/stages/answering/answer.js";
import { createTransport } from "../../src/transport/transport.js";
import { scriptedModel } from "../stages/answering/scripted-model.js";

const calls: [string, string, (list: never) => unknown][] = [
  ["startLocalService", "moreApiKeys", (moreApiKeys) => startLocalService({ moreApiKeys })],
  ["createTransport", "noProxy", (noProxy) => createTransport({ baseUrl: "http://127.0.0.1:1", apiKey: "k", noProxy })],
  ["createTransport", "models", (models) => createTransport({ baseUrl: "http://127.0.0.1:1", apiKey: "k", models })],
  ["readFolder", "exclude", (exclude) => readFolder(".", { exclude })],
  ["answer", "tools", (tools) => answer(scriptedModel([]), { tools })],
];

describe.each(calls)("%s: what stands in the place of the list %s", (_, option, call) => {
  test.each([
    ["a Buffer", () => Buffer.from("key-of-ada")],
    ["a typed array", () => new Float64Array(3)],
    ["a view", () => new DataView(new ArrayBuffer(8))],
    ["an object", () => ({ key: "key-of-ada" })],
  ])("%s is refused by name, and stays as it was", async (__, made) => {
    const given = made();
    const refused = (async () => call(given as never))();
    await expect(refused).rejects.toMatchObject({ name: "OptionsError", code: "options", option });
    expect(Object.isFrozen(given)).toBe(false);
  });
});

test("a key in a Buffer in the place of a list of keys is not shown", async () => {
  const given = { moreApiKeys: Buffer.from("key-of-ada") } as never;
  await expect(startLocalService(given)).rejects.toThrow(/^startLocalService: moreApiKeys: (?!.*key-of-ada)/);
});
