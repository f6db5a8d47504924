import { textOfBytes } from "../../text/tables/numbered-strings.js";
import { isStem, type NearStems } from "../../text/words/similar-words.js";
import { TimeSlice } from "../derived/scheduling.js";
import type { Bm25Index } from "./bm25-index.js";
import type { Segment } from "./segment.js";

/**
 * The words of an index that a typist may have meant. Buckets are in the order of a hash, so that words that are spelt alike are
 * found by looking at all. They are read when first asked for: some ten bytes a word, a line each, for as long as there is the segment.
 */
export class StoredWords {
  readonly #lines = new WeakMap<Segment, string>();

  /** The stems that are near, each with its slips; removed texts may have been the last to have one. */
  async near(
    index: Bm25Index,
    { beginnings, minLength, maxLength, slipsTo }: NearStems,
  ): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    if (beginnings.length === 0) return found;
    const compare = (stem: string) => {
      if (stem.length < minLength || stem.length > maxLength) return;
      const slips = slipsTo(stem);
      if (slips !== undefined) found.set(stem, slips);
    };
    // First, and without a pause: the recent texts may become a segment while words are read.
    for (const word of index.recent.words()) {
      if (isStem(word) && beginnings.some((beginning) => word.startsWith(beginning))) compare(word);
    }
    const slice = new TimeSlice();
    const lines = new RegExp(`^(?:${beginnings.join("|")}).*$`, "gm");
    for (const words of await this.#all(index)) {
      for (const [stem] of words.matchAll(lines)) {
        compare(stem);
        if (slice.over) await slice.next();
      }
    }
    return found;
  }

  /** The words of all segments, of which some may be merged meanwhile. */
  async #all(index: Bm25Index): Promise<readonly string[]> {
    for (;;) {
      const segment = index.segments.find((one) => !this.#lines.has(one));
      if (!segment) return index.segments.map((one) => this.#lines.get(one)!);
      try {
        this.#lines.set(segment, await linesOf(segment));
      } catch (error) {
        if (index.segments.includes(segment)) throw error;
      }
    }
  }
}

async function linesOf(segment: Segment): Promise<string> {
  const slice = new TimeSlice();
  const found: string[] = [];
  for (const { bytes } of segment.terms()) {
    const word = textOfBytes(bytes);
    if (isStem(word)) found.push(word);
    if (slice.over) await slice.next();
  }
  return found.join("\n");
}
