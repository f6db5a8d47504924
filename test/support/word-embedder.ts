import type { EmbedCall, Embedder } from "../../src/core/ports.js";
import { words } from "./memory-store.js";

export interface WordEmbedder extends Embedder<"words"> {
  /** The texts of every call, in the order of the calls. */
  readonly calls: readonly (readonly string[])[];
}

interface Behaviour extends Partial<Pick<Embedder, "maxBatchTexts" | "maxBatchTokens" | "maxInputTokens">> {
  /** Runs before a call is answered; the call fails with the error that it throws. */
  readonly before?: (texts: readonly string[], call: EmbedCall, index: number) => void | Promise<void>;
}

/** Embeds a text as counts of its words, hashed to 64 dimensions: texts with the same words are neighbours. */
export function wordEmbedder({ before, ...limits }: Behaviour = {}): WordEmbedder {
  const calls: (readonly string[])[] = [];
  const count = (text: string) => words(text).length;
  return {
    space: "words",
    dimension: 64,
    maxInputTokens: 512,
    maxBatchTexts: 32,
    ...limits,
    tokens: { name: "words", count },
    calls,
    embed: async (texts, call = {}) => {
      calls.push(texts);
      await before?.(texts, call, calls.length - 1);
      return { vectors: texts.map(wordVector), tokens: texts.reduce((sum, text) => sum + count(text), 0) };
    },
  };
}

export function wordVector(text: string): Float32Array {
  const vector = new Float32Array(64);
  for (const word of words(text)) {
    const place = word.split("").reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) % 64, 7);
    vector[place] = vector[place]! + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
