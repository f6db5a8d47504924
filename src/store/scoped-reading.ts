import type { Filter } from "../core/filter.js";
import { resolve } from "../core/options.js";
import type { DocumentWrite, Found, RetrievalQuery, RetrieveCall, Retriever, Searchable } from "../core/ports.js";
import type { Placement } from "../core/types.js";
import { type NearStems, nearStems } from "../text/words/similar-words.js";
import { wordOfStem } from "../text/words/word-terms.js";
import { documentsFilter, readCall, retrieveCall, similarWordsCall } from "./call-options.js";
import type { StoreReader } from "./database/store-reader.js";
import type { Ranking } from "./derived/top-k.js";
import type { ScopeRules } from "./scope-rules.js";

type Search = (query: RetrievalQuery, count: number, filter: Filter | undefined) => Promise<Ranking>;

export interface ScopedReadingOptions {
  readonly rules: ScopeRules;
  readonly reader: StoreReader;
  readonly search: { readonly dense: Search; readonly lexical: Search; readonly latent?: Search | undefined };
  readonly latentWeight?: () => Promise<number | undefined>;
  readonly stems: (near: NearStems, count: number, filter: Filter | undefined) => Promise<readonly string[]>;
  /** Runs work while the store is open. */
  readonly use: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Searches and reads a store within scopes: filters that callers cannot widen. */
export class ScopedReading {
  readonly #options: ScopedReadingOptions;
  readonly #rules: ScopeRules;

  constructor(options: ScopedReadingOptions) {
    this.#options = options;
    this.#rules = options.rules;
  }

  within(
    scope: Filter | undefined,
  ): Pick<
    Searchable,
    "dense" | "lexical" | "latent" | "similarWords" | "document" | "documentInfo" | "documents" | "hits"
  > {
    const { reader, search, stems, use, latentWeight } = this.#options;
    return {
      dense: this.#retriever("dense", scope, search.dense),
      lexical: this.#retriever("lexical", scope, search.lexical),
      ...(search.latent && {
        latent: { ...this.#retriever("latent", scope, search.latent), ...(latentWeight && { weight: latentWeight }) },
      }),
      similarWords: (word, call) =>
        use(async () => {
          const { count, unfinished, filter, signal } = resolve("similarWords", similarWordsCall, call);
          signal?.throwIfAborted();
          const found = await stems(nearStems(word, unfinished), count, this.#rules.effective(scope, filter));
          signal?.throwIfAborted();
          return found.map(wordOfStem);
        }),
      document: (uri, call = {}) =>
        use(async () => {
          const filter = this.#rules.effective(scope, resolve("document", readCall, call).filter);
          return reader.inSnapshot(() => (filter && !reader.matcher(filter)(uri) ? undefined : reader.document(uri)));
        }),
      documentInfo: (uri) =>
        use(async () => {
          const filter = this.#rules.effective(scope, undefined);
          return reader.inSnapshot(() =>
            filter && !reader.matcher(filter)(uri) ? undefined : reader.documentInfo(uri),
          );
        }),
      documents: (given = {}) =>
        use(async () => {
          const wanted = resolve("documents", documentsFilter, given);
          const filter = this.#rules.effective(scope, undefined);
          const matches = filter ? reader.matcher(filter) : () => true;
          return reader.inSnapshot(() => reader.documents(wanted, matches));
        }),
      hits: (found, call = {}) =>
        use(async () => {
          const filter = this.#rules.effective(scope, resolve("hits", readCall, call).filter);
          const matches = filter ? reader.matcher(filter) : () => true;
          return reader.inSnapshot(() =>
            found.flatMap(({ chunkId, score, placements }) => {
              const stored = reader.chunk(chunkId);
              // The spread stands last: when a literal begins with one, V8 makes a hidden class for each object, 290 bytes
              // that only a full collection frees.
              return stored && matches(stored.uri) ? [{ score, placements, ...stored }] : [];
            }),
          );
        }),
    };
  }

  documentWithChunks(uri: string): Promise<DocumentWrite | undefined> {
    const { reader, use } = this.#options;
    return use(async () => {
      this.#rules.effective(undefined, undefined);
      return reader.inSnapshot(() => reader.documentWithChunks(uri));
    });
  }

  #retriever(name: string, scope: Filter | undefined, search: Search): Retriever {
    return {
      name,
      retrieve: (query: RetrievalQuery, call: RetrieveCall) =>
        this.#options.use(async () => {
          const { count, signal, filter } = resolve(name, retrieveCall, call);
          signal?.throwIfAborted();
          const ranking = await search(query, count, this.#rules.effective(scope, filter));
          signal?.throwIfAborted();
          return this.#found(name, ranking);
        }),
    };
  }

  #found(by: string, { labels, scores }: Ranking): Found[] {
    const found: Found[] = [];
    this.#options.reader.chunkIds(labels).forEach((chunkId, index) => {
      if (chunkId !== undefined)
        found.push(new FoundChunk(chunkId, new RankedBy(by, found.length + 1, scores[index]!)));
    });
    return found;
  }
}

// Created by constructors and `Array.of`, not by literals. V8 tracks which objects of a literal survive a collection. One that
// happens during the first search, whose results are all alive, makes it allocate all later ones in the old generation:
// 60 kB a search that only a full collection frees, and a heap twice as large.

class FoundChunk implements Found {
  readonly chunkId: string;
  readonly score: number;
  readonly placements: readonly Placement[];

  constructor(chunkId: string, placement: Placement) {
    this.chunkId = chunkId;
    this.score = placement.score;
    this.placements = Array.of(placement);
  }
}

class RankedBy implements Placement {
  readonly by: string;
  readonly rank: number;
  readonly score: number;

  constructor(by: string, rank: number, score: number) {
    this.by = by;
    this.rank = rank;
    this.score = score;
  }
}
