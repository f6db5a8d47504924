import { sentences } from "../../text/blocks/sentences.js";
import { eachTerm, queryTerms } from "../../text/words/terms.js";
import { asRead } from "./as-read.js";

/** Markup takes characters, too: this many times the length is looked at for words of the query. */
const markupShare = 1.5;

const leadingHeadings = /^(?:#{1,6}[ \t][^\n]*\n\s*(?=\S))+/;

/**
 * The part of a passage that a query is about, as it is read, for `length` characters. It begins with the sentence from which on most
 * of the query's words are found, so that a hit shows why it is one; with the first one where none holds any.
 */
export function snippet(passage: string, query: string, length: number): string {
  const asked = queryTerms(query);
  let best = { start: 0, weight: 0 };
  for (const { start, end } of sentences(passage)) {
    if (foundWeight(passage.slice(start, end), asked) === 0) continue;
    const weight = foundWeight(passage.slice(start, start + length * markupShare), asked);
    if (weight > best.weight) best = { start, weight };
  }
  // Its headings stand above the hit already.
  const read = asRead(passage.slice(best.start).replace(leadingHeadings, "")) || passage;
  return asRead(passage.slice(0, best.start)) === "" ? read : `… ${read}`;
}

/** How much of a query a text holds: each of its words counts once. */
function foundWeight(text: string, asked: ReadonlyMap<string, number>): number {
  const found = new Set<string>();
  eachTerm(text, (term) => {
    if (asked.has(term)) found.add(term);
  });
  return [...found].reduce((sum, term) => sum + asked.get(term)!, 0);
}
