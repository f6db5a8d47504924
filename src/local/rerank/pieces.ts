import { defaultTokens } from "../../text/tokens.js";

export interface PieceLimits {
  readonly maxTokens: number;
  readonly overlapTokens: number;
  readonly maxPieces: number;
}

/** ASCII text has about four letters a token: counting is spared where it could not matter. */
const asciiLettersPerToken = 4;

/** Cuts a document where a piece is full, neighbours sharing `overlapTokens`. What lies behind the last piece is left out. */
export function pieces(text: string, { maxTokens, overlapTokens, maxPieces }: PieceLimits): readonly string[] {
  if (text.length <= maxTokens * asciiLettersPerToken && isAscii(text)) return [text];
  const { ends, tokens } = defaultTokens.measure?.(text) ?? { ends: [text.length], tokens: [0] };
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

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}
