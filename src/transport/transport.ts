import type { ModelInfo } from "../contract/catalogue.js";
import type { EmbeddingsRequest } from "../contract/embeddings.js";
import type { RerankRequest } from "../contract/rerank.js";
import type { VideoRequest } from "../contract/video.js";
import type { VideoTaskListRequest } from "../contract/video-tasks.js";
import type { Submission } from "../errors.js";
import type { CallOptions } from "../ports.js";
import type { Price } from "../price.js";
import { type ChatCallOptions, type TransportChatRequest, chat, chatStream } from "./chat.js";
import type { ChatResult, ChatStreamEvent } from "./chat-result.js";
import { type EmbeddingsResult, embeddings } from "./embeddings.js";
import { type TransportOptions, transportSettings } from "./options.js";
import { type RerankResult, rerank } from "./rerank.js";
import type { ModelTotals } from "./totals.js";
import { type PublishedModel, listModels } from "./list-models.js";
import { Upstream } from "./upstream.js";
import { type CreateVideoCall, type CreatedVideoTask, createVideoTask } from "./video-create.js";
import { type DownloadVideoOptions, type DownloadedVideo, downloadVideo } from "./video-download.js";
import { type ReconcileVideoOptions, type ReconciledVideo, reconcileVideo } from "./video-reconcile.js";
import type { VideoTask } from "./video-task.js";
import { type VideoTaskPage, cancelVideoTask, listVideoTasks, videoTask } from "./video-tasks.js";
import { type WaitForVideoOptions, waitForVideo } from "./video-wait.js";

/**
 * The one door to the service. Requests use the contract's own field names and are checked before a byte is sent;
 * replies are checked against what was asked. Every method throws `TransportError`, and the reason of `signal` as it
 * is when that ends the call.
 */
export interface Transport {
  /** The contract's `{base_url}`, as it is used. */
  readonly baseUrl: string;
  /** What is known of models: those of the options before those of the catalogue. */
  readonly models: readonly ModelInfo[];
  /** Prices of models by id, as they were given. */
  readonly prices: Readonly<Record<string, Price>>;
  /** Texts to vectors, in the order of the texts. */
  readonly embeddings: (request: EmbeddingsRequest, call?: CallOptions) => Promise<EmbeddingsResult>;
  /** Documents by what they say about a query, best first. */
  readonly rerank: (request: RerankRequest, call?: CallOptions) => Promise<RerankResult>;
  /** An answer, whole. */
  readonly chat: (request: TransportChatRequest, call?: ChatCallOptions) => Promise<ChatResult>;
  /** An answer while it is made; nothing is sent before the loop begins, and leaving the loop closes the connection. */
  readonly chatStream: (request: TransportChatRequest, call?: ChatCallOptions) => AsyncIterable<ChatStreamEvent>;
  /** What all calls so far came to, by model: calls, bytes, tokens, and cost by `prices`. */
  readonly totals: () => Readonly<Record<string, ModelTotals>>;
  /**
   * Starts a video and returns its id; the answer may take minutes. Never sent twice when it may have arrived: then the
   * error is `ambiguous`, and its `submission` says what to look for: hand it to `reconcileVideo`.
   */
  readonly createVideoTask: (request: VideoRequest, call?: CreateVideoCall) => Promise<CreatedVideoTask>;
  /** A video task as it is now. */
  readonly videoTask: (id: string, call?: CallOptions) => Promise<VideoTask>;
  /** A video task once it has succeeded; throws `VideoError` with the task when it ends otherwise, or not in time. */
  readonly waitForVideo: (id: string, call?: WaitForVideoOptions) => Promise<VideoTask>;
  /** Streams a task's video or last frame into a file, without the key, going on where an earlier attempt stopped. */
  readonly downloadVideo: (task: VideoTask, path: string, options?: DownloadVideoOptions) => Promise<DownloadedVideo>;
  /** Tasks of the last seven days. An extension: not every service has it. */
  readonly listVideoTasks: (request?: VideoTaskListRequest, call?: CallOptions) => Promise<VideoTaskPage>;
  /**
   * Looks for the task of a creation that ended as `ambiguous`, by the error's `submission`. Never creates one. Rests on
   * the list, an extension: not every service has it.
   */
  readonly reconcileVideo: (submission: Submission, options?: ReconcileVideoOptions) => Promise<ReconciledVideo>;
  /** Cancels a queued task, or deletes the record of a finished one. An extension: not every service has it. */
  readonly cancelVideoTask: (id: string, call?: CallOptions) => Promise<void>;
  /** What the service publishes. An extension: not every service has it. */
  readonly listModels: (call?: CallOptions) => Promise<readonly PublishedModel[]>;
  /** Ends calls in flight and closes every connection. */
  readonly close: () => Promise<void>;
}

/** @throws OptionsError when an option is unknown or out of range. */
export function createTransport(options: TransportOptions): Transport {
  const upstream = new Upstream(transportSettings(options));
  return {
    baseUrl: upstream.settings.baseUrl,
    models: upstream.models,
    prices: upstream.settings.prices,
    embeddings: async (request, call = {}) => embeddings(upstream, request, call),
    rerank: async (request, call = {}) => rerank(upstream, request, call),
    chat: async (request, call = {}) => chat(upstream, request, call),
    chatStream: (request, call = {}) => chatStream(upstream, request, call),
    totals: () => upstream.totals(),
    createVideoTask: async (request, call = {}) => createVideoTask(upstream, request, call),
    videoTask: async (id, call = {}) => videoTask(upstream, id, call),
    waitForVideo: async (id, call = {}) => waitForVideo(upstream, id, call),
    downloadVideo: async (task, path, call = {}) => downloadVideo(upstream, task, path, call),
    listVideoTasks: async (request = {}, call = {}) => listVideoTasks(upstream, request, call),
    reconcileVideo: async (submission, call = {}) => reconcileVideo(upstream, submission, call),
    cancelVideoTask: async (id, call = {}) => cancelVideoTask(upstream, id, call),
    listModels: async (call = {}) => listModels(upstream, call),
    close: () => upstream.close(),
  };
}
