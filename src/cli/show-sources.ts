import type { Answer, Citation } from "../types.js";
import { displayPlace, oneLine } from "./terminal-text.js";

/** The numbered sources under an answer: file, line and the words cited, one line each. */
export function describeSources({ answered, citations, hits }: Answer, directory: string): string {
  if (citations.length > 0) {
    const lines = distinct(citations).map((citation) => {
      const place = displayPlace(citation.uri, citation, directory);
      const found = citation.supported ? "" : "  (not found in the source)";
      return `[${citation.number}] ${place}  “${oneLine(citation.quote, 160)}”${found}`;
    });
    return `Sources\n${lines.join("\n")}\n`;
  }
  if (answered || hits.length === 0) return "";
  const nearest = hits
    .slice(0, 3)
    .map((hit) => `  ${displayPlace(hit.uri, hit, directory)}  ${oneLine(hit.chunk.text, 100)}`);
  return `Nearest passages\n${nearest.join("\n")}\n`;
}

function distinct(citations: readonly Citation[]): readonly Citation[] {
  const seen = new Map(citations.map((citation) => [`${citation.number} ${citation.start} ${citation.end}`, citation]));
  return [...seen.values()].toSorted((a, b) => a.number - b.number || a.start - b.start);
}
