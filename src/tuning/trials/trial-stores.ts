import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { given } from "../../core/given.js";
import type { Document } from "../../core/types.js";
import { type Beside, openBeside } from "../../knowledge-base/open.js";
import type { KnowledgeBase } from "../../knowledge-base/options.js";
import { isSameStore, nameOf, type TunedSettings } from "../candidate-settings.js";
import type { ReusedEmbeddings } from "./reused-embeddings.js";
import type { ReusedRankings } from "./reused-rankings.js";

export interface TrialStoresOptions {
  readonly kb: KnowledgeBase;
  /** Settings of the knowledge base. */
  readonly present: TunedSettings;
  /** Folder of the stores. */
  readonly folder: string;
  readonly embeddings: ReusedEmbeddings;
  readonly rankings: ReusedRankings;
  readonly signal: AbortSignal | undefined;
}

/** Stores of the same documents, cut in other ways or embedded by other models. They stay open until all are closed. */
export class TrialStores {
  readonly #options: TrialStoresOptions;
  readonly #open = new Map<string, KnowledgeBase>();

  constructor(options: TrialStoresOptions) {
    this.#options = options;
  }

  /**
   * The documents as these settings cut and embed them, with their reranker.
   *
   * @throws BudgetReached when embedding them exceeds the budget.
   */
  async of(settings: TunedSettings): Promise<KnowledgeBase> {
    const filled = await this.#filled(settings);
    const { rerank } = settings.models ?? {};
    if (rerank === undefined) return filled;
    const name = `${storeName(settings)} ${rerank}`;
    const known = this.#open.get(name);
    if (known) return known;
    return this.#openAs(name, { place: filled.store, ...given({ models: settings.models }) });
  }

  async #filled(settings: TunedSettings): Promise<KnowledgeBase> {
    const { kb, present, folder, signal } = this.#options;
    const { chunk, models } = settings;
    // The present store as well: its questions are embedded once, by the same way.
    const name = isSameStore(settings, present) ? "present" : storeName(settings);
    const known = this.#open.get(name);
    if (known) return known;
    const embedding = given({ embedding: models?.embedding });
    const opened = await this.#openAs(name, { place: join(folder, name), chunk: { ...chunk }, models: embedding });
    // The embedder in front of it keeps to the budget: the ingest cannot see which texts cost nothing.
    await opened.ingest(documentsOf(kb, signal), { ...(signal && { signal }) });
    return opened;
  }

  async #openAs(name: string, beside: Pick<Beside, "place" | "chunk" | "models">): Promise<KnowledgeBase> {
    const { kb, embeddings, rankings } = this.#options;
    const opened = await openBeside(kb, {
      ...beside,
      wrapEmbedder: (embedder) => embeddings.before(embedder),
      wrapReranker: (reranker) => rankings.before(reranker),
    });
    this.#open.set(name, opened);
    return opened;
  }

  /** @param dropped whether the stores are deleted; else another run goes on with them. */
  async close(dropped: boolean): Promise<void> {
    // A trial with another reranker alone was opened after the one whose store it shares.
    for (const opened of [...this.#open.values()].toReversed()) await opened.close();
    this.#open.clear();
    if (dropped) await rm(this.#options.folder, { recursive: true, force: true });
  }
}

/** A name for a folder: readable as far as it can be, and another for each way of cutting and embedding. */
function storeName({ chunk, models }: TunedSettings): string {
  const hash = createHash("sha256").update(
    nameOf({ chunk, retrieval: {}, models: given({ embedding: models?.embedding }) }),
  );
  return `${chunk.maxTokens}-${hash.digest("hex").slice(0, 12)}`;
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
