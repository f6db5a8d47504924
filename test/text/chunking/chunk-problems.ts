import type { TokenCounter } from "../../../src/core/ports.js";
import { embeddingText } from "../../../src/text/chunking/chunk-identity.js";
import { TokenIndex } from "../../../src/text/chunking/token-index.js";
import type { Chunk, Document } from "../../../src/core/types.js";

export interface Limits {
  readonly maxTokens: number;
  readonly parentTokens?: number;
  readonly tokens: TokenCounter;
}

/** Lists the problems of a text's chunks. The list must be empty for every text and all options. */
export function chunkProblems({ uri, text }: Document, options: Limits, chunks: readonly Chunk[]): string[] {
  if (text.trim() === "") return chunks.length > 0 ? ["chunks of a blank text"] : [];
  const found: string[] = [];
  const demand = (holds: boolean, problem: string) => {
    if (!holds) found.push(problem);
  };
  const index = options.parentTokens ? TokenIndex.of(text, options.tokens) : undefined;
  let start = -1;
  let end = 0;
  for (const chunk of chunks) {
    const at = `${chunk.start} to ${chunk.end}`;
    demand(text.slice(chunk.start, chunk.end) === chunk.text, `${at}: text is no slice`);
    demand(chunk.start > start && chunk.end > end, `${at}: no progress`);
    demand(chunk.start <= end, `${at}: gap before it`);
    const exact = options.tokens.count(embeddingText(chunk));
    demand(chunk.tokens === exact, `${at}: ${chunk.tokens} tokens, counted ${exact}`);
    demand(exact <= options.maxTokens, `${at}: ${exact} tokens, at most ${options.maxTokens}`);
    for (const bound of [chunk.start, chunk.end]) demand(!partsCharacter(text, bound), `${at}: parts a character`);
    demand(chunk.documentId === uri, `${at}: another document's`);
    for (const problem of parentProblems(text, index, options, chunk)) demand(false, `${at}: ${problem}`);
    ({ start, end } = chunk);
  }
  demand(chunks[0]?.start === 0, "the beginning is missing");
  demand(end === text.length, "the end is missing");
  demand(new Set(chunks.map(({ id }) => id)).size === chunks.length, "an id occurs twice");
  return found;
}

function parentProblems(
  text: string,
  index: TokenIndex | undefined,
  { parentTokens: most = 0 }: Limits,
  chunk: Chunk,
): string[] {
  const { start, end, parent } = chunk;
  if (!parent) return [];
  const found: string[] = [];
  if (parent.start > start || parent.end < end) found.push("not inside its parent");
  if (parent.start === start && parent.end === end) found.push("its own parent");
  if (parent.start < 0 || parent.end > text.length) found.push("a parent beyond the text");
  if ([parent.start, parent.end].some((bound) => partsCharacter(text, bound)))
    found.push("its parent parts a character");
  const tokens = index?.between(parent.start, parent.end) ?? 1;
  if (tokens > most) found.push(`a parent of ${tokens} tokens, at most ${most}`);
  return found;
}

function partsCharacter(text: string, at: number): boolean {
  return /^(?:[\ud800-\udbff][\udc00-\udfff]|\r\n)$/.test(text.slice(Math.max(0, at - 1), at + 1));
}
