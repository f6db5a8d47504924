import { AsyncLocalStorage } from "node:async_hooks";
import { given } from "../../core/given.js";
import type { Hit } from "../../core/types.js";
import type { KnowledgeBase } from "../../knowledge-base/options.js";
import type { SearchPassagesOptions } from "../../knowledge-base/question-options.js";
import type { BaseRetriever, DocumentInterface, LangChainCore, RunnableConfig } from "./core.js";

/** The search of a knowledge base as a retriever. */
export function retrieverOf(
  core: LangChainCore,
  { search }: Pick<KnowledgeBase, "search">,
  options: SearchPassagesOptions,
): BaseRetriever {
  // LangChain does not hand the call's signal down to the method that searches.
  const signals = new AsyncLocalStorage<AbortSignal | undefined>();
  class CitewellRetriever extends core.BaseRetriever {
    lc_namespace = ["citewell", "retrievers"];

    override invoke(query: string, config?: Partial<RunnableConfig>): Promise<DocumentInterface[]> {
      return signals.run(config?.signal, () => super.invoke(query, config));
    }

    override async _getRelevantDocuments(query: string): Promise<DocumentInterface[]> {
      const { hits } = await search(query, { ...options, ...given({ signal: signals.getStore() }) });
      return hits.map((hit) => documentOf(core, hit));
    }
  }
  return new CitewellRetriever();
}

/** A passage as LangChain's document: the document's metadata, and where in it the passage stands. */
export function documentOf(core: LangChainCore, hit: Hit): DocumentInterface {
  const { uri, title, line, page, seconds, score, chunk, metadata } = hit;
  return new core.Document({
    id: chunk.id,
    pageContent: chunk.text,
    metadata: {
      ...metadata,
      source: uri,
      ...given({ title, line, page, seconds }),
      start: chunk.start,
      end: chunk.end,
      score,
    },
  });
}
