import type { ModelInfo } from "../contract/catalogue.js";
import type { EmbeddingsRequest } from "../contract/embeddings.js";
import type { RerankRequest } from "../contract/rerank.js";
import type { ServiceName } from "../dialects/services.js";
import type { VideoRequest } from "../contract/video.js";
import type { VideoTaskListRequest } from "../contract/video-tasks.js";
import { OptionsError, type Submission } from "../core/errors.js";
import type { CallOptions } from "../core/ports.js";
import type { Price } from "../core/types.js";
import { type ChatCallOptions, chat, chatStream } from "./operations/chat.js";
import type { ServiceRequest, TransportChatRequest } from "./operations/chat-request.js";
import type { ChatResult, ChatStreamEvent } from "./operations/chat-result.js";
import { type EmbeddingsCallOptions, type EmbeddingsResult, embeddings } from "./operations/embeddings.js";
import { type TransportOptions, transportSettings } from "./options.js";
import { type RerankResult, rerank } from "./operations/rerank.js";
import type { ModelTotals } from "./calls/totals.js";
import { type PublishedModel, listModels } from "./operations/list-models.js";
import { Caller } from "./calls/caller.js";
import type { CreateVideoCall, CreatedVideoTask } from "./video/create.js";
import type { DownloadVideoOptions, DownloadedVideo } from "./video/download.js";
import type { ReconcileVideoOptions, ReconciledVideo } from "./video/reconcile.js";
import type { VideoTask } from "./video/task.js";
import type { VideoTaskPage } from "./video/tasks.js";
import type { WaitForVideoOptions } from "./video/wait.js";

/**
 * The only door to the service. Requests use the contract's own field names and are checked before a byte is sent;
 * replies are checked against the request. Every method throws `TransportError`, and the reason of `signal` as it
 * is when that ends the call.
 */
export interface Transport<Service extends ServiceName = "contract"> {
  /** The kind of service, as given in the options. */
  readonly service: ServiceName;
  /** The contract's `{base_url}`, as it is used. */
  readonly baseUrl: string;
  /** The known models: those of the options before those of the catalogue. */
  readonly models: readonly ModelInfo[];
  /** Prices of models by id, as given in the options. */
  readonly prices: Readonly<Record<string, Price>>;
  /** Turns texts into vectors, in the order of the texts. */
  readonly embeddings: (request: EmbeddingsRequest, call?: EmbeddingsCallOptions) => Promise<EmbeddingsResult>;
  /** Ranks documents by their relevance to a query, best first. */
  readonly rerank: (request: RerankRequest, call?: CallOptions) => Promise<RerankResult>;
  /** Requests a reply and returns it when it is complete. */
  readonly chat: (request: ServiceRequest<Service>, call?: ChatCallOptions) => Promise<ChatResult>;
  /**
   * Streams a reply. Nothing is sent before the loop begins. Leaving the loop closes the connection; an aborted `signal` also
   * throws its `reason`.
   */
  readonly chatStream: (request: ServiceRequest<Service>, call?: ChatCallOptions) => AsyncIterable<ChatStreamEvent>;
  /** Sums of all calls so far, by model: calls, bytes, tokens, and cost by `prices`. */
  readonly totals: () => Readonly<Record<string, ModelTotals>>;
  /**
   * Starts a video and returns its id; the answer may take minutes. Never sent twice when it may have arrived: then the
   * error is `ambiguous`, and its `submission` says what to look for: hand it to `reconcileVideo`.
   */
  readonly createVideoTask: (request: VideoRequest, call?: CreateVideoCall) => Promise<CreatedVideoTask>;
  /** Returns a video task as it is now. */
  readonly videoTask: (id: string, call?: CallOptions) => Promise<VideoTask>;
  /** Waits for a video task to succeed; throws `VideoError` with the task when it ends otherwise, or not in time. */
  readonly waitForVideo: (id: string, call?: WaitForVideoOptions) => Promise<VideoTask>;
  /** Streams a task's video or last frame into a file, without the key, continuing where an earlier attempt stopped. */
  readonly downloadVideo: (task: VideoTask, path: string, options?: DownloadVideoOptions) => Promise<DownloadedVideo>;
  /** Lists tasks of the last seven days. An extension: not every service has it. */
  readonly listVideoTasks: (request?: VideoTaskListRequest, call?: CallOptions) => Promise<VideoTaskPage>;
  /**
   * Looks for the task of a creation that ended as `ambiguous`, by the error's `submission`. Never creates one. Needs the
   * list, an extension: not every service has it.
   */
  readonly reconcileVideo: (submission: Submission, options?: ReconcileVideoOptions) => Promise<ReconciledVideo>;
  /** Cancels a queued task, or deletes the record of a finished one. An extension: not every service has it. */
  readonly cancelVideoTask: (id: string, call?: CallOptions) => Promise<void>;
  /** Lists the models that the service publishes. An extension: not every service has it. */
  readonly listModels: (call?: CallOptions) => Promise<readonly PublishedModel[]>;
  /** Aborts calls in flight, which then throw, and closes every connection. */
  readonly close: () => Promise<void>;
}

