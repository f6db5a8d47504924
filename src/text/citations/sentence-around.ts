import type { Span } from "../../core/types.js";
import { safeEnd } from "../blocks/cut-text.js";
import { sentences } from "../blocks/sentences.js";

/** In UTF-16 units, on either side of the span. */
const maxRest = 500;
/** Text on either side of the span in which its sentences are looked for. */
const maxSearched = 2000;

/** The whole sentences that a span lies in, in a text. Longer ones are cut between words. */
export function sentencesAround(text: string, { start, end }: Span): Span {
  const from = Math.max(0, start - maxSearched);
  const stretch = text.slice(from, end + maxSearched);
  const touched = sentences(stretch).filter((one) => from + one.end > start && from + one.start < end);
  const first = Math.min(start, from + (touched[0]?.start ?? start));
  const last = Math.max(end, from + (touched.at(-1)?.end ?? end));
  return {
    start: start - first > maxRest ? wordFrom(text, start) : first,
    end: last - end > maxRest ? wordTo(text, end) : last,
  };
}

function wordFrom(text: string, start: number): number {
  const index = text.slice(start - maxRest, start).search(/(?<=\s)\S/u);
  return index < 0 ? safeEnd(text, start - maxRest) : start - maxRest + index;
}

function wordTo(text: string, end: number): number {
  const index = text.slice(end, end + maxRest).search(/\s\S*$/u);
  return index < 0 ? safeEnd(text, end + maxRest) : end + index;
}
