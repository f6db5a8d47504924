import { expect, test } from "vitest";
import {
  answer,
  condense,
  diversify,
  embedChunks,
  embedQuestion,
  hyde,
  multiQuery,
  rerank,
  search,
  searchTool,
  skipKnown,
  store,
  widen,
} from "citewell";

const stages = {
  answer,
  condense,
  diversify,
  embedChunks,
  embedQuestion,
  hyde,
  multiQuery,
  rerank,
  search,
  searchTool,
  skipKnown,
  store,
  widen,
} as unknown as Readonly<Record<string, (port: unknown) => unknown>>;

test.each(Object.keys(stages))("%s refuses what is no port when it is made, not when the first item comes", (name) => {
  for (const given of [undefined, null, "a-model", {}, () => {}]) {
    const act = () => stages[name]!(given);
    expect(act).toThrow(new RegExp(`^${name}: (embedder|reranker|chatModel|store): must be an? .* \\(got `));
  }
});
