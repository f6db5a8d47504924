import { checkStorePart, checkTokens } from "../../core/check-port.js";
import { z } from "zod";
import { optionsOf, resolve } from "../../core/options.js";
import { mapStage, type Stage } from "../../core/pipeline.js";
import type { Store, TokenCounter } from "../../core/ports.js";
import { sentences } from "../../text/blocks/sentences.js";
import { defaultTokens } from "../../text/tokens/tokens.js";
import { isCurrent, surroundings, widenHit } from "../../text/prompt/widen-hit.js";
import type { Document, Hit, Retrieved, Span, TraceStep } from "../../core/types.js";

export interface WidenOptions {
  /** Maximum tokens of a widened hit, 16 or more; a hit that already has more stays unchanged. Default: 1,024. */
  readonly maxTokens?: number;
  /**
   * `parent`: to the parent span that the chunker gave the chunk, or when that is too long, to as many of its sentences as
   * fit. `surroundings`: to as many sentences around it as fit, wherever they belong. Default: `parent`.
   */
  readonly to?: "parent" | "surroundings";
  /** Default: the exact counter of the library's default vocabulary. */
  readonly tokens?: TokenCounter;
}

export const widenOptions = optionsOf<WidenOptions>()({
  maxTokens: z.int().min(16).default(1024),
  to: z.enum(["parent", "surroundings"]).default("parent"),
  tokens: z
    .custom<TokenCounter>(
      (value) => typeof (value as { readonly count?: unknown } | null)?.count === "function",
      "must be a TokenCounter",
    )
    .optional(),
});

/**
 * Widens each hit to more of its document: small chunks are best for finding, larger ones for answering. The span that
 * was found stays in `matched`; text and offsets become those of the wider slice, under the chunk's id. A hit inside
 * the wider span of a better one is merged into it. Pipe it after ranking: wider spans have no vectors.
 *
 * @example
 * ```ts
 * import { Pipeline, search, widen, type Question, type Store } from "citewell";
 * export const searching = (store: Store) =>
 *   Pipeline.from<Question>()
 *     .pipe(search(store, { mode: "lexical", count: 6 }))
 *     .pipe(widen(store, { maxTokens: 512 }));
 * ```
 */
export function widen(store: Pick<Store, "document">, options: WidenOptions = {}): Stage<Retrieved, Retrieved> {
  const { maxTokens, to, tokens = defaultTokens } = resolve("widen", widenOptions, options);
  checkTokens("widen", "tokens", tokens);
  checkStorePart("widen", store, ["document"]);
  return mapStage("widen", async (retrieved, { signal }) => {
    const started = performance.now();
    const documents = new Map<string, Source | undefined>();
    const wide: Hit[] = [];
    const dropped: TraceStep["dropped"][number][] = [];
    let changed = 0;
    for (const hit of retrieved.hits) {
      signal.throwIfAborted();
      if (!documents.has(hit.uri)) documents.set(hit.uri, sourceOf(await store.document(hit.uri)));
      const source = documents.get(hit.uri);
      const { start, end } = hit.chunk;
      if (!source || !isCurrent(hit, source.document)) {
        // The document was replaced since the search, so only the hit's own text is what was found.
        changed++;
        wide.push(hit);
        continue;
      }
      const index = wide.findIndex(({ uri, chunk }) => uri === hit.uri && chunk.start <= start && end <= chunk.end);
      if (index < 0) wide.push(widenHit(hit, source.document, spanFor(hit, source), tokens));
      else {
        wide[index] = { ...wide[index]!, matched: [...(wide[index]!.matched ?? []), { start, end }] };
        dropped.push({
          chunkId: hit.chunk.id,
          reason: `merged into ${wide[index].chunk.id}`,
          into: wide[index].chunk.id,
        });
      }
    }
    const step: TraceStep = {
      step: "widen",
      kept: wide.map(({ chunk }) => chunk.id),
      dropped,
      ...(changed > 0 && { note: `${changed} hits were not widened: their documents changed since the search` }),
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
