import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asError, OptionsError } from "../core/errors.js";
import type { TokenCounter, TokenMeasure } from "../core/ports.js";

type Tokenizers = typeof import("@huggingface/tokenizers");
type Tokenizer = InstanceType<Tokenizers["Tokenizer"]>;

/** Merging within a word takes quadratic time, so runs without white space are counted in parts of this many units. */
const maxRun = 1_000;
const longRun = new RegExp(`\\S{${maxRun + 1}}`, "u");
const runParts = new RegExp(`\\s+|\\S{1,${maxRun}}`, "gu");
const words = /\s{0,40}\S{1,40}|\s{1,40}/gu;
/** Maximum number of words whose counts are cached. */
const maxWords = 65_536;

// In a variable, so that the package is loaded only when a tokenizer is wanted.
const packageName = "@huggingface/tokenizers";

/**
 * Counts tokens as a model's own `tokenizer.json` does, with the special tokens that it puts around a text; reads
 * `tokenizer_config.json` as well when it lies beside it. Needs the optional package `@huggingface/tokenizers`. Exact
 * except in runs of more than 1,000 characters without white space, which are counted in parts. Much slower than
 * `defaultTokens`.
 *
 * @param path Path of the file that is published with a model.
 * @throws OptionsError `missing-package` without the package, `options` for a file that cannot be read or is no tokenizer.
 */
export async function tokenizerFile(path: string): Promise<TokenCounter> {
  const { Tokenizer } = await loadTokenizers();
  const definition = await readText(path);
  const settings = await readText(join(dirname(path), "tokenizer_config.json")).catch(() => "{}");
  try {
    const tokenizer = new Tokenizer(JSON.parse(definition) as object, JSON.parse(settings) as object);
    tokenizer.encode("a");
    const digest = createHash("sha256").update(definition).digest("hex").slice(0, 16);
    return counterOf(tokenizer, `tokenizer.json ${digest}`);
  } catch (cause) {
    const problem = asError(cause).message;
    throw new OptionsError("options", `tokenizerFile: ${path} is no tokenizer.json that can be used: ${problem}`, {
      cause,
    });
  }
}

async function loadTokenizers(): Promise<Tokenizers> {
  try {
    return (await import(packageName)) as Tokenizers;
  } catch (cause) {
    throw new OptionsError(
      "missing-package",
      `tokenizerFile needs the package ${packageName}, which cannot be loaded. Install it: npm install ${packageName}`,
      { cause },
    );
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new OptionsError("options", `tokenizerFile: ${path} cannot be read`, { cause });
  }
}

function counterOf(tokenizer: Tokenizer, name: string): TokenCounter {
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
