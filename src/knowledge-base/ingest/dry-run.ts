import type { Embedder } from "../../core/ports.js";
import type { RunStore } from "./run-store.js";

/** A store that answers changes as if they were made, and makes none. */
export function dryRunStore(store: RunStore): RunStore {
  return {
    ...store,
    write: ({ documents = [] }) =>
      Promise.all(
        documents.map(async ({ document: { uri }, chunks }) => {
          const stored = await store.documentInfo(uri);
          const deletedChunks = Math.max(0, (stored?.chunks ?? 0) - chunks.length);
          return {
            uri,
            outcome: stored ? ("updated" as const) : ("added" as const),
            chunks: chunks.length,
            deletedChunks,
          };
        }),
      ),
    deleteDocuments: async (uris) => {
      const stored = await Promise.all(uris.map((uri) => store.documentInfo(uri)));
      const there = stored.filter((info) => info !== undefined);
      return { documents: there.length, chunks: there.reduce((sum, { chunks }) => sum + chunks, 0) };
    },
  };
}

/** An embedder that sends nothing: every text has as many tokens as we count, and the same vector as any other. */
export function dryRunEmbedder<Space extends string>(embedder: Embedder<Space>): Embedder<Space> {
  // Copy the fields by name: a spread would not copy the getters of a class.
  const { space, maxInputTokens, maxBatchTexts, maxBatchTokens, tokens } = embedder;
  return {
    space,
    maxInputTokens,
    maxBatchTexts,
    ...(maxBatchTokens !== undefined && { maxBatchTokens }),
    tokens,
    embed: async (texts, { countedTokens } = {}) => ({
      vectors: texts.map(() => new Float32Array([1])),
      tokens: countedTokens ?? texts.reduce((sum, text) => sum + tokens.count(text), 0),
    }),
  };
}
