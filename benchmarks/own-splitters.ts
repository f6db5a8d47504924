import { Pipeline } from "../src/core/pipeline.js";
import { chunk } from "../src/stages/indexing/chunk.js";
import { collect } from "../src/core/stream.js";
import { split } from "../src/text/chunking/split.js";
import { defaultTokens } from "../src/text/tokens/tokens.js";
import type { Chunk, Document } from "../src/core/types.js";
import { connectModels } from "../src/knowledge-base/connect-models.js";

export const ownStrategies = ["structure", "fixed", "sentence-window", "semantic"] as const;
export type OwnStrategy = (typeof ownStrategies)[number];

const parentTokens = 1024;

export interface OwnSplitter {
  readonly name: string;
  /** Whether the parents of chunks are read instead of the chunks. */
  readonly readsParents: boolean;
  /** Sizes are in tokens of cl100k_base. */
  readonly ofSize: (maxTokens: number, overlapTokens: number) => (text: string) => Promise<readonly Chunk[]>;
}

/** Our strategies; those with small chunks also with their parents. `semantic` compares with the local service. */
export async function ownSplitters(
  strategies: readonly OwnStrategy[],
): Promise<{ readonly splitters: readonly OwnSplitter[]; readonly close: () => Promise<void> }> {
  const models = strategies.includes("semantic") ? await connectModels({}) : undefined;
  const comparing = models?.embedder;
  const splitters = strategies.flatMap((strategy): OwnSplitter[] => {
    const ofSize: OwnSplitter["ofSize"] = (maxTokens, overlapTokens) => async (text) => {
      const document: Document = { uri: "memo:1", text };
      const options = { maxTokens, overlapTokens, parentTokens };
      if (strategy !== "semantic") return [...split(document, { ...options, tokens: defaultTokens }, strategy)];
      const cut = chunk({ ...options, strategy, embedder: comparing });
      return collect(Pipeline.from<Document>().pipe(cut).stream([document]));
    };
    const plain = { name: `ours, ${strategy}`, readsParents: false, ofSize };
    return strategy === "sentence-window"
      ? [plain, { name: `${plain.name}, parents read`, readsParents: true, ofSize }]
      : [plain];
  });
  return { splitters, close: async () => models?.close() };
}
