import type { z } from "zod";
import { checkPort } from "../core/check-port.js";
import { OptionsError } from "../core/errors.js";
import { given } from "../core/given.js";
import { resolve } from "../core/options.js";
import type { CloseOptions, Embedder, Reranker, Store } from "../core/ports.js";
import type { Conversations } from "../store/conversations/conversations.js";
import { keepsConversations } from "../store/conversations/keeps-conversations.js";
import { closeOptions } from "../store/call-options.js";
import { openStoreAt } from "../store/open-store-at.js";
import { isDatabaseAddress } from "../store/store-address.js";
import { chat } from "../contract/chat.js";
import { rerank } from "../contract/rerank.js";
import type { AnswersRequest, ModelRequest } from "../local/in-process.js";
import { type GivenChunkOptions, keptSettings } from "./ingest/settings.js";
import { connectModels, type ModelFolder } from "./connect-models.js";
import { ingest } from "./ingest.js";
import {
  type KnowledgeBase,
  type KnowledgeBaseOptions,
  knowledgeBaseOptions,
  readerOptions,
  type ReaderOptions,
  type ReaderThreads,
} from "./options.js";
import { planIngest } from "./plan.js";
import { Readers } from "./readers/readers.js";
import { RunningWork } from "./running-work.js";

// Vectors made of words say little that the words do not. 0.1 and 0.2 rank alike on most of eight collections, 0.2 worse on short
// abstracts (benchmarks/quality).
const lexicalEmbeddingWeights = { dense: 0.1, lexical: 1 } as const;

/** The parts in which a knowledge base beside another differs from it. */
export interface Beside {
  /** Path of its store; or a store that is open already, and stays so when it is closed. */
  readonly place: string | Store;
  /** How documents are cut there, over what the other has. */
  readonly chunk?: GivenChunkOptions;
  /** Models in place of the other's, at the same service. */
  readonly models?: { readonly embedding?: string | ModelFolder; readonly rerank?: string };
  /** Puts something in front of its embedder. */
  readonly wrapEmbedder: (embedder: Embedder) => Embedder;
  /** Puts something in front of its reranker. The local service's costs nothing and judges passages together: it stays as it is. */
  readonly wrapReranker: (reranker: Reranker) => Reranker;
}

type OpenSibling = (beside: Beside) => Promise<KnowledgeBase>;

// Keyed by what openKnowledgeBase() returned, so that its public type need not offer this.
const siblings = new WeakMap<object, OpenSibling>();

/**
 * Opens another store with the models and settings of a knowledge base that is open, and stays so longer.
 *
 * @throws OptionsError for one that `openKnowledgeBase` did not return, such as a scoped one.
 */
export function openBeside(kb: object, beside: Beside): Promise<KnowledgeBase> {
  const open = siblings.get(kb);
  if (!open)
    throw new OptionsError("options", "must be a whole knowledge base, as openKnowledgeBase() returns it", {
      option: "kb",
    });
  return open(beside);
}

