import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { OptionsError } from "../core/errors.js";
import type { TokenCounter, TokenMeasure } from "../core/ports.js";
import { modelTokenizer, type ModelTokenizer } from "../text/tokens/model-tokenizer.js";

/** Merging within a word takes quadratic time, so runs without white space are counted in parts of this many units. */
const maxRun = 1_000;
const longRun = new RegExp(`\\S{${maxRun + 1}}`, "u");
const runParts = new RegExp(`\\s+|\\S{1,${maxRun}}`, "gu");
const words = /\s{0,40}\S{1,40}|\s{1,40}/gu;
/** Maximum number of words whose counts are cached. */
const maxWords = 65_536;

/**
 * Counts tokens as a model's own `tokenizer.json` does, with the special tokens that it puts around a text; reads
 * `tokenizer_config.json` as well when it lies beside it. Needs the optional package `@huggingface/tokenizers`. Exact
 * except in runs of more than 1,000 characters without white space, which are counted in parts. Much slower than
 * `defaultTokens`.
 *
 * @param path Path of the file that is published with a model.
 * @throws OptionsError `missing-package` without the package, `options` for a file that cannot be read or is no tokenizer.
 * @example
 * ```ts
 * import { createTransport, embedder, tokenizerFile } from "citewell";
 * const transport = createTransport({ baseUrl: "https://api.example.com/v1", apiKey: "…" });
 * const tokens = await tokenizerFile("./models/bge-m3/tokenizer.json");
 * const embed = embedder(transport, { model: "BAAI/bge-m3", tokens });
 * ```
 */
export async function tokenizerFile(path: string): Promise<TokenCounter> {
  const definition = await readText(path);
  const settings = await readText(join(dirname(path), "tokenizer_config.json")).catch(() => "{}");
  const tokenizer = await modelTokenizer(path, definition, settings);
  const digest = createHash("sha256").update(definition).digest("hex").slice(0, 16);
  return counterOf(tokenizer, `tokenizer.json ${digest}`);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new OptionsError("options", `tokenizerFile: ${path} cannot be read`, { cause });
  }
}

function counterOf(tokenizer: ModelTokenizer, name: string): TokenCounter {
  const plainCount = (text: string) => tokenizer.encode(text, { add_special_tokens: false }).ids.length;
  const specials = tokenizer.encode("a").ids.length - plainCount("a");
  const remembered = new Map<string, number>();

  const countWord = (word: string) => {
    const known = remembered.get(word);
    if (known !== undefined) return known;
    const count = plainCount(word);
    if (remembered.size >= maxWords) remembered.clear();
    remembered.set(word, count);
    return count;
  };
  return {
    name,
    count: (text) => {
      if (!longRun.test(text)) return specials + plainCount(text);
      return (text.match(runParts) ?? []).reduce((sum, part) => sum + plainCount(part), specials);
    },
    measure: (text) => measureWords(text, countWord),
  };
}

function measureWords(text: string, countWord: (word: string) => number): TokenMeasure {
  const ends: number[] = [];
  const tokens: number[] = [];
  let total = 0;
  for (const { 0: word, index } of text.matchAll(words)) {
    total += countWord(word);
    ends.push(index + word.length);
    tokens.push(total);
  }
  return { ends: Uint32Array.from(ends), tokens: Uint32Array.from(tokens) };
}
