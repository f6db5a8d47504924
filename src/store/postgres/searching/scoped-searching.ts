import { OptionsError } from "../../../core/errors.js";
import type { Filter } from "../../../core/filter.js";
import { resolve } from "../../../core/options.js";
import type { CallOptions, RetrievalQuery, RetrieveCall, Retriever, Searchable } from "../../../core/ports.js";
import { requiredTerms } from "../../../text/words/phrase-match.js";
import { queryTerms, terms } from "../../../text/words/terms.js";
import { documentsFilter, readCall, retrieveCall } from "../../call-options.js";
import { checkVector, normalised } from "../../database/vectors.js";
import type { ScopeRules } from "../../scope-rules.js";
import { originalText } from "../columns/column-text.js";
import { readDocument, readHits, readInfos } from "../reading.js";
import type { Shards } from "../sharding/shards.js";
import type { StoreFacts } from "../store-facts.js";
import { askedTogether } from "./asked-together.js";
import { GatheredSearches } from "./gathered-searches.js";
import {
  type Scored,
  searchServer,
  type SearchResult,
  type SearchStatement,
  type ServerResult,
  type Side,
} from "./statement.js";
import { addedUp, statesOf, type WordCounts, type WordStatistics, wordStatistics } from "./word-statistics.js";

/** What a store is searched and read with, within a scope. */
export type ScopedSearching = Pick<
  Searchable,
  "dense" | "lexical" | "document" | "documentInfo" | "documents" | "hits"
>;

export interface SearchingParts {
  readonly shards: Shards;
  readonly facts: StoreFacts;
  readonly rules: ScopeRules;
  /** Length of the vectors, if the embedder knows it. */
  readonly dimension: number | undefined;
  /** How many chunks have a word. None where the server shows different chunks to different scopes. */
  readonly counts?: WordCounts | undefined;
}

/** Searches and reads on all servers, within a scope if there is one. */
export function searchingWithin(scope: Filter | undefined, parts: SearchingParts): ScopedSearching {
  const { shards, facts, rules } = parts;
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
      return found[name].map(({ id, score }, at) => ({
        chunkId: originalText(id),
        score,
        placements: [{ by: name, rank: at + 1, score }],
      }));
    },
  });
  return {
    dense: retriever("dense"),
    lexical: retriever("lexical"),
    document: async (uri, call = {}) => {
      const filter = filtered(resolve("document", readCall, call).filter);
      return (await shards.each((session) => readDocument(session, uri, filter))).find((found) => found);
    },
    documentInfo: askedTogether(async (uris) => {
      const filter = filtered(undefined);
      const found = (await shards.each((session) => readInfos(session, { uris }, filter))).flat();
      return new Map(found.map((info) => [info.uri, info]));
    }),
    documents: async (given = {}) => {
      const wanted = resolve("documents", documentsFilter, given);
      const filter = filtered(undefined);
      const found = (await shards.each((session) => readInfos(session, wanted, filter))).flat();
      if (shards.count === 1) return found;
      // While a bucket moves, its documents may stand on two servers.
      const distinct = [...new Map(found.map((info) => [info.uri, info])).values()];
      return distinct.toSorted(inOrderOfBytes).slice(0, wanted.limit);
    },
    hits: async (found, call = {}) => {
      const filter = filtered(resolve("hits", readCall, call).filter);
      const hits = (await shards.answering((session) => readHits(session, found, filter))).flat();
      if (shards.count === 1) return hits;
      const byId = new Map(hits.map((hit) => [hit.chunk.id, hit]));
      return found.flatMap(({ chunkId }) => byId.get(chunkId) ?? []);
    },
  };
}

function denseSide(
  { vector }: RetrievalQuery,
  count: number,
  { facts, dimension }: SearchingParts,
): Pick<SearchStatement, "dense"> | undefined {
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

function lexicalSide(
  { text, phrases = [] }: RetrievalQuery,
  count: number,
): Pick<SearchStatement, "lexical"> | undefined {
  // A query with quotes is meant literally, so it keeps its question words.
  const words = phrases.length > 0 ? terms(text) : queryTerms(text);
  return words.length === 0 ? undefined : { lexical: { words, count, required: requiredTerms(phrases) } };
}

async function searchAll(parts: SearchingParts, search: SearchStatement, call: CallOptions): Promise<SearchResult> {
  const found = await searchServers(parts, search, call);
  const bestOf = (side: Side, { count } = { count: 0 }) =>
    best(
      found.map((each) => each[side]),
      count,
    );
  return { dense: bestOf("dense", search.dense), lexical: bestOf("lexical", search.lexical) };
}

/**
 * Weighs words by how rare they are in the whole collection, so that ranks do not depend on the number of servers. Several
 * servers are asked for that first, or afterwards where what is remembered of them does not hold any more.
 */
async function searchServers(
  { shards, counts }: SearchingParts,
  { lexical, ...search }: SearchStatement,
  call: CallOptions,
): Promise<readonly ServerResult[]> {
  const searched = (statistics?: WordStatistics, ofOne?: WordCounts) => {
    const statement = { ...search, ...(lexical && { lexical: { ...lexical, statistics } }) };
    return shards.answering((session) => searchServer(session, statement, ofOne), call);
  };
  if (!lexical || shards.count === 1) return searched(undefined, counts);
  const remembered = counts?.statistics(lexical.words);
  const found = remembered && (await searched(remembered));
  if (found && statesOf(found) === remembered.written) return found;
  const statistics = addedUp(await shards.answering((session) => wordStatistics(session, lexical.words), call));
  counts?.rememberStatistics(statistics);
  return searched(statistics);
}

function inOrderOfBytes(one: { readonly uri: string }, other: { readonly uri: string }): number {
  return Buffer.compare(Buffer.from(one.uri), Buffer.from(other.uri));
}

/** The best of all servers; a chunk that is just being moved comes from two. */
function best(found: readonly (readonly Scored[])[], count: number): readonly Scored[] {
  if (found.length === 1) return found[0]!;
  const distinct = [...new Map(found.flat().map((each) => [each.id, each])).values()];
  return distinct.toSorted((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1)).slice(0, count);
}
