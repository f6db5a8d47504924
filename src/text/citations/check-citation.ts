import type { Citation, Hit, Span } from "../../core/types.js";
import type { CitationMarker } from "./citation-markers.js";
import { quoteLocator, type LocatedWords, type QuoteLocator } from "./locate-quote.js";
import type { Passage } from "../prompt/pack.js";
import { placeInHit } from "../blocks/places.js";
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
  const locators = new Map<number, QuoteLocator>();
  const locatorOf = ({ number, text }: Passage): QuoteLocator => {
    const locator = locators.get(number) ?? quoteLocator(text);
    locators.set(number, locator);
    return locator;
  };
  return {
    check: ({ number, quote }, sentence) => {
      const passage = passages[number - 1];
      if (!passage) return undefined;
      const locator = locatorOf(passage);
      // The model read the source with escaped tags, and may have copied the escapes.
      const claimed = quote === undefined ? sentence : unescapeTags(quote);
      const found = quote === undefined ? locator.sentence(sentence) : locator.quote(claimed);
      return found ? supported(passage, found) : unsupported(passage, claimed);
    },
  };
}

function supported(passage: Passage, { start, end, support }: LocatedWords): Citation | undefined {
  const at = { start: passage.start + start, end: passage.start + end };
  const hit = hitAt(passage, at.start, at.end);
  return hit && { ...pointer(passage, hit, at), quote: passage.text.slice(start, end), supported: true, support };
}

function unsupported(passage: Passage, claimed: string): Citation | undefined {
  const hit = passage.hits[0];
  const at = hit?.matched?.[0] ?? hit?.chunk;
  return hit && at && { ...pointer(passage, hit, at), quote: claimed, supported: false, support: "missing" };
}

function pointer({ number }: Passage, hit: Hit, { start, end }: Span) {
  const title = hit.title === undefined ? {} : { title: hit.title };
  return { number, chunkId: hit.chunk.id, uri: hit.uri, ...title, start, end, ...placeInHit(hit, start) };
}

/** The best hit whose matched text has the whole span, else the best whose chunk has the span or its start. */
function hitAt({ hits }: Passage, start: number, end: number): Hit | undefined {
  const found = hits.find(({ matched = [] }) => matched.some((span) => span.start <= start && end <= span.end));
  if (found) return found;
  const starting = hits.filter(({ chunk }) => chunk.start <= start && start < chunk.end);
  return starting.find(({ chunk }) => end <= chunk.end) ?? starting[0];
}
