import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { modelsIn } from "../../src/local/neural/model-folder.js";
import { startLocalService } from "../../src/local/service.js";
import { temporaryFolder } from "../support/temporary-folder.js";

function folderWith(models: Readonly<Record<string, object | string>>): Promise<string> {
  const files = Object.entries(models).map(([path, configuration]) => [
    `${path}/config.json`,
    typeof configuration === "string" ? configuration : JSON.stringify(configuration),
  ]);
  return temporaryFolder(Object.fromEntries(files) as Readonly<Record<string, string>>);
}

const embedder = { architectures: ["BertModel"], hidden_size: 384, max_position_embeddings: 512 };

describe("a folder of models", () => {
  test("each is published under its path, as what its configuration says that it is", async () => {
    const folder = await folderWith({
      "owner/small": embedder,
      "owner/large-m3": { ...embedder, hidden_size: 1024 },
      ranker: { architectures: ["XLMRobertaForSequenceClassification"], max_position_embeddings: 514 },
    });
    expect(await modelsIn(folder)).toEqual([
      { id: "owner/large-m3", type: "embedding", maxInputTokens: 8192, dimension: 1024 },
      { id: "owner/small", type: "embedding", maxInputTokens: 512, dimension: 384 },
      { id: "ranker", type: "rerank", maxInputTokens: 514 },
    ]);
  });

  test.each([
    ["is empty", () => folderWith({}), /holds no model/],
    ["is not there", async () => join(await folderWith({}), "nowhere"), /cannot be read/],
    ["holds a broken configuration", () => folderWith({ a: "{" }), /config\.json is not a model's configuration/],
  ])("one that %s is an error that says so", async (_, folder, message) => {
    await expect(startLocalService({ modelsFolder: await folder() })).rejects.toMatchObject({
      code: "config",
      message,
    });
  });

  test("without the package that computes models, the error says what to install", async ({ skip }) => {
    const { resolve } = createRequire(import.meta.url);
    let installed = true;
    try {
      resolve("@huggingface/transformers");
    } catch {
      installed = false;
    }
    if (installed) skip("@huggingface/transformers is installed");
    await expect(startLocalService({ modelsFolder: await folderWith({ a: embedder }) })).rejects.toMatchObject({
      code: "missing-package",
      message: expect.stringContaining("npm install @huggingface/transformers"),
    });
  });
});
