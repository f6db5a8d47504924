import type { TokenCounter } from "../../core/ports.js";
import type { Document, Hit, TraceStep } from "../../core/types.js";
import { longestStart } from "../blocks/cut-text.js";
import { renderSource, type PromptSource } from "./prompt.js";
import { isCurrent, widenHit } from "./widen-hit.js";

/**
 * One unbroken stretch of one document, made of the hits that lie in it. The number of a citation names one passage and
 * so one document; an offset into `text` is an offset into the document minus `start`.
 */
export interface Passage extends PromptSource {
  /** Offsets into the document's text: `text === document.text.slice(start, end)`. */
  readonly start: number;
  readonly end: number;
  /** Its hits, best first. */
  readonly hits: readonly Hit[];
  /** Tokens of this rendered source. */
  readonly tokens: number;
}

export interface Packed {
  /** Numbered from 1 in the order of their best hits. */
  readonly passages: readonly Passage[];
  /** Tokens of all rendered sources together. */
  readonly tokens: number;
  /** The hits that were packed and those left out, with reasons. */
  readonly step: TraceStep;
}

export interface PackLimits {
  /** Maximum tokens of all rendered sources together. */
  readonly maxTokens: number;
  readonly tokens: TokenCounter;
  /** Widens sources to the parents of their chunks while there is room. Default: no widening. */
  readonly widen?: Widening;
}

export interface Widening {
  /** Documents of hits, by uri. Hits of other documents are not widened. */
  readonly documents: ReadonlyMap<string, Document>;
  /** Maximum tokens of all rendered sources together after widening. */
  readonly maxTokens: number;
}

/** A passage without its number. */
type Draft = Omit<Passage, "number">;

interface Widened {
  readonly drafts: readonly Draft[];
  /** Hits that were widened. */
  readonly count: number;
  /** Tokens of all sources as they are sent. */
  readonly total: number;
}

type Dropped = TraceStep["dropped"][number];

/**
 * Packs hits, best first, as numbered sources into a token budget. Overlapping and touching hits of one document become
 * one passage; a repeated text is packed once. A hit that does not fit is skipped for smaller ones after it. Only the
 * best hit is cut to fit, because without it there is little to answer from. The rest of the budget widens the hits.
 */
export function packSources(hits: readonly Hit[], limits: PackLimits): Packed {
  const { maxTokens, tokens } = limits;
  const dropped: Dropped[] = [];
  const seen = new Map<string, string>();
  let drafts: readonly Draft[] = [];
  let cut: string | undefined;

  for (const hit of hits) {
    const { id, text } = hit.chunk;
    const words = text.trim();
    const twin = seen.get(words);
    if (words === "" || twin !== undefined) {
      dropped.push({
        chunkId: id,
        ...(twin === undefined ? { reason: "blank" } : { reason: `same text as ${twin}`, into: twin }),
      });
      continue;
    }
    const grown = withHit(drafts, hit, tokens);
    const needed = sum(grown);
    if (needed <= maxTokens) drafts = grown;
    else {
      const start = drafts.length === 0 ? cutToFit(hit, limits) : undefined;
      if (!start) {
        dropped.push({ chunkId: id, reason: `no room: ${needed} tokens with it, the budget is ${maxTokens}` });
        continue;
      }
      drafts = [start];
      cut = `the best hit was cut to its first ${start.text.length} of ${text.length} characters`;
    }
    seen.set(words, id);
  }

  // A joined text may have more tokens than its parts, so the whole is counted as it is sent.
  let total = countSources(drafts, tokens);
  for (; total > maxTokens && drafts.length > 0; total = countSources(drafts, tokens)) {
    for (const { chunk } of drafts.at(-1)?.hits ?? []) {
      dropped.push({ chunkId: chunk.id, reason: `no room: the sources together have more than ${maxTokens} tokens` });
    }
    drafts = drafts.slice(0, -1);
  }

  const whole = { drafts, count: 0, total };
  const wide = cut === undefined ? widened(whole, hits, limits) : whole;
  const passages = wide.drafts.map((draft, index) => ({ number: index + 1, ...draft }));
  const kept = passages.flatMap((passage) => passage.hits.map(({ chunk }) => chunk.id));
  const note = wide.count > 0 ? `${wide.count} of ${kept.length} hits were widened to the text around them` : cut;
  const step = { step: "pack", kept, dropped, ...(note !== undefined && { note }) };
  return { passages, tokens: wide.total, step };
}

/**
 * Widens hits to their parents, best first, as long as the sources keep to the limits. Parts are added up on the way; the
 * whole, which may have more tokens, is counted at the end, and the last widenings are undone if it exceeds the limit.
 */
