import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { PulledModel } from "../../src/local/pulled-models.js";
import { numbersAs, safetensors, wholeWords } from "../local/engines/static-models.js";
import { type HubModel, startHub } from "../local/hub/hub-server.js";
import { citewell, citewellJson, type IndexJson, type SearchJson } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Words of one subject lie in one direction. */
const subjects = { sea: ["ship", "vessel", "harbour"], land: ["car", "road", "garage"] };
const words = Object.values(subjects).flat();
const rows = ["", "", ...words].flatMap((word) => [
  subjects.sea.includes(word) ? 1 : 0.01,
  subjects.land.includes(word) ? 1 : 0.01,
]);
const files = {
  "config.json": JSON.stringify({ model_type: "model2vec", normalize: true }),
  "tokenizer.json": JSON.stringify(wholeWords(words)),
  "model.safetensors": safetensors({ embeddings: numbersAs("F32", rows, words.length + 2, 2) }),
};
const hubOf = (changes: Partial<HubModel> = {}) =>
  startHub({ id: "owner/small", commit: "c".repeat(40), files, ...changes });
const documents = { "docs/sea.md": "The harbour.", "docs/land.md": "The garage." };

describe("citewell models", () => {
  test("pull downloads a model, models lists it, and hf: indexes and searches with it when the hub is gone", async () => {
    const cwd = await temporaryFolder(documents);
    const hub = await hubOf();
    const environment = { CITEWELL_MODELS: "models", HF_ENDPOINT: hub.url };
    const none = await citewell(["models"], { cwd, environment });
    expect(none.stdout).toContain("citewell models pull");
    const { folder } = await citewellJson<PulledModel>(["models", "pull", "owner/small"], { cwd, environment });
    expect(folder).toBe(join(cwd, "models/owner/small"));
    const offline = { cwd, environment: { CITEWELL_MODELS: "models", HF_ENDPOINT: "http://127.0.0.1:9" } };
    expect((await citewell(["models"], offline)).stdout).toMatch(/716 B {2}hf:owner\/small\n$/);
    const model = ["--embedding-model", "hf:owner/small"];
    expect((await citewellJson<IndexJson>(["index", "docs", ...model], offline)).documents).toMatchObject({ added: 2 });
    const found = await citewellJson<SearchJson>(["search", "vessel", "--mode", "dense", ...model], offline);
    expect(found.hits.map(({ uri }) => uri.split("/").at(-1))).toEqual(["sea.md", "land.md"]);
    const named = { cwd, environment: { ...offline.environment, CITEWELL_EMBEDDING_MODEL: "hf:owner/small" } };
    const doctor = await citewell(["doctor"], named);
    expect(doctor.stdout).toMatch(/✓ embedding model: static-embedding@[0-9a-f]{16}/);
  });

  test("a model that is not there is an error that says how to get it", async () => {
    const cwd = await temporaryFolder(documents);
    const environment = { CITEWELL_MODELS: "models" };
    const said = await citewell(["index", "docs", "--embedding-model", "hf:owner/small"], { cwd, environment });
    expect(said.stderr).toBe(
      `citewell: The model owner/small is not in ${join(cwd, "models")}: download it with citewell models pull owner/small\n`,
    );
    expect(said.exitCode).toBe(2);
    const bad = await citewell(["index", "docs", "--embedding-model", "hf:../../etc"], { cwd, environment });
    expect(bad).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("names no model") as string });
  });

  test("by default they lie in the user's own cache", async () => {
    const home = await temporaryFolder();
    const environment = { HOME: home, HF_ENDPOINT: (await hubOf()).url };
    const { folder } = await citewellJson<PulledModel>(["models", "pull", "owner/small"], { cwd: home, environment });
    expect(folder).toBe(join(home, ".cache/citewell/models/owner/small"));
  });

  test("a token is sent and never printed", async () => {
    const cwd = await temporaryFolder();
    const token = "hf_secretsecret";
    const hub = await hubOf({ token });
    const environment = { CITEWELL_MODELS: "models", HF_ENDPOINT: hub.url };
    const pull = ["models", "pull", "owner/small", "--debug"];
    for (const wrong of ["hf_wrongtoken", "hf_wrong token", "hf_wrong\ntoken"]) {
      const refused = await citewell(pull, { cwd, environment: { ...environment, HF_TOKEN: wrong } });
      expect(refused.exitCode).toBe(2);
      expect(refused.stdout + refused.stderr).not.toContain("hf_wrong");
    }
    const done = await citewell(pull, { cwd, environment: { ...environment, HF_TOKEN: token } });
    expect(done.exitCode).toBe(0);
    expect(done.stdout + done.stderr).not.toContain(token);
  });
});
