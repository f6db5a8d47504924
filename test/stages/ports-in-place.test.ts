import { expect, test } from "vitest";
import * as citewell from "citewell";

const names = [
  "answer",
  "condense",
  "diversify",
  "embedChunks",
  "embedQuestion",
  "hyde",
  "multiQuery",
  "rerank",
  "search",
  "searchTool",
  "skipKnown",
  "store",
  "widen",
] as const;

test.each(names)("%s refuses what is no port when it is made, not when the first item comes", (name) => {
  for (const given of [undefined, null, "a-model", {}, () => {}]) {
    const act = () => citewell[name](given as never);
    expect(act).toThrow(new RegExp(`^${name}: (embedder|reranker|chatModel|store): must be an? .* \\(got `));
  }
});