function widened(packed: Widened, hits: readonly Hit[], { maxTokens, tokens, widen }: PackLimits): Widened {
  const ranks = new Map(hits.map(({ chunk }, rank) => [chunk.id, rank]));
  const inOrder = (group: readonly Hit[]) => group.toSorted((a, b) => ranks.get(a.chunk.id)! - ranks.get(b.chunk.id)!);
  const limit = Math.min(maxTokens, widen?.maxTokens ?? 0);
  const states = [packed.drafts];
  for (const hit of inOrder(packed.drafts.flatMap((draft) => draft.hits))) {
    const drafts = states.at(-1)!;
    const document = widen?.documents.get(hit.uri);
    const { start, end, parent } = hit.chunk;
    if (!parent || sum(drafts) >= limit || !isCurrent(hit, document)) continue;
    const span = { start: Math.min(start, parent.start), end: Math.max(end, parent.end) };
    if (span.start === start && span.end === end) continue;
    const grown = withHit(drafts, widenHit(hit, document, span, tokens), tokens).map((draft) => ({
      ...draft,
      hits: draft.hits.filter((currentHit) => currentHit !== hit),
    }));
    if (sum(grown) <= limit) states.push(grown);
  }
  let { total } = packed;
  for (; states.length > 1; states.pop()) {
    const tokensOfAll = countSources(states.at(-1)!, tokens);
    if (tokensOfAll > limit) continue;
    total = tokensOfAll;
    break;
  }
  const drafts = states.at(-1)!.map((draft) => ({ ...draft, hits: inOrder(draft.hits) }));
  return { drafts, count: states.length - 1, total };
}

function sum(drafts: readonly Draft[]): number {
  return drafts.reduce((total, draft) => total + draft.tokens, Math.max(0, drafts.length - 1));
}

function countSources(drafts: readonly Draft[], tokens: TokenCounter): number {
  return tokens.count(drafts.map((draft, index) => renderSource({ number: index + 1, ...draft })).join("\n"));
}

/** The drafts with one more hit, merged into all those that it overlaps or touches. */
function withHit(drafts: readonly Draft[], hit: Hit, tokens: TokenCounter): readonly Draft[] {
  let merged = draftOf(hit, hit.chunk.text, tokens);
  const separate: Draft[] = [];
  let place: number | undefined;
  for (const draft of drafts) {
    const joined = draft.hits[0]?.chunk.documentId === hit.chunk.documentId && join(draft, merged, tokens);
    if (joined) {
      merged = joined;
      place ??= separate.length;
    } else separate.push(draft);
  }
  return separate.toSpliced(place ?? separate.length, 0, merged);
}

function draftOf(hit: Hit, text: string, tokens: TokenCounter): Draft {
  const { chunk, uri } = hit;
  const title = (chunk.context === "" ? (hit.title ?? "") : chunk.context).replace(/\s+/gu, " ").trim();
  const named = title === "" ? {} : { title };
  return counted({ uri, ...named, start: chunk.start, end: chunk.start + text.length, text, hits: [hit] }, tokens);
}

function counted(draft: Omit<Draft, "tokens">, tokens: TokenCounter): Draft {
  return { ...draft, tokens: tokens.count(renderSource({ number: 1, ...draft })) };
}

/**
 * Joins two stretches of one document; `undefined` if there is a gap, or if they differ where they overlap because the
 * document changed between two searches.
 */
function join(one: Draft, other: Draft, tokens: TokenCounter): Draft | undefined {
  const [first, second] = one.start <= other.start ? [one, other] : [other, one];
  if (second.start > first.end) return undefined;
  const shared = Math.min(first.end, second.end) - second.start;
  const offset = second.start - first.start;
  if (first.text.slice(offset, offset + shared) !== second.text.slice(0, shared)) return undefined;
  // Most joins are of a hit with its own parent, whose tokens are known.
  if (second.end <= first.end) return { ...first, hits: [...one.hits, ...other.hits] };
  if (first.start === second.start) return { ...second, hits: [...one.hits, ...other.hits] };
  const end = second.end;
  const text = first.text + second.text.slice(shared);
  return counted({ ...first, end, text, hits: [...one.hits, ...other.hits] }, tokens);
}

function cutToFit(hit: Hit, { maxTokens, tokens }: PackLimits): Draft | undefined {
  const text = longestStart(hit.chunk.text, (start) => draftOf(hit, start, tokens).tokens <= maxTokens);
  return text.trim() === "" ? undefined : draftOf(hit, text, tokens);
}
