import { CitationMarkerParser } from "../../../src/text/citations/citation-markers.js";
import { standInNotices } from "../../../src/text/prompt/stand-in-notice.js";

/** A passage as a reply shows it: below its headings, with the words that its marker quotes. */
export interface ShownPassage {
  readonly heading: string;
  readonly text: string;
  readonly source: number | undefined;
  readonly quote: string | undefined;
}

/** The passages of a reply of the stand-in, in its order; none of a reply that quotes nothing. */
export function passagesIn(reply: string): readonly ShownPassage[] {
  const notice = Object.values(standInNotices).find((line) => reply.startsWith(line));
  if (notice === undefined) return [];
  const parser = new CitationMarkerParser();
  const found: ShownPassage[] = [];
  let text = "";
  const take = (source?: number, quote?: string) => {
    const [, heading = "", rest = ""] = /^(?:\*\*([^\n]+)\*\*\n\n)?([^]*)$/.exec(text.trim()) ?? [];
    if (rest.trim() !== "") found.push({ heading, text: rest.trim(), source, quote });
    text = "";
  };
  for (const part of [...parser.push(reply.slice(notice.length)), ...parser.end()]) {
    if (part.type === "text") text += part.text;
    else take(part.marker.number, part.marker.quote);
  }
  take();
  return found;
}

/** The words that a reply shows of its sources, without headings and markers. */
export function wordsShown(reply: string): string {
  return passagesIn(reply)
    .map(({ text }) => text)
    .join("\n\n");
}
