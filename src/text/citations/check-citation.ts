import { given } from "../../core/given.js";
import type { Citation, CitedSentence, Hit, Span } from "../../core/types.js";
import type { CitationMarker } from "./citation-markers.js";
import { quoteLocator, type LocatedWords } from "./locate-quote.js";
import type { Passage } from "../prompt/pack.js";
import { pictureWithin, placeInHit } from "../blocks/places.js";
import { sentencesAround } from "./sentence-around.js";
import { unescapeTags } from "../prompt/prompt-tags.js";

/** Checks citations against the passages that the model was given. */
export interface CitationChecker {
  /**
   * The checked citation of a marker; `undefined` if no source has its number. A quote must be in that very source. A
   * marker without a quote is checked by the sentence before it.
   */
  readonly check: (marker: CitationMarker, sentence: string) => Citation | undefined;
}

export function citationChecker(passages: readonly Passage[]): CitationChecker {
  const locators = new Map<number, ReturnType<typeof quoteLocator>>();
  return {
    check: ({ number, quote }, sentence) => {
      const passage = passages[number - 1];
      if (!passage) return undefined;
      const locate = locators.get(number) ?? quoteLocator(passage.text);
      locators.set(number, locate);
      // The model read the source with escaped tags, and may have copied the escapes.
      const claimed = quote === undefined ? sentence : unescapeTags(quote);
      return citationOf(passage, claimed, locate(claimed));
    },
  };
}

function citationOf(passage: Passage, claimed: string, found: LocatedWords | undefined): Citation | undefined {
  const support = found?.support ?? "missing";
  const supported = support === "exact" || support === "normalised";
  const span = found && { start: passage.start + found.start, end: passage.start + found.end };
  const hit = span ? hitAt(passage, span) : passage.hits[0];
  const index = span ?? hit?.matched?.[0] ?? hit?.chunk;
  const quote = found && supported ? passage.text.slice(found.start, found.end) : claimed;
  if (!hit || !index) return undefined;
  return {
    ...pointer(passage, hit, index),
    quote,
    supported,
    support,
    ...(found?.isStruck && { struckOut: true }),
    ...(found && { sentence: sentenceOf(passage, found) }),
  };
}

function sentenceOf(passage: Passage, span: Span): CitedSentence {
  const { start, end } = sentencesAround(passage.text, span);
  return { start: passage.start + start, end: passage.start + end, text: passage.text.slice(start, end) };
}

function pointer({ number }: Passage, hit: Hit, { start, end }: Span) {
  const title = hit.title === undefined ? {} : { title: hit.title };
  const place = { ...placeInHit(hit, start), ...given({ picture: pictureWithin(hit, { start, end }) }) };
  return { number, chunkId: hit.chunk.id, uri: hit.uri, ...title, start, end, ...place };
}

/** The best hit whose matched text has the whole span, else the best whose chunk has the span or its start. */
function hitAt({ hits }: Passage, { start, end }: Span): Hit | undefined {
  const found = hits.find(({ matched = [] }) => matched.some((span) => span.start <= start && end <= span.end));
  if (found) return found;
  const starting = hits.filter(({ chunk }) => chunk.start <= start && start < chunk.end);
  return starting.find(({ chunk }) => end <= chunk.end) ?? starting[0];
}
