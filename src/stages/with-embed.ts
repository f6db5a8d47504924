import type { Embedder } from "../ports.js";

/** An embedder that calls otherwise and is the same in all else, be it an object or of a class, with what it still learns. */
export function withEmbed<Space extends string>(of: Embedder<Space>, embed: Embedder<Space>["embed"]): Embedder<Space> {
  const { space, dimension, maxInputTokens, maxBatchTexts, maxBatchTokens, tokens, price } = of;
  return {
    space,
    maxInputTokens,
    maxBatchTexts,
    tokens,
    get tokenMargin() {
      return of.tokenMargin ?? 1;
    },
    ...(dimension !== undefined && { dimension }),
    ...(maxBatchTokens !== undefined && { maxBatchTokens }),
    ...(price !== undefined && { price }),
    embed,
  };
}
