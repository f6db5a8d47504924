import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { embeddingTokenLimit, type ModelInfo } from "../../../contract/catalogue.js";
import { OptionsError } from "../../../core/errors.js";

/** The fields of a model's `config.json` that are used. */
const Configuration = z.object({
  architectures: z.array(z.string()).default([]),
  hidden_size: z.int().min(1).optional(),
  max_position_embeddings: z.int().min(1).optional(),
});

/** The fields of a sentence model's `1_Pooling/config.json` that are used. */
const PoolingConfiguration = z.object({
  pooling_mode_cls_token: z.boolean().default(false),
  pooling_mode_lasttoken: z.boolean().default(false),
});

/** How a model's vectors, one a token, become one: their mean, or that of the first or the last token. */
export type Pooling = "mean" | "cls" | "last_token";

const maxDepth = 3;

/**
 * The models in a folder, each under its path there: one that classifies sequences is a reranker, any other embeds.
 * @throws {OptionsError} when the folder cannot be read, holds no model, or a configuration is not one.
 */
export async function modelsIn(folder: string): Promise<readonly ModelInfo[]> {
  let found: readonly string[];
  try {
    found = await modelPaths(folder, "", maxDepth);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OptionsError("config", `The folder of models cannot be read: ${reason}`, { cause: error });
  }
  if (found.length === 0) {
    throw new OptionsError(
      "config",
      `${resolve(folder)} holds no model: expected <name>/config.json or <owner>/<name>/config.json in it`,
    );
  }
  return Promise.all(found.map((path) => describe(folder, path)));
}

async function modelPaths(folder: string, path: string, depth: number): Promise<readonly string[]> {
  const entries = await readdir(join(folder, path), { withFileTypes: true });
  if (path !== "" && entries.some((entry) => entry.isFile() && entry.name === "config.json")) return [path];
  if (depth === 0) return [];
  const inner = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => (path === "" ? name : `${path}/${name}`));
  return (await Promise.all(inner.toSorted().map((one) => modelPaths(folder, one, depth - 1)))).flat();
}

async function describe(folder: string, id: string): Promise<ModelInfo> {
  const file = join(folder, id, "config.json");
  let configuration: z.output<typeof Configuration>;
  try {
    configuration = Configuration.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (error) {
    throw new OptionsError("config", `${file} is not a model's configuration`, { cause: error });
  }
  const { architectures, hidden_size: dimension, max_position_embeddings: positions } = configuration;
  if (architectures.some((name) => name.endsWith("ForSequenceClassification"))) {
    return { id, type: "rerank", ...(positions !== undefined && { maxInputTokens: positions }) };
  }
  return {
    id,
    type: "embedding",
    maxInputTokens: embeddingTokenLimit(id),
    ...(dimension !== undefined && { dimension }),
  };
}

/** The pooling that a model was trained with: what its folder says, else the mean, as most are. */
export async function poolingOf(folder: string, id: string): Promise<Pooling> {
  const file = join(folder, id, "1_Pooling", "config.json");
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch {
    return "mean";
  }
  const configuration = PoolingConfiguration.parse(JSON.parse(text));
  if (configuration.pooling_mode_cls_token) return "cls";
  return configuration.pooling_mode_lasttoken ? "last_token" : "mean";
}
