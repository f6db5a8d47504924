import { chunk, createTransport, type Document, type Embedder, embedder, Pipeline } from "citewell";
import { localDefaults, startLocalService } from "citewell/local";
import type { Span } from "../../src/core/types.js";
import type { Contender } from "../runner/benchmark.js";
import { peerSplitters, type SplitterOfSize } from "../shared/peer-splitters.js";
import { locatedSpans } from "./located-spans.js";

/** A chunk in its text, and the longer span that is read instead when it is found. */
export type CutSpan = Span & { readonly parent?: Span };

export interface SpanSplitter {
  /** Whether the parents of chunks are read instead of the chunks. */
  readonly readsParents: boolean;
  /** Sizes are in tokens of cl100k_base. */
  readonly ofSize: (maxTokens: number, overlapTokens: number) => (text: string) => Promise<readonly CutSpan[]>;
}

const { langChainRecursive, llamaIndex, mastra } = peerSplitters;

/** Our strategies, and the peers' splitters of plain text. */
export const spanSplitters: readonly Contender<SpanSplitter>[] = [
  ours("structure"),
  ours("fixed"),
  ours("sentence-window"),
  ours("sentence-window", true),
  ours("semantic"),
  ...[langChainRecursive, llamaIndex, mastra].map(located),
];

function ours(
  strategy: "structure" | "fixed" | "sentence-window" | "semantic",
  readsParents = false,
): Contender<SpanSplitter> {
  return {
    name: `citewell, ${strategy}${readsParents ? ", parents read" : ""}`,
    kind: "citewell",
    load: async () => {
      const comparing = strategy === "semantic" ? { embedder: await localEmbedder() } : {};
      return {
        readsParents,
        ofSize: (maxTokens, overlapTokens) => {
          const cut = chunk({ maxTokens, overlapTokens, parentTokens: 1024, strategy, ...comparing });
          const flow = Pipeline.from<Document>().pipe(cut);
          return async (text) => {
            const spans: CutSpan[] = [];
            for await (const each of flow.stream([{ uri: "memo:1", text }])) spans.push(each);
            return spans;
          };
        },
      };
    },
  };
}

async function localEmbedder(): Promise<Embedder> {
  const service = await startLocalService();
  const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  return embedder(transport, { model: localDefaults.embedding });
}

/** The places of a peer's chunks. Those that cannot be found cannot be cited either, and hold no answer. */
function located({ load, ...peer }: Contender<SplitterOfSize>): Contender<SpanSplitter> {
  return {
    ...peer,
    load: async () => {
      const ofSize = await load();
      return {
        readsParents: false,
        ofSize: (maxTokens, overlapTokens) => {
          const split = ofSize(maxTokens, overlapTokens);
          return async (text) => locatedSpans(text, await split(text));
        },
      };
    },
  };
}
