import type { z } from "zod";
import { OptionsError } from "../core/errors.js";
import { resolve } from "../core/options.js";
import type { CloseOptions } from "../core/ports.js";
import { type Conversations, keepsConversations } from "../store/conversations/conversations.js";
import { closeOptions } from "../store/call-options.js";
import { openStoreAt } from "../store/open-store-at.js";
import { connectModels } from "./connect-models.js";
import { ingest } from "./ingest.js";
import { type KnowledgeBase, type KnowledgeBaseOptions, knowledgeBaseOptions } from "./options.js";
import { planIngest } from "./plan.js";
import { RunningWork } from "./running-work.js";

// Vectors made of words say little that the words do not. Chosen on halves of SciFact's training queries, Cranfield, SQuAD and
// CMRC, where 0.2 and 0.3 rank alike and better than words alone, 0.2 above all on SciFact.
const lexicalEmbeddingWeights = { dense: 0.2, lexical: 1 } as const;

/**
 * Opens or creates a store and puts the public stages around it. With no `transport` and no models of your own, everything
 * runs offline on the local service. With a schema of the metadata, filters and documents have its fields as types.
 *
 * @throws OptionsError for bad options, StoreError when the store at `path` cannot be used as it is asked for.
 * @example
 * ```ts
 * import { collectAnswer, openKnowledgeBase, readFolder } from "citewell";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * await kb.ingest(readFolder("./docs"));
 * console.log((await collectAnswer(kb.ask("Who keeps the recovery key?"))).text);
 * await kb.close();
 * ```
 */
export function openKnowledgeBase<Schema extends z.ZodObject>(
  options: Omit<KnowledgeBaseOptions, "metadata"> & {
    /** Schema of every document's metadata. */
    readonly metadata: Schema;
  },
): Promise<KnowledgeBase<z.output<Schema>>>;
export function openKnowledgeBase(options?: KnowledgeBaseOptions): Promise<KnowledgeBase>;
export async function openKnowledgeBase(options: KnowledgeBaseOptions = {}): Promise<KnowledgeBase> {
  const settings = resolve("openKnowledgeBase", knowledgeBaseOptions, options);
  const { path, create, requireScope, metadata, onWarning, chunk, concurrency } = settings;
  const { searchAndAsk } = await import("./ask.js");
  const models = await connectModels(settings);
  try {
    const { embedder } = models;
    if (settings.store && settings.latent) {
      throw new OptionsError(
        "options",
        "openKnowledgeBase: latent is an option of the store that you pass: give it to openStore()",
      );
    }
    const latent = settings.latent ?? (models.lexicalEmbedding && "auto");
    const store =
      settings.store ??
      (await openStoreAt(path, embedder, { create, requireScope, onWarning, latent, ...(metadata && { metadata }) }));
    const weights = settings.weights ?? (models.lexicalEmbedding ? lexicalEmbeddingWeights : undefined);
    const running = new RunningWork();
    let conversations: Conversations | undefined;
    let closed: Promise<void> | undefined;
    const questions = searchAndAsk(store, { ...models, store, weights, running }, () => {
      if (!keepsConversations(store)) throw withoutConversations();
      return (conversations ??= store.conversations());
    });
    const close = async (closing: CloseOptions) => {
      await running.end(store.location);
      try {
        conversations?.close();
        if (!settings.store) await store.close(closing);
      } finally {
        await models.close();
      }
    };
    return {
      store,
      ingest: (source, how = {}) =>
        running.run(how.signal, (signal) => ingest(source, { chunk, concurrency, ...how, signal, store, embedder })),
      plan: (source, how = {}) =>
        running.run(how.signal, (signal) => planIngest(source, { chunk, ...how, signal, store, embedder })),
      verify: (checks = {}) => running.run(checks.signal, (signal) => store.verify({ ...checks, signal })),
      ...questions,
      close: async (closing = {}) => {
        const checked = resolve("close", closeOptions, closing);
        await (closed ??= close(checked));
      },
    };
  } catch (error) {
    await models.close();
    throw error;
  }
}

function withoutConversations(): OptionsError {
  return new OptionsError(
    "options",
    "conversations, and decisions on calls that wait for approval, are kept by the stores of openStore() and " +
      "openPostgresStore() alone. Open the knowledge base with one of these; or keep the turns yourself and pass them as history, " +
      "ask({ question, history }), and resume answers by resumeAnswer() with a book of your own",
  );
}
