import { createRequire } from "node:module";
import { loadPeer } from "./peers.js";

/** Texts of the chunks of a text. */
export type SplitTexts = (text: string) => Promise<readonly string[]> | readonly string[];

export interface PeerSplitter {
  readonly name: string;
  /** Media types that a user would choose it for. */
  readonly mediaTypes: readonly string[];
  /** Sizes are in tokens of cl100k_base, as the plain tokenizer counts them. */
  readonly ofSize: (maxTokens: number, overlapTokens: number) => SplitTexts;
}

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

const require = createRequire(import.meta.url);
const vocabulary = require("gpt-tokenizer/encoding/cl100k_base") as typeof import("gpt-tokenizer/encoding/cl100k_base");
const plainText = { disallowedSpecial: new Set<string>() };

/** One plain pass of the tokenizer that all splitters count with. */
export const plainCount = (text: string): number => vocabulary.countTokens(text, plainText);

/** The splitters of the peers that are installed. */
export async function peerSplitters(): Promise<readonly PeerSplitter[]> {
  const langChain = await loadPeer<LangChain>("@langchain/textsplitters");
  const llamaIndex = await loadPeer<LlamaIndex>("@llamaindex/core/node-parser");
  const found: PeerSplitter[] = [];
  if (langChain) {
    const { RecursiveCharacterTextSplitter, MarkdownTextSplitter } = langChain;
    const ofSize = (Splitter: LangChainSplitter) => (chunkSize: number, chunkOverlap: number) => {
      const splitter = new Splitter({ chunkSize, chunkOverlap, lengthFunction: plainCount });
      return (text: string) => splitter.splitText(text);
    };
    found.push(
      {
        name: "LangChain.js RecursiveCharacterTextSplitter",
        mediaTypes: ["text/plain", "text/markdown"],
        ofSize: ofSize(RecursiveCharacterTextSplitter),
      },
      {
        name: "LangChain.js MarkdownTextSplitter",
        mediaTypes: ["text/markdown"],
        ofSize: ofSize(MarkdownTextSplitter),
      },
    );
  }
  if (llamaIndex) {
    const tokenizer = {
      encode: (text: string) => Uint32Array.from(vocabulary.encode(text, plainText)),
      decode: (tokens: Uint32Array) => vocabulary.decode([...tokens]),
    };
    found.push({
      name: "LlamaIndexTS SentenceSplitter",
      mediaTypes: ["text/plain", "text/markdown"],
      ofSize: (chunkSize, chunkOverlap) => {
        const splitter = new llamaIndex.SentenceSplitter({ chunkSize, chunkOverlap, tokenizer });
        return (text) => splitter.splitText(text);
      },
    });
  }
  return found;
}