/** How the documents of a knowledge base were cut when it was last filled, as far as a caller said. */
export function chunkSettingsOf({ store }: Pick<KnowledgeBase, "store">): GivenChunkOptions {
  return keptSettings(store).chunk;
}

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
  const { path, create, distributed, requireScope, metadata, onWarning, chunk, concurrency } = settings;
  for (const port of ["store", "embedder", "reranker", "chatModel"] as const) {
    if (settings[port]) checkPort("openKnowledgeBase", port, settings[port]);
  }
  if (settings.pictureModel) checkPort("openKnowledgeBase", "chatModel", settings.pictureModel);
  const { searchAndAsk } = await import("./ask.js");
  const threads = new Set<Readers>();
  const models = await connectModels(settings, (request) => modelReader(threads, request));
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
      (await openStoreAt(path, embedder, {
        create,
        requireScope,
        onWarning,
        latent,
        ...given({ distributed, metadata }),
      }));
    const weights = settings.weights ?? (models.lexicalEmbedding ? lexicalEmbeddingWeights : undefined);
    const running = new RunningWork();
    let conversations: Conversations | undefined;
    let closed: Promise<void> | undefined;
    const conversing = () => {
      if (!keepsConversations(store)) throw withoutConversations();
      return (conversations ??= store.conversations());
    };
    const asking = { ...models, store, weights, running, ...given({ retrieval: settings.retrieval }) };
    const readers = (threadOptions: ReaderOptions): ReaderThreads => {
      const { workers, maxWaiting } = resolve("readers", readerOptions, threadOptions);
      if (settings.store) throw unreadable();
      const { space, dimension } = embedder;
      const started = new Readers(
        // The location of a database has no password.
        { path: isDatabaseAddress(path) ? path : store.location, space, dimension, latent, requireScope },
        { workers, maxWaiting, onWarning: onWarning ?? (() => {}) },
      );
      threads.add(started);
      return {
        as: (caller) => searchAndAsk(store, asking, conversing, undefined, { readers: started, caller }),
        waiting: () => started.waiting,
        threads: () => started.open,
        close: async () => {
          threads.delete(started);
          await started.close();
        },
      };
    };
    const questions = searchAndAsk(store, asking, conversing);
    const close = async (closing: CloseOptions) => {
      await running.end(store.location);
      await Promise.all([...threads].map((started) => started.close()));
      try {
        conversations?.close();
        if (!settings.store) await store.close(closing);
      } finally {
        await models.close();
      }
    };
    const opened: KnowledgeBase = {
      store,
      ingest: (source, how = {}) =>
        running.run(how.signal, (signal) => ingest(source, { chunk, concurrency, ...how, signal, store, embedder })),
      plan: (source, how = {}) =>
        running.run(how.signal, (signal) => planIngest(source, { chunk, ...how, signal, store, embedder })),
      embedder,
      reranker: models.reranks ? models.reranker() : undefined,
      hasChatModel: models.hasChatModel,
      seesPictures: models.seesPictures,
      verify: (checks = {}) => running.run(checks.signal, (signal) => store.verify({ ...checks, signal })),
      ...questions,
      readers,
      close: async (closing = {}) => {
        const checked = resolve("close", closeOptions, closing);
        await (closed ??= close(checked));
      },
    };
    siblings.set(opened, async ({ place, chunk: cut, models: others = {}, wrapEmbedder, wrapReranker }) => {
      const named = await connectModels({
        ...options,
        models: { ...options.models, ...others },
        embedder: others.embedding === undefined ? embedder : undefined,
        ...(others.rerank !== undefined && { reranker: undefined }),
      });
      // The local service's reranker is connected as here, so that it moves hits as far as it does here.
      const isLocalReranker = Object.keys(named.reranking).length > 0;
      const beside = await openKnowledgeBase({
        ...given({
          transport: options.transport,
          chat: options.chat,
          chatModel: options.chatModel,
          pictureModel: options.pictureModel,
          weights: options.weights,
          metadata,
          onWarning,
        }),
        ...(isLocalReranker || !named.reranks
          ? given({ models: { ...options.models, ...given({ rerank: others.rerank }) } })
          : given({ models: options.models, reranker: wrapReranker(named.reranker()) })),
        ...(typeof place === "string"
          ? {
              path: place,
              ...(!settings.store && given({ latent: settings.latent })),
              ...(settings.store && { latent: false }),
            }
          : { store: place }),
        concurrency,
        chunk: { ...chunk, ...cut },
        embedder: wrapEmbedder(named.embedder),
      });
      const closeAll = async (closing: CloseOptions = {}) => {
        await beside.close(closing);
        await named.close();
      };
      return { ...beside, close: closeAll };
    });
    return opened;
  } catch (error) {
    await models.close();
    throw error;
  }
}

/** A reader for what costs the local models' time: a question's vector is made faster than it is sent. */
function modelReader(threads: ReadonlySet<Readers>, { path }: ModelRequest): AnswersRequest | undefined {
  const [readers] = threads;
  if (!readers || readers.open === 0 || (path !== rerank.path && path !== chat.path)) return undefined;
  return (request, signal) => readers.run("model", request, { signal });
}

function unreadable(): OptionsError {
  const message = "readers open the store by its path: give openKnowledgeBase a path instead of a store of your own";
  return new OptionsError("options", message, { call: "readers", option: "store" });
}

function withoutConversations(): OptionsError {
  return new OptionsError(
    "options",
    "conversations, and decisions on calls that wait for approval, are kept by the stores of openStore() and " +
      "openPostgresStore() alone. Open the knowledge base with one of these; or keep the turns yourself and pass them as history, " +
      "ask({ question, history }), and resume answers by resumeAnswer() with a book of your own",
  );
}