// The first call loads the video modules, since few programs use them.
const create = () => import("./video/create.js");
const tasks = () => import("./video/tasks.js");
const wait = () => import("./video/wait.js");
const download = () => import("./video/download.js");
const reconcile = () => import("./video/reconcile.js");

/**
 * @throws OptionsError when an option is unknown or out of range.
 * @example
 * ```ts
 * import { createTransport } from "citewell";
 * const transport = createTransport({ baseUrl: "https://service.example/api", apiKey: "key", concurrency: 8 });
 * const { vectors } = await transport.embeddings({ model: "bge-m3", input: ["Keys expire."] }, { deadlineMs: 10_000 });
 * ```
 */
export function createTransport<const Service extends ServiceName = "contract">(
  options: TransportOptions & {
    /** The kind of service; decides what a chat request may hold. Default: `contract`. */
    readonly service?: Service;
  },
): Transport<Service> {
  const caller = new Caller(transportSettings(options));
  // Fields beyond the contract are checked when they are sent.
  const plain = (request: ServiceRequest<Service>) => request as TransportChatRequest;
  return {
    service: caller.settings.service,
    baseUrl: caller.settings.baseUrl,
    models: caller.models,
    prices: caller.settings.prices,
    embeddings: async (request, call = {}) => embeddings(caller, request, call),
    rerank: async (request, call = {}) => rerank(caller, request, call),
    chat: async (request, call = {}) => chat(caller, plain(request), call),
    chatStream: (request, call = {}) => chatStream(caller, plain(request), call),
    totals: () => caller.totals(),
    createVideoTask: async (request, call = {}) => (await create()).createVideoTask(caller, request, call),
    videoTask: async (id, call = {}) => (await tasks()).videoTask(caller, id, call),
    waitForVideo: async (id, call = {}) => (await wait()).waitForVideo(caller, id, call),
    downloadVideo: async (task, path, call = {}) => (await download()).downloadVideo(caller, task, path, call),
    listVideoTasks: async (request = {}, call = {}) => (await tasks()).listVideoTasks(caller, request, call),
    reconcileVideo: async (submission, call = {}) => (await reconcile()).reconcileVideo(caller, submission, call),
    cancelVideoTask: async (id, call = {}) => (await tasks()).cancelVideoTask(caller, id, call),
    listModels: async (call = {}) => listModels(caller, call),
    close: () => caller.close(),
  };
}

/** @throws OptionsError for a value that is no transport, such as its options. */
export function checkTransport(call: string, value: Transport): void {
  if ("embeddings" in Object(value) && "models" in Object(value)) return;
  throw new OptionsError("options", "the transport must be made by createTransport({ baseUrl, apiKey })", { call });
}
