import { OptionsError } from "../../../core/errors.js";
import type { Filter } from "../../../core/filter.js";
import { resolve } from "../../../core/options.js";
import type { CallOptions, RetrievalQuery, RetrieveCall, Retriever, Searchable } from "../../../core/ports.js";
import { requiredTerms } from "../../../text/words/phrase-match.js";
import { nearStems } from "../../../text/words/similar-words.js";
import { searchTerms } from "../../../text/words/page-names.js";
import { wordOfStem } from "../../../text/words/word-terms.js";
import { documentsFilter, readCall, retrieveCall, similarWordsCall } from "../../call-options.js";
import { checkVector, normalised } from "../../database/vectors.js";
import { isOutdated } from "../../../postgres/failures.js";
import type { Session } from "../../../postgres/server.js";
import type { ScopeRules } from "../../scope-rules.js";
import { originalText } from "../../../postgres/column-text.js";
import type { Reader } from "../../../postgres/store-connection.js";
import { readDocument, readHits, readInfos } from "../reading.js";
import type { StoreFacts } from "../store-facts.js";
import { askedTogether } from "./asked-together.js";
import { GatheredSearches, type Search } from "./gathered-searches.js";
import { type FilterSizes, maxCompared } from "./matching-documents.js";
import { similarStems } from "./similar-words.js";
import { searchOnce, type SearchResult, type Side } from "./statement.js";
import { type CollectionStatistics, type WordCounts, wordStatistics, writtenNow } from "./word-statistics.js";

/** Methods that search and read a store within a scope. */
export type ScopedSearching = Pick<
  Searchable,
  "dense" | "lexical" | "similarWords" | "document" | "documentInfo" | "documents" | "hits"
>;

export interface SearchingParts {
  readonly read: Reader;
  readonly facts: StoreFacts;
  readonly rules: ScopeRules;
  /** Length of the vectors, if the embedder knows it. */
  readonly dimension: number | undefined;
  /** How many chunks have a word. None where the server shows different chunks to different scopes. */
  readonly counts?: WordCounts | undefined;
  readonly sizes: FilterSizes;
}

/** Searches and reads, within a scope if there is one. */
export function searchingWithin(scope: Filter | undefined, parts: SearchingParts): ScopedSearching {
  const { read, facts, rules } = parts;
  const filtered = (filter: Filter | undefined) => rules.effective(scope, filter);
  const gathered = new GatheredSearches((search, limits) => searchAll(parts, search, limits));
  const retriever = (name: Side): Retriever => ({
    name,
    retrieve: async (query: RetrievalQuery, call: RetrieveCall) => {
      const { count, filter, signal, deadlineMs } = resolve(name, retrieveCall, call);
      signal?.throwIfAborted();
      const limits = { ...(signal && { signal }), ...(deadlineMs !== undefined && { deadlineMs }) };
      const effective = filtered(filter);
      // Another process may have written the first vectors.
      if (name === "dense" && facts.dimension === undefined) await facts.refresh(limits);
      const side = name === "dense" ? denseSide(query, count, parts) : lexicalSide(query, count);
      if (!side) return [];
      const found = await gathered.search(side, effective, { filter, ...limits });
      return found[name].map(({ id, score }, index) => ({
        chunkId: originalText(id),
        score,
        placements: [{ by: name, rank: index + 1, score }],
      }));
    },
  });
  return {
    dense: retriever("dense"),
    lexical: retriever("lexical"),
    similarWords: async (word, call) => {
      const { count, unfinished, filter, signal, deadlineMs } = resolve("similarWords", similarWordsCall, call);
      signal?.throwIfAborted();
      const near = nearStems(word, unfinished);
      const asked = { count, filter: filtered(filter) };
      const limits = { ...(signal && { signal }), ...(deadlineMs !== undefined && { deadlineMs }) };
      const search = (session: Session) =>
        similarStems(session, near, { ...asked, isDistributed: facts.isDistributed });
      return (await readAsDistributed(parts, limits, search)).map(wordOfStem);
    },
    document: async (uri, call = {}) => {
      const filter = filtered(resolve("document", readCall, call).filter);
      return read((session) => readDocument(session, uri, filter));
    },
    documentInfo: askedTogether(async (uris) => {
      const filter = filtered(undefined);
      const found = await read((session) => readInfos(session, { uris }, filter));
      return new Map(found.map((info) => [info.uri, info]));
    }),
    documents: async (given = {}) => {
      const wanted = resolve("documents", documentsFilter, given);
      const filter = filtered(undefined);
      return read((session) => readInfos(session, wanted, filter));
    },
    hits: async (found, call = {}) => {
      const filter = filtered(resolve("hits", readCall, call).filter);
      return read((session) => readHits(session, found, filter));
    },
  };
}

