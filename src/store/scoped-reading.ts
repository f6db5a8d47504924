import type { z } from "zod";
import { OptionsError, StoreError } from "../errors.js";
import { bothFilters, checkFilter, type Filter } from "../filter.js";
import type { Found, RetrievalQuery, RetrieveCall, Retriever, Searchable } from "../ports.js";
import { checkFields } from "./filter-fields.js";
import { FoundChunk } from "./found-chunk.js";
import type { StoreReader } from "./store-reader.js";
import type { Ranking } from "./top-k.js";

type Search = (query: RetrievalQuery, count: number, filter: Filter | undefined) => Promise<Ranking>;

export interface ScopedReadingOptions {
  /** Folder that the caller named. */
  readonly location: string;
  /** Whether nothing is shown without a scope. */
  readonly requireScope: boolean;
  readonly metadataSchema: z.ZodObject | undefined;
  readonly reader: StoreReader;
  readonly search: { readonly dense: Search; readonly lexical: Search };
  /** Runs work while the store is open. */
  readonly use: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** What is read and found within a scope. */
export class ScopedReading {
  readonly #options: ScopedReadingOptions;

  constructor(options: ScopedReadingOptions) {
    this.#options = options;
  }

  within(scope: Filter | undefined): Pick<Searchable, "dense" | "lexical" | "document" | "hits"> {
    const { reader, search, use } = this.#options;
    return {
      dense: this.#retriever("dense", scope, search.dense),
      lexical: this.#retriever("lexical", scope, search.lexical),
      document: (uri, call = {}) =>
        use(async () => {
          const filter = this.#admitting(scope, call.filter);
          return reader.atOneMoment(() =>
            filter && !reader.letsThrough(filter)(uri) ? undefined : reader.document(uri),
          );
        }),
      hits: (found, call = {}) =>
        use(async () => {
          const filter = this.#admitting(scope, call.filter);
          const letsThrough = filter ? reader.letsThrough(filter) : () => true;
          return reader.atOneMoment(() =>
            found.flatMap(({ chunkId, score, placements }) => {
              const stored = reader.chunk(chunkId);
              // In this order: of a literal that begins with a spread and goes on with names of its own, V8 makes a hidden
              // class for each object, 290 bytes that only a full collection frees.
              return stored && letsThrough(stored.uri) ? [{ score, placements, ...stored }] : [];
            }),
          );
        }),
    };
  }

  /** @throws OptionsError for what is no filter, or asks for fields that documents do not have. */
  checked(filter: unknown): Filter {
    const checked = checkFilter("filter", filter);
    const { metadataSchema } = this.#options;
    if (metadataSchema) checkFields(metadataSchema, checked);
    return checked;
  }

  /** What a call may see: all that its scope and its own filter both let through. */
  #admitting(scope: Filter | undefined, filter: Filter | undefined): Filter | undefined {
    const { location, requireScope } = this.#options;
    if (scope === undefined && requireScope) {
      throw new StoreError(
        "scope",
        `The store at ${location} was opened with requireScope: search and read through store.scoped(filter)`,
        { path: location },
      );
    }
    return bothFilters(scope, filter === undefined ? undefined : this.checked(filter));
  }

  #retriever(name: string, scope: Filter | undefined, search: Search): Retriever {
    return {
      name,
      retrieve: (query: RetrievalQuery, { count, signal, filter }: RetrieveCall) =>
        this.#options.use(async () => {
          signal?.throwIfAborted();
          if (!Number.isInteger(count) || count < 1) {
            throw new OptionsError("options", `${name}: count: expected a whole number from 1 on (got ${count})`);
          }
          const ranking = await search(query, count, this.#admitting(scope, filter));
          signal?.throwIfAborted();
          return this.#found(name, ranking);
        }),
    };
  }

  #found(by: string, { labels, scores }: Ranking): Found[] {
    const found: Found[] = [];
    for (const [at, chunkId] of this.#options.reader.chunkIds(labels).entries()) {
      if (chunkId === undefined) continue;
      found.push(new FoundChunk(chunkId, by, found.length + 1, scores[at]!));
    }
    return found;
  }
}
