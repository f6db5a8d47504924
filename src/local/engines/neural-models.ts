import { join, resolve } from "node:path";
import type { ModelInfo } from "../../contract/catalogue.js";
import { OptionsError } from "../../core/errors.js";
import type { EmbeddingEngine, Engines, RerankEngine } from "./engines.js";
import { staticLayout, type StaticLayout } from "./static-layout.js";
import { embedEach, loadStaticModel } from "./static-model.js";
import { pieces } from "./rerank/pieces.js";
import { modelsIn, poolingOf } from "./model-folder.js";

export interface NeuralModels {
  readonly models: readonly ModelInfo[];
  /** Engines that compute these models, and leave all others to `others`. */
  readonly engines: (others: Engines) => Engines;
}

/** Tokens in a piece of a document that is reranked, beside the query. */
const rerankPieceTokens = 400;

const textsPerRun = 16;

/**
 * Real models from a folder. Weights are read when a model is first asked for, and stay.
 * @throws {OptionsError} when the folder holds no model or the package that computes them is missing.
 */
export async function neuralModels(folder: string): Promise<NeuralModels> {
  const models = await modelsIn(folder);
  const layouts = new Map(
    await Promise.all(models.map(async ({ id }) => [id, await staticLayout(join(folder, id))] as const)),
  );
  // Static models need no runtime.
  const transformers = [...layouts.values()].includes(undefined) ? await loadTransformers() : undefined;
  const embedding = embeddingEngine(folder, layouts);
  const rerank = transformers && rerankEngine(transformers, folder);
  const own = new Set(models.map(({ id }) => id));
  return {
    models,
    engines: (others) => ({
      ...others,
      embedding: {
        embed: (texts, call) => (own.has(call.model.id) ? embedding : others.embedding).embed(texts, call),
      },
      rerank: {
        score: (query, documents, call) =>
          ((own.has(call.model.id) ? rerank : undefined) ?? others.rerank).score(query, documents, call),
      },
    }),
  };
}

/** Embeds texts; each vector is of length 1. */
export type EmbedTexts = (texts: readonly string[], signal: AbortSignal) => Promise<readonly Float32Array[]>;

/** Reads the weights of the embedding model in a folder of its own. */
export async function loadEmbedding(path: string): Promise<EmbedTexts> {
  const [{ pipeline }, pooling] = await Promise.all([loadTransformers(), poolingOf(path)]);
  const extract = await pipeline("feature-extraction", resolve(path));
  return async (texts, signal) => {
    const vectors: Float32Array[] = [];
    for (const run of runsOf(texts)) {
      signal.throwIfAborted();
      vectors.push(...rows(await extract(run, { pooling, normalize: true })));
    }
    return vectors;
  };
}

function embeddingEngine(folder: string, layouts: ReadonlyMap<string, StaticLayout | undefined>): EmbeddingEngine {
  const loaded = new Map<string, Promise<EmbedTexts>>();
  const load = (id: string) => {
    const layout = layouts.get(id);
    return layout ? loadStatic(join(folder, id), layout) : loadEmbedding(join(folder, id));
  };
  return {
    embed: async (texts, { model: { id }, signal }) => {
      const embedTexts = await loadedOnce(loaded, id, () => load(id));
      return embedTexts(texts, signal);
    },
  };
}

/** A static model, whose vectors are brought to length 1 as those of every engine. */
async function loadStatic(path: string, layout: StaticLayout): Promise<EmbedTexts> {
  return embedEach(await loadStaticModel(path, { ...layout, normalizes: true }));
}

function rerankEngine(transformers: Transformers, folder: string): RerankEngine {
  const { AutoTokenizer, AutoModelForSequenceClassification } = transformers;
  const loaded = new Map<string, Promise<(queries: readonly string[], texts: readonly string[]) => Promise<Tensor>>>();
  const load = async (id: string) => {
    const path = resolve(folder, id);
    const [tokenizer, model] = await Promise.all([
      AutoTokenizer.from_pretrained(path),
      AutoModelForSequenceClassification.from_pretrained(path),
    ]);
    return async (queries: readonly string[], texts: readonly string[]) => {
      const inputs = tokenizer(queries, { text_pair: texts, padding: true, truncation: true });
      return (await model(inputs)).logits.sigmoid();
    };
  };
  return {
    score: async (query, documents, { model: { id }, maxChunksPerDocument, overlapTokens, signal }) => {
      const score = await loadedOnce(loaded, id, () => load(id));
      const limits = { maxTokens: rerankPieceTokens, overlapTokens, maxPieces: maxChunksPerDocument };
      const scores: number[] = [];
      for (const document of documents) {
        let best = 0;
        for (const run of runsOf(pieces(document, limits))) {
          signal.throwIfAborted();
          const queries = run.map(() => query);
          for (const [relevance = 0] of rows(await score(queries, run))) best = Math.max(best, relevance);
        }
        scores.push(best);
      }
      return scores;
    },
  };
}

/** A batch is padded to its longest text, and takes memory in proportion. */
function runsOf(texts: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(texts.length / textsPerRun);
  return Array.from({ length: count }, (_, run) => texts.slice(run * textsPerRun, (run + 1) * textsPerRun));
}

/** A failure is not kept: the next request tries again. */
export function loadedOnce<Value>(
  kept: Map<string, Promise<Value>>,
  id: string,
  load: () => Promise<Value>,
): Promise<Value> {
  const found = kept.get(id);
  if (found) return found;
  const loading = load();
  kept.set(id, loading);
  loading.catch(() => kept.delete(id));
  return loading;
}

function rows({ data, dims }: Tensor): readonly Float32Array[] {
  const [count = 0, width = 1] = dims;
  const all = Float32Array.from(data);
  return Array.from({ length: count }, (_, row) => all.slice(row * width, (row + 1) * width));
}

/** The fields of a tensor that are read here. */
interface Tensor {
  readonly data: ArrayLike<number>;
  /** Rows, then numbers in a row. */
  readonly dims: readonly number[];
}

/** The used part of `@huggingface/transformers`, version 4. It reads a model that is named by an absolute path from there. */
interface Transformers {
  readonly env: { allowRemoteModels: boolean };
  readonly pipeline: (
    task: "feature-extraction",
    path: string,
  ) => Promise<(texts: readonly string[], options: object) => Promise<Tensor>>;
  readonly AutoTokenizer: {
    readonly from_pretrained: (path: string) => Promise<(texts: readonly string[], options: object) => object>;
  };
  readonly AutoModelForSequenceClassification: {
    readonly from_pretrained: (
      path: string,
    ) => Promise<(inputs: object) => Promise<{ readonly logits: { readonly sigmoid: () => Tensor } }>>;
  };
}

// In a variable, so that the compiler does not look for a package that need not be there.
const packageName = "@huggingface/transformers";

/**
 * The package, told to read models from this machine alone.
 * @throws {OptionsError} `missing-package` when it is not installed.
 */
export async function loadTransformers(): Promise<Transformers> {
  let transformers: Transformers;
  try {
    transformers = (await import(packageName)) as Transformers;
  } catch (error) {
    throw new OptionsError(
      "missing-package",
      `Models of a folder need the package ${packageName}, which cannot be loaded. Install it: npm install ${packageName}`,
      { cause: error },
    );
  }
  transformers.env.allowRemoteModels = false;
  return transformers;
}