function denseSide(
  { vector }: RetrievalQuery,
  count: number,
  { facts, dimension }: SearchingParts,
): Pick<Search, "dense"> | undefined {
  if (vector === undefined) {
    throw new OptionsError(
      "options",
      "dense: the query has no vector. Put embedQuestion() before search(), or search in lexical mode",
    );
  }
  checkVector(vector, facts.dimension ?? dimension ?? vector.length, "the query");
  if (facts.dimension === undefined) return undefined;
  return { dense: { vector: normalised(vector), count, precision: facts.precision } };
}

function lexicalSide({ text, phrases = [] }: RetrievalQuery, count: number): Pick<Search, "lexical"> | undefined {
  const words = searchTerms(text, phrases);
  return words.size === 0 ? undefined : { lexical: { words, count, required: requiredTerms(phrases) } };
}

async function searchAll(parts: SearchingParts, search: Search, call: CallOptions): Promise<SearchResult> {
  const { dense, lexical, filter } = search;
  // A cluster would carry out the sides of one statement one after the other, and send their results to all nodes in between.
  if (parts.facts.isDistributed && dense && lexical) {
    const sides = [{ dense }, { lexical }] satisfies Search[];
    const [near, relevant] = await Promise.all(sides.map((side) => searchAll(parts, { ...side, filter }, call)));
    return { dense: near!.dense, lexical: relevant!.lexical };
  }
  return readAsDistributed(parts, call, (session) => searchIn(session, parts, search));
}

/** Reads by statements that depend on whether the tables are distributed. */
async function readAsDistributed<Result>(
  { read, facts }: SearchingParts,
  call: CallOptions,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const { isDistributed, column } = facts;
  try {
    return await read(work, call);
  } catch (error) {
    // Another process may have distributed the tables, which then take other statements, or migrated the store.
    if (!isOutdated(error)) throw error;
    await facts.refresh(call);
    if (facts.isDistributed === isDistributed && facts.column === column) throw error;
    return read(work, call);
  }
}

/**
 * Searches in one statement, but for what is remembered afterwards: how much a filter lets through, and on a cluster how many
 * chunks have a word. Words are counted again there where somebody has written since.
 */
async function searchIn(
  session: Session,
  { facts, counts, sizes }: SearchingParts,
  search: Search,
): Promise<SearchResult> {
  const { lexical, filter } = search;
  const { isDistributed, column } = facts;
  const dense = search.dense && { ...search.dense, column };
  const count = Math.max(dense?.count ?? 0, lexical?.count ?? 0);
  const use = { count, isDistributed, maxCompared };
  const matching = filter && { filter, areFew: await sizes.areFew(session, { ...use, filter }) };
  const sides = { ...(dense && { dense }), ...(lexical && { lexical }), matching };
  if (!lexical || !isDistributed) return searchOnce(session, sides, counts);
  const words = [...lexical.words.keys(), ...lexical.required];
  // The tables may have been distributed just now, for a search of both sides.
  const near = dense ? (await searchOnce(session, { dense, matching })).dense : [];
  const searchBy = async (statistics: CollectionStatistics) => ({
    ...(await searchOnce(session, { lexical: { ...lexical, statistics }, matching })),
    dense: near,
  });
  const remembered = counts?.statistics(words);
  const found = remembered && (await searchBy(remembered));
  if (found && (await writtenNow(session)) === remembered.written) return found;
  const statistics = await wordStatistics(session, words);
  counts?.remember(statistics);
  return searchBy(statistics);
}
