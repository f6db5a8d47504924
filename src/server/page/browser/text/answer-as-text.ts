import type { WireCitation } from "../../../api/wire.js";
import type { Words } from "../words/words.js";

/** An answer as Markdown with its sources below it, to be pasted elsewhere. */
export function answerAsText(text: string, citations: readonly WireCitation[], words: Words): string {
  if (citations.length === 0) return text;
  const sources = citations.map((citation) => {
    const details = [citation.support !== "missing" && words.place(citation), words.supportNote(citation)].filter(
      Boolean,
    );
    return `[${citation.number}] ${[titleOf(citation), ...details].join(", ")}`;
  });
  return `${text}\n\n${words.sources}:\n${sources.join("\n")}`;
}

/** Display name of a document: its title, or the last part of its address. */
export function titleOf({ title, uri }: { readonly title?: string | undefined; readonly uri: string }): string {
  const last = uri.split(/[/\\]/).findLast((part) => part !== "");
  return title?.trim() || (last ?? uri);
}
