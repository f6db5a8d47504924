import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { Document } from "../../../src/core/types.js";
import { split, type Strategy } from "../../../src/text/chunking/split.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";
import { MadeText } from "./made-texts.js";

const options = [
  { maxTokens: 32, overlapTokens: 8, parentTokens: 96 },
  { maxTokens: 96, overlapTokens: 16, parentTokens: 400 },
  { maxTokens: 384, overlapTokens: 32, parentTokens: 1024 },
];
const strategies: readonly Strategy[] = ["structure", "fixed", "sentence-window"];

/** One line a way of cutting: how many chunks, and a digest of their places, contexts and parents. */
function cuts(document: Document): string[] {
  return strategies.flatMap((strategy) =>
    options.map((limits) => {
      const chunks = [...split(document, { ...limits, tokens: defaultTokens }, strategy)];
      const places = chunks.map(({ start, end, context, tokens, parent }) => [start, end, context, tokens, parent]);
      const digest = createHash("sha256").update(JSON.stringify(places)).digest("hex").slice(0, 12);
      return `${strategy} ${limits.maxTokens}: ${chunks.length} chunks, ${digest}`;
    }),
  );
}

const seeds = Array.from({ length: 12 }, (_, seed) => seed);

// Where this fails on purpose, say so in the changelog and write the new cuts with `vitest run … -u`.
test.each([
  ["Markdown", "text/markdown", (made: MadeText) => made.markdown(24)],
  ["plain text", "text/plain", (made: MadeText) => made.plain(12)],
  ["source code", "text/x-python", (made: MadeText) => made.code(12)],
] as const)("%s is cut as in the version before: whoever upgrades embeds nothing again", async (_, mediaType, make) => {
  const lines = seeds.flatMap((seed) => {
    const document = { uri: "memo:1", title: "Guide", text: make(new MadeText(seed)), mediaType };
    return cuts(document).map((cut) => `${seed} ${cut}`);
  });
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(
    `../../fixtures/chunks/${mediaType.replace(/^text\/(?:x-)?/, "")}.txt`,
  );
});
