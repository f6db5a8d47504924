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
];

const stages = new Map<string, unknown>(Object.entries(citewell));

test.each(names)("%s refuses what is no port when it is made, not when the first item comes", (name) => {
  for (const given of [undefined, null, "a-model", {}, () => {}]) {
    const act = () => (stages.get(name) as (port: unknown) => unknown)(given);
    expect(act).toThrow(new RegExp(`^${name}: (embedder|reranker|chatModel|store): must be an? .* \\(got `));
  }
});
