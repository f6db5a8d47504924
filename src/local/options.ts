import { z } from "zod";
import { localModels, videoModels, type ModelInfo } from "../contract/catalogue.js";
import { defaultMaxBatchTexts } from "../contract/embeddings.js";
import type { Engines } from "./engines/engines.js";
import { FaultOptions } from "./faults/faults.js";
import { Forwarding } from "./http/forward.js";
import { RateLimitOptions } from "./http/rate-limits.js";
import type { RequestLog } from "./http/connections.js";
import { VideoOptions } from "./video/video-tasks.js";

const ApiKey = z.string().regex(/^\S+$/, "must be one word");

export const LocalServiceOptions = z.strictObject({
  /** 0 to 65535; 0 takes any free port. Default: 0. */
  port: z.int().min(0).max(65_535).default(0),
  /** Address to listen on. Default: 127.0.0.1, which other machines cannot reach. */
  host: z.string().min(1).default("127.0.0.1"),
  /** The key that callers must send as `Authorization: Bearer …`. Default: a random key, found in `LocalService.apiKey`. */
  apiKey: ApiKey.optional(),
  /** More keys that are taken. Rate limits count for each key apart. Default: none. */
  moreApiKeys: z.array(ApiKey).default([]),
  /** Models to publish. Default: `localModels` and `videoModels` of the contract. */
  models: z
    .custom<readonly ModelInfo[]>(Array.isArray, "must be an array of models")
    .default([...localModels, ...videoModels]),
  /** Most texts in one embeddings request, 1 or more. Default: 32. */
  maxBatchTexts: z.int().min(1).default(defaultMaxBatchTexts),
  /** Most choices that a chat request may ask for as `n`, 1 or more. Default: 8. */
  maxChoices: z.int().min(1).default(8),
  /** Pause before each streamed event, in milliseconds, to see what a slow model looks like. 0 or more. Default: 0. */
  eventDelayMs: z.number().min(0).default(0),
  /** A silent stream sends a comment this often, in milliseconds, 1 or more. Default: 15,000. */
  keepAliveMs: z.number().min(1).default(15_000),
  /** Seconds of the service's time in one of the wall clock's: tasks, their expiry, rate limits. Above 0. Default: 1. */
  timeScale: z.number().gt(0).max(10_000_000).default(1),
  /** Limits for every key and model. Default: none. */
  rateLimits: RateLimitOptions.prefault({}),
  /** Faults to inject. Given, also as `{}`, they can be changed at `/local/faults`. Default: none. */
  faults: FaultOptions.optional(),
  /** Life of video tasks. */
  video: VideoOptions.prefault({}),
  /** Most requests at the same time, of all keys; one more is answered 503. 1 or more, default 256. */
  maxConcurrentRequests: z.int().min(1).default(256),
  /** How long a caller may take to send a request's headers, in milliseconds. 1 to 600,000, default 15,000. */
  headersTimeoutMs: z.int().min(1).max(600_000).default(15_000),
  /** How long a caller may take to send a whole request, in milliseconds. 1 to 3,600,000, default 300,000. */
  requestTimeoutMs: z.int().min(1).max(3_600_000).default(300_000),
  /** How long `close` lets requests that are under way go on, in milliseconds. 0 to 600,000, default 1,000. */
  closeGraceMs: z.int().min(0).max(600_000).default(1000),
  /** Hears of every request when its answer is over. Default: nobody. */
  log: z.custom<(entry: RequestLog) => void>((value) => typeof value === "function", "must be a function").optional(),
  /** Services of the same shape that carry out operations in the place of the built-in engines. Default: none. */
  forward: Forwarding.default({}),
  /**
   * A folder of models for `@huggingface/transformers`, which is loaded only then. Each folder in it with a
   * `config.json` is published under its path. Default: none.
   */
  modelsFolder: z.string().min(1).optional(),
  /** Engines that replace the built-in ones. Default: none. */
  engines: z
    .custom<Partial<Engines>>((value) => typeof value === "object" && value !== null, "must be an object of engines")
    .default({}),
});
export type LocalServiceOptions = z.input<typeof LocalServiceOptions>;
