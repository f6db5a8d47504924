import { createRequire } from "node:module";
import type { Contender } from "../runner/benchmark.js";
import { loadPeer } from "../runner/packages.js";

/** Texts of the chunks of a text. */
export type SplitText = (text: string) => Promise<readonly string[]> | readonly string[];

/** Sizes are in tokens of cl100k_base, as the plain tokenizer counts them. */
export type SplitterOfSize = (maxTokens: number, overlapTokens: number) => SplitText;

interface LangChainOptions {
  readonly chunkSize: number;
  readonly chunkOverlap: number;
  readonly lengthFunction: (text: string) => number;
}
type LangChainSplitter = new (options: LangChainOptions) => { splitText(text: string): Promise<string[]> };

interface LangChain {
  readonly RecursiveCharacterTextSplitter: LangChainSplitter;
  readonly MarkdownTextSplitter: LangChainSplitter;
}
interface LlamaIndex {
  readonly SentenceSplitter: new (options: {
    readonly chunkSize: number;
    readonly chunkOverlap: number;
    readonly tokenizer: { encode(text: string): Uint32Array; decode(tokens: Uint32Array): string };
  }) => { splitText(text: string): string[] };
}
interface Mastra {
  readonly MDocument: {
    fromText(text: string): {
      chunk(options: {
        readonly strategy: "recursive";
        readonly maxSize: number;
        readonly overlap: number;
        readonly lengthFunction: (text: string) => number;
      }): Promise<readonly { readonly text: string }[]>;
    };
  };
}

const require = createRequire(import.meta.url);
const vocabulary = require("gpt-tokenizer/encoding/cl100k_base") as typeof import("gpt-tokenizer/encoding/cl100k_base");
const plainText = { disallowedSpecial: new Set<string>() };

/** One plain pass of the tokenizer that all splitters count with. */
export const plainCount = (text: string): number => vocabulary.countTokens(text, plainText);

function langChain(name: keyof LangChain): Contender<SplitterOfSize> {
  return {
    name: `LangChain.js ${name}`,
    kind: "peer",
    packages: ["@langchain/textsplitters"],
    load: async () => {
      const { [name]: Splitter } = await loadPeer<LangChain>("@langchain/textsplitters");
      return (chunkSize, chunkOverlap) => {
        const splitter = new Splitter({ chunkSize, chunkOverlap, lengthFunction: plainCount });
        return (text) => splitter.splitText(text);
      };
    },
  };
}

/** Splitters of other libraries, with the same tokenizer, chunk size and overlap. */
export const peerSplitters = {
  langChainRecursive: langChain("RecursiveCharacterTextSplitter"),
  langChainMarkdown: langChain("MarkdownTextSplitter"),
  llamaIndex: {
    name: "LlamaIndexTS SentenceSplitter",
    kind: "peer",
    packages: ["@llamaindex/core"],
    load: async () => {
      const { SentenceSplitter } = await loadPeer<LlamaIndex>("@llamaindex/core/node-parser");
      const tokenizer = {
        encode: (text: string) => Uint32Array.from(vocabulary.encode(text, plainText)),
        decode: (tokens: Uint32Array) => vocabulary.decode([...tokens]),
      };
      return (chunkSize, chunkOverlap) => {
        const splitter = new SentenceSplitter({ chunkSize, chunkOverlap, tokenizer });
        return (text) => splitter.splitText(text);
      };
    },
  },
  mastra: {
    name: "Mastra recursive",
    kind: "peer",
    packages: ["@mastra/rag"],
    load: async () => {
      const { MDocument } = await loadPeer<Mastra>("@mastra/rag");
      return (maxSize, overlap) => async (text) => {
        const options = { strategy: "recursive", maxSize, overlap, lengthFunction: plainCount } as const;
        return (await MDocument.fromText(text).chunk(options)).map((chunk) => chunk.text);
      };
    },
  },
} satisfies Record<string, Contender<SplitterOfSize>>;
