import { defaultTokens } from "../../../text/tokens/tokens.js";

export interface PieceLimits {
  readonly maxTokens: number;
  readonly overlapTokens: number;
  readonly maxPieces: number;
}

/** ASCII text has about four letters a token, and other characters at most about two tokens each. */
const asciiLettersPerToken = 4;
const tokensPerOther = 2;

/** Cuts a document where a piece is full, neighbours sharing `overlapTokens`. What lies behind the last piece is left out. */
export function pieces(text: string, { maxTokens, overlapTokens, maxPieces }: PieceLimits): readonly string[] {
  // Short texts are not counted: they fit in any case.
  if (roughTokens(text) <= maxTokens) return [text];
  const { ends, tokens } = defaultTokens.measure(text);
  const found: string[] = [];
  let first = 0;
  while (first < ends.length && found.length < maxPieces) {
    const before = tokens[first - 1] ?? 0;
    let next = first + 1;
    while (next < ends.length && (tokens[next] ?? 0) - before <= maxTokens) next++;
    found.push(text.slice(ends[first - 1] ?? 0, ends[next - 1]));
    if (next >= ends.length) break;
    const shared = (tokens[next - 1] ?? 0) - overlapTokens;
    let start = next;
    while (start > first + 1 && (tokens[start - 2] ?? 0) >= shared) start--;
    first = start;
  }
  return found.length === 0 ? [text] : found;
}

function roughTokens(text: string): number {
  let others = 0;
  for (let offset = 0; offset < text.length; offset++) if (text.charCodeAt(offset) > 0x7f) others++;
  return (text.length - others) / asciiLettersPerToken + others * tokensPerOther;
}
