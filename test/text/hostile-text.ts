import * as fc from "fast-check";

/** Bits of text that break naive splitting and counting. */
const oddities = [
  "<|endoftext|>",
  "<|im_start|>",
  "\r\n",
  "\n\n",
  "\t",
  "   ",
  "\u3000",
  "\ufeff",
  "\u2028",
  "\ud800",
  "\udc00",
  "\u0000",
  "👩‍👩‍👧‍👦",
  "🇨🇳",
  "👍🏽",
  "e\u0301",
  "𠀀𠀁",
  "𝔘𝔫𝔦",
  "①②③",
  "don't",
  "WE'LL",
  "'sea",
  "12345",
  "C++\n\n",
  "日本語のテキスト",
  "中文句子。",
  "ภาษาไทย",
  "עברית",
  "---",
  "```",
  "~~~",
  "| a | b |",
  "|---|---|",
  "# ",
  "## Heading\n",
  "- item\n",
  "1. item\n",
  "> quote\n",
  "<div>\n",
  "Setext\n===\n",
] as const;

/** Text of words, white space, many scripts and oddities. */
export function hostileText(maxParts = 60): fc.Arbitrary<string> {
  const part = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...oddities) },
    { weight: 3, arbitrary: fc.constantFrom("the ", "quick ", "brown ", "token ", "retrieval ", "a. ", "Why? ", "\n") },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
  );
  return fc.array(part, { maxLength: maxParts }).map((parts) => parts.join(""));
}
