import { join } from "node:path";
import type { Embedder, TokenCounter } from "../core/ports.js";
import { OptionsError } from "../core/errors.js";
import { defaultMaxBatchTexts } from "../contract/embeddings.js";
import { describeFolderModel } from "./engines/neural/model-folder.js";
import { type EmbedTexts, loadedOnce, loadEmbedding, loadTransformers } from "./engines/neural/neural-models.js";

/**
 * The embedding model in a folder, computed in this process. Its weights are read when the first text is embedded, and stay.
 *
 * @param readTokenizer reads the model's own tokenizer: of a text beyond the model's limit the rest would be left unread.
 * @throws OptionsError `missing-package` without `@huggingface/transformers`, `config` for a folder that is no such model.
 */
export async function folderEmbedder(
  folder: string,
  readTokenizer: (path: string) => Promise<TokenCounter>,
): Promise<Embedder> {
  const { space, dimension, maxInputTokens, queryPrefix, documentPrefix } = await describeFolderModel(folder);
  const tokens = await readTokenizer(join(folder, "tokenizer.json"));
  await loadTransformers();
  const loaded = new Map<string, Promise<EmbedTexts>>();
  const prefixTokens = [queryPrefix, documentPrefix].map((prefix) => (prefix === "" ? 0 : tokens.count(prefix)));
  const left = maxInputTokens - Math.max(...prefixTokens);
  if (left < 1)
    throw new OptionsError("config", `${folder}: a prompt is longer than the model's ${maxInputTokens} tokens`);
  return {
    space,
    ...(dimension !== undefined && { dimension }),
    maxInputTokens: left,
    maxBatchTexts: defaultMaxBatchTexts,
    tokens,
    embed: async (texts, { purpose, signal = new AbortController().signal } = {}) => {
      const prefix = purpose === "query" ? queryPrefix : documentPrefix;
      const embedTexts = await loadedOnce(loaded, folder, () => loadEmbedding(folder));
      const inputs = prefix === "" ? texts : texts.map((text) => prefix + text);
      return { vectors: await embedTexts(inputs, signal) };
    },
  };
}
