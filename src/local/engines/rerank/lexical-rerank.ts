import { defaultTokens } from "../../../text/tokens/tokens.js";
import { neighbours, pairCloseness, positionsOf, type TermPositions } from "../../../text/words/closeness.js";
import { synonymsIn } from "../../../text/words/synonyms.js";
import { terms } from "../../../text/words/terms.js";
import { definitionOf, type Definition } from "../../../text/words/definition.js";
import type { RerankEngine } from "../engines.js";
import { pauses } from "../pause.js";
import { rarity } from "../rarity.js";
import { pieces } from "./pieces.js";

/** Pieces longer than this say too many things at once for one score. */
const pieceTokens = 512;
const minPieceTokens = 128;

/** Scores documents by the query's words in them: their rarity, frequency and closeness. */
export function lexicalRerank(): RerankEngine {
  return {
    score: async (query, documents, { model, maxChunksPerDocument, overlapTokens, signal }) => {
      const pause = pauses(signal);
      const prepared = prepareQuery(query);
      const room = (model.maxInputTokens ?? Number.POSITIVE_INFINITY) - defaultTokens.count(query);
      const limits = {
        maxTokens: Math.max(minPieceTokens, Math.min(pieceTokens, room)),
        overlapTokens,
        maxPieces: maxChunksPerDocument,
      };
      const passages: IndexedPassage[] = [];
      const owners: number[] = [];
      for (const [owner, document] of documents.entries()) {
        for (const piece of pieces(document, limits)) {
          passages.push(indexPassage(piece, prepared));
          owners.push(owner);
          await pause();
        }
      }
      const best = documents.map(() => 0);
      for (const [index, score] of relevance(prepared, passages).entries()) {
        const owner = owners[index] ?? 0;
        best[owner] = Math.max(best[owner] ?? 0, score);
      }
      return best;
    },
  };
}

/** BM25's parameters; passages are short, so that repetition counts for more than in whole documents. */
const saturation = 2;
const lengthCorrection = 0.85;

/** Passages that the static rarity counts for beside the given ones, so that the statistics of few passages stay sane. */
const priorPassages = 60;

/** Share of neighbouring query words standing together, beside the words themselves (Metzler and Croft, SIGIR 2005). */
const phraseWeight = 0.6;
/** A synonym of a query word counts for this share of the word itself. */
const synonymShare = 0.6;

/** Weight of the query's share in the headings. */
const headingWeight = 0.5;
/** Weight of a heading that equals the query. */
const sameHeadingWeight = 0.5;
/** Weight of a sentence that defines the query's subject. */
const definitionWeight = 0.8;

/** Share of its score that a passage without a definition keeps if another passage has one. */
const undefinedShare = 0.7;

/** A text as scoring reads it. */
interface IndexedPassage {
  readonly length: number;
  /** Positions of the query's terms and of their synonyms, rising. */
  readonly positions: TermPositions;
  /** Number of positions that hold the term itself. */
  readonly written: ReadonlyMap<string, number>;
  /** Distinct terms of each heading, from the title down. */
  readonly headings: readonly ReadonlySet<string>[];
  readonly defines: boolean;
}

interface PreparedQuery {
  /** Distinct terms, in the query's order. */
  readonly terms: readonly string[];
  /** The query's terms that each term stands for: itself, or those it is a synonym of. */
  readonly meant: ReadonlyMap<string, readonly string[]>;
  /** Pairs of neighbouring terms in the query. */
  readonly pairs: readonly (readonly [string, string])[];
  readonly definition: Definition | undefined;
}

function prepareQuery(query: string): PreparedQuery {
  const definition = definitionOf(query);
  const found = terms(definition?.subject ?? query);
  const meant = new Map<string, readonly string[]>();
  for (const [term, others] of synonymsIn(query)) {
    for (const other of others) meant.set(other, [...(meant.get(other) ?? []), term]);
  }
  for (const term of found) meant.set(term, [term]);
  return {
    terms: [...new Set(found)],
    meant,
    pairs: neighbours(found),
    definition,
  };
}

/** Reads a passage once, keeping only what the query asks about. */
function indexPassage(text: string, query: PreparedQuery): IndexedPassage {
  const found = terms(text);
  const positions = positionsOf(found, query.meant);
  const written = new Map<string, number>();
  for (const one of found) {
    if (query.meant.get(one)?.includes(one)) written.set(one, (written.get(one) ?? 0) + 1);
  }
  const { above, own } = headingsOf(text);
  const [around, within] = [termsOfHeadings(above), termsOfHeadings(own)];
  const { definition } = query;
  const defines = definition !== undefined && (definition.foundIn(text) || hasEntry(within, query.terms));
  return { length: found.length, positions, written, headings: [...around, ...within], defines };
}

/** A heading without a term, such as a comment of signs in code, says nothing. */
function termsOfHeadings(headings: readonly string[]): readonly ReadonlySet<string>[] {
  return headings.map((heading) => new Set(terms(heading))).filter(({ size }) => size > 0);
}

