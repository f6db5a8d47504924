import { expect, test } from "vitest";
import type { Embedder, EmbedCall } from "../../src/ports.js";
import { withEmbed } from "../../src/stages/with-embed.js";
import { defaultTokens } from "../../src/text/tokens.js";

/** As somebody may write one: nothing of it is a field of its own that a spread would copy. */
class Learning implements Embedder<"learning"> {
  #seen = 1;
  get space(): "learning" {
    return "learning";
  }
  get dimension(): number {
    return 3;
  }
  get maxInputTokens(): number {
    return 512;
  }
  get maxBatchTexts(): number {
    return 4;
  }
  get tokens(): typeof defaultTokens {
    return defaultTokens;
  }
  get tokenMargin(): number {
    return this.#seen;
  }
  async embed(texts: readonly string[], _call?: EmbedCall): ReturnType<Embedder["embed"]> {
    this.#seen += 0.5;
    return { vectors: texts.map(() => new Float32Array(3).fill(1)), tokens: texts.length };
  }
}

test("an embedder of a class keeps its limits, and what it learns is seen through the one that calls otherwise", async () => {
  const learning = new Learning();
  const calls: (readonly string[])[] = [];
  const noted = withEmbed(learning, (texts, call) => {
    calls.push(texts);
    return learning.embed(texts, call);
  });
  const { space, dimension, maxInputTokens, maxBatchTexts, maxBatchTokens, tokens } = noted;
  expect({ space, dimension, maxInputTokens, maxBatchTexts, maxBatchTokens }).toEqual({
    space: "learning",
    dimension: 3,
    maxInputTokens: 512,
    maxBatchTexts: 4,
    maxBatchTokens: undefined,
  });
  expect(tokens).toBe(defaultTokens);
  expect(noted.tokenMargin).toBe(1);
  await noted.embed(["one", "two"]);
  expect(noted.tokenMargin).toBe(1.5);
  expect(calls).toEqual([["one", "two"]]);
});
