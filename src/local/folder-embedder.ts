import { join } from "node:path";
import type { Embedder, TokenCounter } from "../core/ports.js";
import { OptionsError } from "../core/errors.js";
import { defaultMaxBatchTexts } from "../contract/embeddings.js";
import type { Prefixes } from "./engines/model-files.js";
import { describeFolderModel } from "./engines/model-folder.js";
import { staticLayout, type StaticLayout } from "./engines/static-layout.js";
import { embedEach, loadStaticModel } from "./engines/static-model.js";
import { type EmbedTexts, loadedOnce, loadEmbedding, loadTransformers } from "./engines/neural-models.js";

/**
 * The embedding model in a folder, computed in this process. A static one is read at once; the weights of any other when the
 * first text is embedded. They stay.
 *
 * @param readTokenizer reads the model's own tokenizer: of a text beyond the model's limit the rest would be left unread.
 * @throws OptionsError `missing-package` without `@huggingface/tokenizers`, or `@huggingface/transformers` for a model that is
 * not static; `config` for a folder that is no such model.
 */
export async function folderEmbedder(
  folder: string,
  readTokenizer: (path: string) => Promise<TokenCounter>,
): Promise<Embedder> {
  const layout = await staticLayout(folder);
  return layout ? staticEmbedder(folder, layout) : transformerEmbedder(folder, readTokenizer);
}

async function staticEmbedder(folder: string, layout: StaticLayout): Promise<Embedder> {
  const model = await loadStaticModel(folder, layout);
  const { space, dimension, tokens, queryPrefix, documentPrefix } = model;
  const embedTexts = embedEach(model);
  return {
    space,
    dimension,
    maxInputTokens: withoutPrefix(folder, model),
    maxBatchTexts: defaultMaxBatchTexts,
    tokens,
    embed: async (texts, { purpose, signal = new AbortController().signal } = {}) => {
      const prefix = purpose === "query" ? queryPrefix : documentPrefix;
      return { vectors: await embedTexts(prefixed(texts, prefix), signal) };
    },
  };
}

async function transformerEmbedder(
  folder: string,
  readTokenizer: (path: string) => Promise<TokenCounter>,
): Promise<Embedder> {
  const { space, dimension, maxInputTokens, queryPrefix, documentPrefix } = await describeFolderModel(folder);
  const tokens = await readTokenizer(join(folder, "tokenizer.json"));
  await loadTransformers();
  const loaded = new Map<string, Promise<EmbedTexts>>();
  return {
    space,
    ...(dimension !== undefined && { dimension }),
    maxInputTokens: withoutPrefix(folder, { maxInputTokens, queryPrefix, documentPrefix, tokens }),
    maxBatchTexts: defaultMaxBatchTexts,
    tokens,
    embed: async (texts, { purpose, signal = new AbortController().signal } = {}) => {
      const prefix = purpose === "query" ? queryPrefix : documentPrefix;
      const embedTexts = await loadedOnce(loaded, folder, () => loadEmbedding(folder));
      return { vectors: await embedTexts(prefixed(texts, prefix), signal) };
    },
  };
}

function prefixed(texts: readonly string[], prefix: string): readonly string[] {
  return prefix === "" ? texts : texts.map((text) => prefix + text);
}

/** The tokens that a model's longer prompt leaves for a text. @throws OptionsError (`config`) when that is none. */
function withoutPrefix(
  folder: string,
  { maxInputTokens, queryPrefix, documentPrefix, tokens }: Prefixes & Pick<Embedder, "maxInputTokens" | "tokens">,
): number {
  const prefixTokens = [queryPrefix, documentPrefix].map((prefix) => (prefix === "" ? 0 : tokens.count(prefix)));
  const left = maxInputTokens - Math.max(...prefixTokens);
  if (left >= 1) return left;
  throw new OptionsError("config", `${folder}: a prompt is longer than the model's ${maxInputTokens} tokens`);
}
