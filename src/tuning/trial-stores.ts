import { rm } from "node:fs/promises";
import { join } from "node:path";
import { given } from "../core/given.js";
import type { Document } from "../core/types.js";
import type { KnowledgeBase } from "../knowledge-base/options.js";
import { openBeside } from "../knowledge-base/open.js";
import { BudgetReached } from "./chat-budget.js";
import { sameCut, type TunedSettings } from "./candidate-settings.js";
import type { ReusedEmbeddings } from "./reused-embeddings.js";

export interface TrialStoresOptions {
  readonly kb: KnowledgeBase;
  /** How the documents of the knowledge base are cut. */
  readonly present: TunedSettings["chunk"];
  /** Folder of the stores. */
  readonly folder: string;
  readonly embeddings: ReusedEmbeddings;
  readonly signal: AbortSignal | undefined;
}

/** Stores of the same documents, cut in other ways. They stay open until all are closed. */
export class TrialStores {
  readonly #options: TrialStoresOptions;
  readonly #open = new Map<string, KnowledgeBase>();

  constructor(options: TrialStoresOptions) {
    this.#options = options;
  }

  /**
   * The documents in chunks of this size.
   *
   * @throws BudgetReached when embedding them passes the budget.
   */
  async of(chunk: TunedSettings["chunk"]): Promise<KnowledgeBase> {
    const { kb, present, folder, embeddings, signal } = this.#options;
    // The present store as well: its questions are embedded once, by the same way.
    const name = sameCut(chunk, present) ? "present" : `${chunk.maxTokens}-${chunk.overlapTokens ?? "default"}`;
    const known = this.#open.get(name);
    if (known) return known;
    const opened = await openBeside(kb, join(folder, name), { ...chunk }, (embedder) => embeddings.before(embedder));
    this.#open.set(name, opened);
    if (embeddings.left === 0) throw new BudgetReached("no tokens are left for a store with chunks of another size");
    const limit = Number.isFinite(embeddings.left) ? { maxTokens: embeddings.left } : {};
    const report = await opened.ingest(documentsOf(kb, signal), { ...limit, ...(signal && { signal }) });
    if (report.stopped) throw new BudgetReached(report.stopped.reason);
    return opened;
  }

  /** @param dropped whether the stores are deleted; else another run goes on with them. */
  async close(dropped: boolean): Promise<void> {
    for (const opened of this.#open.values()) await opened.close();
    this.#open.clear();
    if (dropped) await rm(this.#options.folder, { recursive: true, force: true });
  }
}

async function* documentsOf(kb: KnowledgeBase, signal: AbortSignal | undefined): AsyncGenerator<Document> {
  for (const { uri } of await kb.store.documents()) {
    signal?.throwIfAborted();
    const document = await kb.store.document(uri);
    if (document) yield withoutSource(document);
  }
}

/** Only a complete run over its own source may delete a document, and this is none. */
function withoutSource(document: Document): Document {
  const { uri, text, title, metadata, mediaType, anchors } = document;
  return { uri, text, ...given({ title, metadata, mediaType, anchors }) };
}
