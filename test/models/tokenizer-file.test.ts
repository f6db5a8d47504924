import * as fc from "fast-check";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { OptionsError } from "../../src/core/errors.js";
import { tokenizerFile } from "../../src/models/tokenizer-file.js";
import type { TokenCounter } from "../../src/core/ports.js";
import { split } from "../../src/text/chunking/split.js";
import { TokenIndex } from "../../src/text/chunking/token-index.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { chunkProblems } from "../text/chunking/chunk-problems.js";
import { hostileText } from "../text/hostile-text.js";

const special = ["[UNK]", "[CLS]", "[SEP]"].map((content, id) => ({
  id,
  content,
  special: true,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
}));
const around = {
  type: "TemplateProcessing",
  single: [
    { SpecialToken: { id: "[CLS]", type_id: 0 } },
    { Sequence: { id: "A", type_id: 0 } },
    { SpecialToken: { id: "[SEP]", type_id: 0 } },
  ],
  pair: [],
  special_tokens: {
    "[CLS]": { id: "[CLS]", ids: [1], tokens: ["[CLS]"] },
    "[SEP]": { id: "[SEP]", ids: [2], tokens: ["[SEP]"] },
  },
};
const vocabulary = (...words: readonly string[]) =>
  Object.fromEntries(["[UNK]", "[CLS]", "[SEP]", ...words].map((word, id) => [word, id]));
const letters = "abcdefghijklmnopqrstuvwxyz".split("");

const bare = { version: "1.0", normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
const wordPiece = {
  ...bare,
  added_tokens: special,
  normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, lowercase: true },
  pre_tokenizer: { type: "BertPreTokenizer" },
  post_processor: around,
  model: {
    type: "WordPiece",
    unk_token: "[UNK]",
    continuing_subword_prefix: "##",
    max_input_chars_per_word: 100,
    vocab: vocabulary("the", "cat", "##s", ".", ...letters, ...letters.map((letter) => `##${letter}`)),
  },
};
const wholeWords = {
  ...wordPiece,
  pre_tokenizer: { type: "Whitespace" },
  model: { type: "WordLevel", unk_token: "[UNK]", vocab: vocabulary("the", "cat") },
};
const bytePairs = {
  ...bare,
  added_tokens: [],
  pre_tokenizer: { type: "Whitespace" },
  model: {
    type: "BPE",
    vocab: Object.fromEntries([...letters, "ca", "cat"].map((word, id) => [word, id])),
    merges: ["c a", "ca t"],
  },
};

async function counterOf(definition: object): Promise<TokenCounter> {
  const folder = await temporaryFolder({ "tokenizer.json": JSON.stringify(definition) });
  return tokenizerFile(join(folder, "tokenizer.json"));
}

describe("the counter of a tokenizer.json", () => {
  test.each([
    ["word pieces, with [CLS] and [SEP]", wordPiece, "The cats.", 2 + 4],
    ["word pieces of an unknown word", wordPiece, "catx 漢", 2 + 3],
    ["an empty text", wordPiece, "", 2],
    ["whole words, unknown ones as one", wholeWords, "the cats sat the", 2 + 4],
    ["byte pairs without special tokens", bytePairs, "cat cab", 1 + 2],
  ])("counts %s", async (_, definition, text, count) => {
    expect((await counterOf(definition)).count(text)).toBe(count);
  });

  test("has a name of its own for each vocabulary", async () => {
    const [one, same, other] = await Promise.all([wordPiece, wordPiece, bytePairs].map((each) => counterOf(each)));
    expect(one!.name).toBe(same!.name);
    expect(one!.name).not.toBe(other!.name);
  });

  test("measures every text to its end, as many tokens as counting its words one by one", async () => {
    const counter = await counterOf(wordPiece);
    const specials = counter.count("");
    fc.assert(
      fc.property(fc.array(fc.constantFrom("the", "cats.", "x", "漢字", "Cat"), { minLength: 1 }), (parts) => {
        const text = parts.join(" ");
        const slow = parts.reduce((sum, part) => sum + counter.count(part) - specials, 0);
        expect(TokenIndex.of(text, counter).between(0, text.length)).toBe(slow);
        expect(counter.count(text)).toBe(slow + specials);
      }),
    );
  });

  test("keeps chunks of any text within the limit, special tokens included", async () => {
    const counter = await counterOf(wordPiece);
    fc.assert(
      fc.property(hostileText(80), fc.integer({ min: 16, max: 40 }), (text, maxTokens) => {
        const options = { maxTokens, overlapTokens: 4, tokens: counter };
        const document = { uri: "memo:1", text, title: "The cats", mediaType: "text/markdown" };
        expect(chunkProblems(document, options, [...split(document, options)])).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test("counts a run without a break in parts, in bounded time", async () => {
    const counter = await counterOf(bytePairs);
    expect(counter.count("cat".repeat(20_000))).toBeGreaterThanOrEqual(20_000);
  });
});

test("a file that is not there, no JSON or no tokenizer is refused with its path", async () => {
  const path = join(await temporaryFolder({}), "tokenizer.json");
  await expect(tokenizerFile(path)).rejects.toThrow(OptionsError);
  await expect(tokenizerFile(path)).rejects.toThrow(path);
  for (const content of ["no json", "{}"]) {
    writeFileSync(path, content);
    await expect(tokenizerFile(path)).rejects.toThrow(`${path} is no tokenizer.json`);
  }
});
