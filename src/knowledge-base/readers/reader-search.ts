import type { Filter } from "../../core/filter.js";
import { type Stage, stage } from "../../core/pipeline.js";
import type { Embedded, Question, Retrieved } from "../../core/types.js";
import { remainingTime } from "../../stages/calls/timed-calls.js";
import type { SearchOptions } from "../../stages/retrieval/search.js";
import type { Readers } from "./readers.js";

/** The readers of a knowledge base, and the caller in whose turn they search. */
export interface ReadersFor {
  readonly readers: Readers;
  readonly caller: string;
}

export interface SearchedScope {
  /** Filter of the scope; `undefined` for the whole store. */
  readonly filter: Filter | undefined;
  /** @throws OptionsError for a filter that the store would refuse. */
  readonly check: (filter: Filter) => void;
}

/**
 * A search that readers make; `here` makes it on this thread where there are none.
 *
 * @param scope what of the store `here` searches.
 */
export function searchByReaders<In extends Question>(
  here: Stage<In, Retrieved>,
  { readers, caller }: ReadersFor,
  { filter: scope, check }: SearchedScope,
  options: SearchOptions,
): Stage<In, Retrieved> {
  return stage(
    here.name,
    async function* (source, context) {
      for await (const asked of source) {
        const { vector, space: _, ...others } = asked as Question & Partial<Embedded<Question>>;
        const { history: __, trace = [], ...question } = others;
        // A reader knows no schema of metadata, which cannot be sent to it.
        if (question.filter !== undefined) check(question.filter);
        const { deadlineMs } = remainingTime(context);
        const { hits, searchedFor, ...found } = await readers.run(
          "search",
          { question: { ...question, ...(vector && { vector }) }, scope, options, deadlineMs },
          {
            caller,
            signal: context.signal,
            here: async () => {
              for await (const one of here.run(only({ ...asked, trace: [] }), context)) return one;
              throw new Error("a search has one result");
            },
          },
        );
        yield {
          ...others,
          hits,
          trace: [...trace, ...found.trace],
          ...(searchedFor !== undefined && { searchedFor }),
        };
      }
    },
    here.facts,
  );
}

async function* only<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}
