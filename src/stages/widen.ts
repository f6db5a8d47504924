import { z } from "zod";
import { resolve } from "../options.js";
import { mapStage, type Stage } from "../pipeline.js";
import type { Store, TokenCounter } from "../ports.js";
import { sentences } from "../text/sentences.js";
import { surroundings } from "../text/surroundings.js";
import { defaultTokens } from "../text/tokens.js";
import { standsIn, widenHit } from "../text/widen-hit.js";
import type { Document, Hit, Retrieved, Span, TraceStep } from "../types.js";

export const WidenOptions = z.strictObject({
  /** Most tokens of a hit's text afterwards, 16 or more; one that has more stays as it is. Default: 1,024. */
  maxTokens: z.int().min(16).default(1024),
  /**
   * `parent`: to the span that the chunker gave the chunk as its parent, to as many sentences inside it as fit where it is
   * too long. `surroundings`: to as many sentences around it as fit, whatever stands there. Default: `parent`.
   */
  to: z.enum(["parent", "surroundings"]).default("parent"),
  /** Default: the exact counter of the library's own vocabulary. */
  tokens: z
    .custom<TokenCounter>(
      (value) => typeof (value as { readonly count?: unknown } | null)?.count === "function",
      "must be a TokenCounter",
    )
    .optional(),
});
export type WidenOptions = z.input<typeof WidenOptions>;

/**
 * Gives each hit more of its document to read: small chunks are found best, and larger ones answered from best. What was
 * found stays in `matched`; text and place become those of the wider span, which is a slice of the document like any
 * other, under the chunk's id. A hit that lies inside the wider span of a better one is taken up by it. To be piped
 * behind what ranks hits: nothing was embedded for the wider spans.
 */
export function widen(store: Pick<Store, "document">, options: WidenOptions = {}): Stage<Retrieved, Retrieved> {
  const { maxTokens, to, tokens = defaultTokens } = resolve("widen", WidenOptions, options);
  return mapStage("widen", async (retrieved, { signal }) => {
    const started = performance.now();
    const documents = new Map<string, Source | undefined>();
    const wide: Hit[] = [];
    const dropped: { chunkId: string; reason: string }[] = [];
    let changed = 0;
    for (const hit of retrieved.hits) {
      signal.throwIfAborted();
      if (!documents.has(hit.uri)) documents.set(hit.uri, sourceOf(await store.document(hit.uri)));
      const source = documents.get(hit.uri);
      const { start, end } = hit.chunk;
      if (!source || !standsIn(hit, source.document)) {
        // The document was replaced since the search: its text is another, and the hit's own is the one that was found.
        changed++;
        wide.push(hit);
        continue;
      }
      const at = wide.findIndex(({ uri, chunk }) => uri === hit.uri && chunk.start <= start && end <= chunk.end);
      if (at < 0) wide.push(widenHit(hit, source.document, spanFor(hit, source), tokens));
      else {
        wide[at] = { ...wide[at]!, matched: [...(wide[at]!.matched ?? []), { start, end }] };
        dropped.push({ chunkId: hit.chunk.id, reason: `taken up by ${wide[at].chunk.id}` });
      }
    }
    const step: TraceStep = {
      step: "widen",
      kept: wide.map(({ chunk }) => chunk.id),
      dropped,
      ...(changed > 0 && { note: `${changed} hits left as they were: their documents changed since the search` }),
      milliseconds: performance.now() - started,
    };
    return { ...retrieved, hits: wide, trace: [...retrieved.trace, step] };
  });

  function spanFor({ chunk }: Hit, { document: { text }, sentencesOf }: Source): Span {
    const whole = { start: 0, end: text.length };
    const within = to === "parent" ? chunk.parent : whole;
    if (!within) return chunk;
    if (to === "parent" && tokens.count(text.slice(within.start, within.end)) <= maxTokens) return within;
    return surroundings(text, { start: chunk.start, end: chunk.end }, sentencesOf(), { within, maxTokens, tokens });
  }
}

interface Source {
  readonly document: Document;
  readonly sentencesOf: () => readonly Span[];
}

function sourceOf(document: Document | undefined): Source | undefined {
  if (!document) return undefined;
  let found: readonly Span[] | undefined;
  return { document, sentencesOf: () => (found ??= sentences(document.text)) };
}