/**
 * Scores how much each passage says about the query: 0 for nothing, near 1 for all of its words, often and close together. BM25
 * over the given passages, its rarities smoothed by what is known of the words themselves, with shares for words
 * that stand together and for headings.
 */
function relevance(query: PreparedQuery, passages: readonly IndexedPassage[]): readonly number[] {
  const meanLength = Math.max(1, sum(passages.map(({ length }) => length)) / Math.max(1, passages.length));
  const frequencies = passages.map((passage) => saturated(query.terms, passage, meanLength));
  const weights = termWeights(query.terms, frequencies);
  const total = sum(weights.values());
  if (total === 0) return passages.map(() => 0);
  const share = passages.some(({ defines }) => defines) ? undefinedShare : 1;
  return passages.map((passage, index) => {
    const words = sum([...frequencies[index]!].map(([term, frequency]) => (weights.get(term) ?? 0) * frequency));
    if (words === 0) return 0;
    const score = squashed(
      words / total +
        phraseWeight * pairCloseness(query.pairs, passage.positions, weights) +
        headed(passage.headings, weights, total) +
        (passage.defines ? definitionWeight : 0),
    );
    return passage.defines ? score : share * score;
  });
}

/** Whether a heading is what the query wants defined: a glossary says what it is below. */
function hasEntry(headings: readonly ReadonlySet<string>[], wanted: readonly string[]): boolean {
  return headings.some((heading) => heading.size === wanted.length && wanted.every((term) => heading.has(term)));
}

/** BM25's part of each query term that the passage holds. A term of a heading counts as one more. */
function saturated(
  wanted: readonly string[],
  { length, positions, written, headings }: IndexedPassage,
  meanLength: number,
): ReadonlyMap<string, number> {
  const norm = saturation * (1 - lengthCorrection + (lengthCorrection * length) / meanLength);
  const found = new Map<string, number>();
  for (const term of wanted) {
    const all = positions.get(term)?.length ?? 0;
    if (all === 0) continue;
    const inHeadings = headings.some((heading) => heading.has(term)) ? 1 : 0;
    const part = (count: number) => (count * (saturation + 1)) / (count + norm);
    const own = written.get(term) ?? 0;
    const itself = own === 0 ? 0 : part(own + inHeadings);
    found.set(term, itself + synonymShare * (part(all + inHeadings) - itself));
  }
  return found;
}

/** Weights of the query's terms: rare among the passages, and by what is known of the words themselves. */
function termWeights(
  wanted: readonly string[],
  frequencies: readonly ReadonlyMap<string, number>[],
): ReadonlyMap<string, number> {
  const all = frequencies.length + priorPassages;
  return new Map(
    wanted.map((term) => {
      const known = rarity(term);
      const held = frequencies.filter((one) => one.has(term)).length + priorPassages * Math.exp(-5 * known);
      return [term, Math.sqrt(known) * Math.log(1 + (all - held + 0.5) / (held + 0.5))];
    }),
  );
}

/** The query in the headings: the share of its weight in all of them, and how nearly one of them is the query. */
function headed(headings: IndexedPassage["headings"], weights: ReadonlyMap<string, number>, total: number): number {
  let any = 0;
  for (const [term, value] of weights) if (headings.some((heading) => heading.has(term))) any += value;
  if (any === 0) return 0;
  const best = headings.reduce((most, heading) => {
    const shared = [...heading].filter((term) => weights.has(term));
    const covered = sum(shared.map((term) => weights.get(term) ?? 0)) / total;
    return Math.max(most, covered * (shared.length / heading.size) ** 2);
  }, 0);
  return (headingWeight * any) / total + sameHeadingWeight * best;
}

/** Maps 0 and up onto 0 up to 1; a passage with every word once, scattered, comes to about a half. */
function squashed(score: number): number {
  return 1 - Math.exp(-0.7 * score);
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** Maximum length of a first line that is taken for the place of a passage in its document rather than for its text, in UTF-16 units. */
const maxPlaceLength = 300;

/**
 * The headings of a passage: of its first line when that stands alone, as parts of `Title > Heading`, the last is its own, and so are
 * those in its text.
 */
function headingsOf(text: string): { readonly above: readonly string[]; readonly own: readonly string[] } {
  const end = text.indexOf("\n");
  const alone = end > 0 && end <= maxPlaceLength && /^\r?\n[ \t]*\r?\n/.test(text.slice(end, end + 80));
  const place = alone ? text.slice(0, end).split(" > ") : [];
  const written = text.match(/^[ \t]*#{1,6}[ \t]+.*$/gm) ?? [];
  const inText = written.map((line) => line.replace(/^[\s#]+/, "").replace(/\{#[^}]*\}\s*$/, ""));
  return { above: place.slice(0, -1), own: [...place.slice(-1), ...inText] };
}
