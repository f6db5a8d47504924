import { createHash } from "node:crypto";
import { open, readdir, readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { embeddingTokenLimit, type ModelInfo } from "../../contract/catalogue.js";
import { OptionsError } from "../../core/errors.js";
import { optionalJson, parsedJson, prefixesOf } from "./model-files.js";
import { staticLayout } from "./static-layout.js";

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

/** The field of `sentence_bert_config.json` that is used. */
const SentenceConfiguration = z.object({ max_seq_length: z.int().min(1).nullish() });

/** The field of `tokenizer_config.json` that is used; 1e30 when unset. */
const TokenizerConfiguration = z.object({ model_max_length: z.number().min(1).nullish() });

/** Pooling of a model's vectors, one a token, into one: their mean, or that of the first or the last token. */
export type Pooling = "mean" | "cls" | "last_token";

const maxDepth = 3;

/** Files of which the folder of a model has at least one. */
const marks: ReadonlySet<string> = new Set(["config.json", "modules.json", "config_sentence_transformers.json"]);

/** More tokens than any model reads: such a limit is unset. */
const unlimitedTokens = 1e9;

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
  if (path !== "" && entries.some((entry) => entry.isFile() && marks.has(entry.name))) return [path];
  if (depth === 0) return [];
  const inner = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => (path === "" ? name : `${path}/${name}`));
  return (await Promise.all(inner.toSorted().map((one) => modelPaths(folder, one, depth - 1)))).flat();
}

async function describe(folder: string, id: string): Promise<ModelInfo> {
  const path = join(folder, id);
  const layout = await staticLayout(path);
  if (layout) {
    return { id, type: "embedding", maxInputTokens: embeddingTokenLimit(id), dimension: layout.dimension };
  }
  const file = join(path, "config.json");
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new OptionsError("config", `${path} holds no model: there is no config.json in it`, { cause });
  });
  const configuration = parsedJson(file, Configuration, text);
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
export async function poolingOf(path: string): Promise<Pooling> {
  const configuration = await optionalJson(join(path, "1_Pooling", "config.json"), PoolingConfiguration);
  if (configuration?.pooling_mode_cls_token) return "cls";
  return configuration?.pooling_mode_lasttoken ? "last_token" : "mean";
}

/** An embedding model as its own folder describes it. */
export interface FolderModel {
  /** The folder's name with a hash of what its vectors depend on, so that those of two models never meet. */
  readonly space: string;
  readonly dimension: number | undefined;
  /** Tokens that it reads of one text; of a longer one the rest is left unread. */
  readonly maxInputTokens: number;
  readonly queryPrefix: string;
  readonly documentPrefix: string;
}

/**
 * Reads the description of the embedding model in a folder of its own, as models are published: `config.json`,
 * `tokenizer.json`, `onnx/`, and of a sentence model `config_sentence_transformers.json`, whose prompts are its prefixes.
 *
 * @throws OptionsError (`config`) when the folder holds no embedding model, or a configuration is not one.
 */
export async function describeFolderModel(folder: string): Promise<FolderModel> {
  const path = resolve(folder);
  const configuration = await optionalJson(join(path, "config.json"), Configuration);
  const isReranker = configuration?.architectures.some((name) => name.endsWith("ForSequenceClassification"));
  if (!configuration || isReranker) {
    const found = configuration ? "a reranker" : "no config.json";
    throw new OptionsError("config", `${path} holds no embedding model but ${found}: name the folder of one model`);
  }
  const [sentence, tokenizer, prefixes, pooling, weights] = await Promise.all([
    optionalJson(join(path, "sentence_bert_config.json"), SentenceConfiguration),
    optionalJson(join(path, "tokenizer_config.json"), TokenizerConfiguration),
    prefixesOf(path),
    poolingOf(path),
    // The weights of a large model are in a file beside it.
    Promise.all(["model.onnx", "model.onnx_data"].map((file) => contentMark(join(path, "onnx", file)))),
  ]);
  const limits = [sentence?.max_seq_length, tokenizer?.model_max_length, configuration.max_position_embeddings].filter(
    (limit) => typeof limit === "number" && limit < unlimitedTokens,
  ) as readonly number[];
  const hash = createHash("sha256").update(JSON.stringify([configuration, pooling, prefixes, weights]));
  return {
    space: `${basename(path)}@${hash.digest("hex").slice(0, 8)}`,
    dimension: configuration.hidden_size,
    maxInputTokens: limits.length > 0 ? Math.min(...limits) : embeddingTokenLimit(basename(path)),
    ...prefixes,
  };
}

/** Pieces of a file, and their bytes, by which it is told from another: all of it may be gigabytes. */
const [markPieces, markPieceBytes] = [64, 4096];

/**
 * The size of a file with a hash of pieces from all over it: models of one architecture are files of one size.
 * `undefined` where there is none.
 */
async function contentMark(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const hash = createHash("sha256");
    const piece = Buffer.alloc(markPieceBytes);
    for (let index = 0; index < markPieces; index++) {
      const { bytesRead } = await file.read(piece, 0, markPieceBytes, Math.floor((size * index) / markPieces));
      hash.update(piece.subarray(0, bytesRead));
    }
    return `${size} ${hash.digest("hex")}`;
  } finally {
    await file.close();
  }
}
