import type { EquivalentMutant } from "./try-mutants.js";

const scratchSize = "Only how much is encoded without a copy: the digest is the same.";

/** Mutants that do the same as the original, each with the reason. */
export const equivalentMutants: readonly EquivalentMutant[] = [
  {
    file: "src/text/blocks/lines.ts",
    line: "for (let end = at; end < text.length; end++) {",
    original: "<",
    replacement: "<=",
    reason: "Behind the last character there is no code, and so no line break.",
  },
  ...["127", "129"].map((replacement) => ({
    file: "src/text/blocks/lines.ts",
    line: "if (unit > 0x20 && (unit < 0x80 || /\\S/.test(text.charAt(at)))) return false;",
    original: "0x80",
    replacement,
    reason: "The pattern finds the same of the characters 127 and 128.",
  })),
  ...["34", "8.5"].map((replacement) => ({
    file: "src/text/chunking/chunk-identity.ts",
    line: "const scratch = Buffer.allocUnsafeSlow(1 << 17);",
    original: "17",
    replacement,
    reason: scratchSize,
  })),
  {
    file: "src/text/chunking/structure-cuts.ts",
    line: "const low = Math.max(start, beyond, block?.start ?? 0);",
    original: "?.",
    replacement: ".",
    reason: "The blocks cover the text, so there is one at every place in it.",
  },
  {
    file: "src/text/chunking/structure-cuts.ts",
    line: "const point = points[upperBound(points, Math.max(low, back) - 1)] ?? Infinity;",
    original: "points[upperBound(points, Math.max(low, back) - 1)] ?? Infinity",
    replacement: "points[upperBound(points, Math.max(low, back) - 1)]",
    reason: "What is undefined is as little below another number as infinity is; the types do not take it.",
  },
  {
    file: "src/text/chunking/token-index.ts",
    line: "const through = end <= 0 ? 0 : this.#through(this.#pieceAt(end - 1));",
    original: "<=",
    replacement: "<",
    reason: "From the beginning of the text there is nothing to go back over, whatever the tokens: the answer is 0.",
  },
  {
    file: "src/text/prompt/prompt-tags.ts",
    line: 'return ` ${name}="${value.replace(/[&"<>\\n\\r]/gu, (character) => entities[character] ?? character)}"`;',
    original: "entities[character] ?? character",
    replacement: "entities[character]",
    reason: "The pattern finds only characters that the table has; the types do not know it.",
  },
];
