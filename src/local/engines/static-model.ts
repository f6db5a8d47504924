import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { readFile } from "node:fs/promises";
import { OptionsError } from "../../core/errors.js";
import type { TokenCounter } from "../../core/ports.js";
import { modelTokenizer } from "../../text/tokens/model-tokenizer.js";
import { TokenizerDefinition } from "../../text/tokens/separable-words.js";
import { WordIds } from "../../text/tokens/word-ids.js";
import { parsedJson, prefixesOf, type Prefixes } from "./model-files.js";
import { pauses } from "./pause.js";
import { openTensors, type StoredTensor } from "./static/safetensors.js";
import { readDefinition, type StaticLayout } from "./static-layout.js";
import { TokenRows } from "./static/token-rows.js";

/** Longest text that is worth one mean, in tokens: nothing in the model limits it. */
const maxInputTokens = 8192;

/** A static embedding model, in memory. */
export interface StaticModel extends Prefixes {
  /** Hash of all that the vectors depend on: the same model in two folders makes vectors of one space. */
  readonly space: string;
  readonly dimension: number;
  readonly maxInputTokens: number;
  readonly tokens: TokenCounter;
  /** The vector of one text, without a prefix. */
  readonly embed: (text: string) => Float32Array;
}

/**
 * Reads a static embedding model into memory: the table of its rows as the file has it, and its tokenizer.
 *
 * @throws OptionsError `missing-package` without `@huggingface/tokenizers`, `config` or `options` for a damaged file.
 */
export async function loadStaticModel(folder: string, layout: StaticLayout): Promise<StaticModel> {
  const { tensorFile, tokenizerFile, tensor, normalizes } = layout;
  const written = await readDefinition(tokenizerFile);
  const settings = await readFile(join(dirname(tokenizerFile), "tokenizer_config.json"), "utf8").catch(() => "{}");
  const tokenizer = await modelTokenizer(tokenizerFile, written, settings);
  const definition = parsedJson(tokenizerFile, TokenizerDefinition, written);
  const hash = createHash("sha256")
    .update(JSON.stringify([tensor, normalizes]))
    .update(written)
    .update(settings);
  const rows = await readRows(tensorFile, tensor, (stored, name) => {
    hash.update(`${name} ${stored.type} ${stored.shape.join(" ")}`).update(bytesOf(stored));
  });
  const prefixes = await prefixesOf(folder);
  hash.update(JSON.stringify(prefixes));
  const largest = largestId(definition);
  if (largest >= rows.tokens) {
    throw new OptionsError(
      "config",
      `${tensorFile} has rows for ${rows.tokens} tokens, and ${tokenizerFile} has one with the id ${largest}`,
    );
  }
  const digest = hash.digest("hex").slice(0, 16);
  const ids = new WordIds(tokenizer, definition);
  const limit = Math.min(definition.truncation?.max_length ?? maxInputTokens, maxInputTokens);
  return {
    space: `static-embedding@${digest}`,
    dimension: rows.dimension,
    maxInputTokens: limit,
    ...prefixes,
    tokens: {
      name: `static-embedding ${digest}`,
      count: (text) => ids.count(text),
      measure: (text) => ids.measure(text),
    },
    embed: meanOf(ids, rows, {
      normalizes,
      limit: definition.truncation?.max_length ?? Infinity,
      // Model2Vec leaves out what it does not know, sentence-transformers takes the row of the unknown token.
      leftOut: tensor === "embeddings" ? unknownId(definition) : undefined,
    }),
  };
}

async function readRows(
  path: string,
  tensor: StaticLayout["tensor"],
  visit: (stored: StoredTensor, name: string) => void,
): Promise<TokenRows> {
  const file = await openTensors(path);
  const read = async (name: string) => {
    const stored = await file.read(name);
    visit(stored, name);
    return stored;
  };
  const ifThere = (name: string) => (tensor === "embeddings" && file.names.includes(name) ? read(name) : undefined);
  try {
    const rows = await read(tensor);
    return new TokenRows(path, { rows, weights: await ifThere("weights"), mapping: await ifThere("mapping") });
  } finally {
    await file.close();
  }
}

function bytesOf({ numbers }: StoredTensor): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** Embeds one text after the other, and lets the event loop run meanwhile. */
export function embedEach({
  embed,
}: Pick<StaticModel, "embed">): (texts: readonly string[], signal: AbortSignal) => Promise<readonly Float32Array[]> {
  return async (texts, signal) => {
    const pause = pauses(signal);
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      vectors.push(embed(text));
      await pause();
    }
    return vectors;
  };
}

interface MeanRules {
  readonly normalizes: boolean;
  /** Maximum tokens of a text that are read. */
  readonly limit: number;
  /** Id of the token that is left out of the mean. */
  readonly leftOut: number | undefined;
}

function meanOf(ids: WordIds, rows: TokenRows, { normalizes, limit, leftOut }: MeanRules): StaticModel["embed"] {
  const sums = new Float64Array(rows.dimension);
  let ofNothing: Float32Array | undefined;
  return (text) => {
    let read = 0;
    let count = 0;
    sums.fill(0);
    ids.scan(text, (found) => {
      const within = read + found.length <= limit ? found : found.slice(0, limit - read);
      read += within.length;
      const counted =
        leftOut !== undefined && within.includes(leftOut) ? within.filter((id) => id !== leftOut) : within;
      count += counted.length;
      rows.add(counted, sums);
    });
    const length = lengthOf(sums);
    // A vector of zeros has no direction, and no store takes it.
    if (length === 0) return (ofNothing ??= vectorOfNothing(rows)).slice();
    return scaled(sums, 1 / (normalizes ? length : count));
  };
}

function lengthOf(sums: Float64Array): number {
  let squared = 0;
  for (let index = 0; index < sums.length; index++) squared += sums[index]! * sums[index]!;
  return Math.sqrt(squared);
}

function scaled(sums: Float64Array, scale: number): Float32Array {
  const vector = new Float32Array(sums.length);
  for (let index = 0; index < sums.length; index++) vector[index] = sums[index]! * scale;
  return vector;
}

/** Stands for texts without a known token: the mean of all tokens, which is as near to one text as to another. */
function vectorOfNothing(rows: TokenRows): Float32Array {
  const sums = new Float64Array(rows.dimension);
  for (let id = 0; id < rows.tokens; id++) rows.add([id], sums);
  const length = lengthOf(sums);
  if (length > 0) return scaled(sums, 1 / length);
  const vector = new Float32Array(rows.dimension);
  vector[0] = 1;
  return vector;
}

function unknownId({ model, added_tokens: added }: TokenizerDefinition): number | undefined {
  const { unk_token: unknown, vocab } = model;
  if (typeof unknown !== "string" || Array.isArray(vocab)) return undefined;
  return vocab[unknown] ?? added.find(({ content }) => content === unknown)?.id;
}

function largestId({ model: { vocab }, added_tokens: added }: TokenizerDefinition): number {
  let largest = Array.isArray(vocab) ? vocab.length - 1 : 0;
  if (!Array.isArray(vocab)) for (const id of Object.values(vocab)) largest = Math.max(largest, id);
  return added.reduce((most, { id }) => Math.max(most, id), largest);
}
