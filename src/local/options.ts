import { z } from "zod";
import { listOption, observerOption, optionsOf, secretOption } from "../core/options.js";
import { localModels, videoModels, type ModelInfo } from "../contract/catalogue.js";
import { defaultMaxBatchTexts } from "../contract/embeddings.js";
import type { Engines } from "./engines/engines.js";
import { type FaultOptions, faultOptions } from "./faults/faults.js";
import { type Forwarding, forwarding } from "./http/forward.js";
import { type RateLimitOptions, rateLimitOptions } from "./http/rate-limits.js";
import type { RequestLog } from "../network/connections.js";
import { type VideoOptions, videoOptions } from "./video/video-tasks.js";

export interface LocalServiceOptions {
  /** Port to listen on, 0 to 65,535; 0 takes any free port. Default: 0. */
  readonly port?: number;
  /** Address to listen on. Default: 127.0.0.1, which other machines cannot reach. */
  readonly host?: string;
  /** The key that callers must send as `Authorization: Bearer …`. Default: a random key, found in `LocalService.apiKey`. */
  readonly apiKey?: string;
  /** More keys that are accepted. Rate limits count each key separately. Default: none. */
  readonly moreApiKeys?: readonly string[];
  /** Models to publish. Default: `localModels` and `videoModels` of the contract. */
  readonly models?: readonly ModelInfo[];
  /** Maximum number of texts in one embeddings request, 1 or more. Default: 32. */
  readonly maxBatchTexts?: number;
  /** Maximum number of choices that a chat request may ask for as `n`, 1 or more. Default: 8. */
  readonly maxChoices?: number;
  /** Pause before each streamed event, in milliseconds, to see what a slow model looks like. 0 or more. Default: 0. */
  readonly eventDelayMs?: number;
  /** A silent stream sends a comment this often, in milliseconds, 1 or more. Default: 15,000. */
  readonly keepAliveMs?: number;
  /** Seconds of the service's time in one of the wall clock's: tasks, their expiry, rate limits. Above 0, to 10,000,000. Default: 1. */
  readonly timeScale?: number;
  /** Limits for every key and model. Default: none. */
  readonly rateLimits?: RateLimitOptions;
  /** Faults to inject. Given, also as `{}`, they can be changed at `/local/faults`. Default: none. */
  readonly faults?: FaultOptions;
  /** Life of video tasks. Default: as its options say. */
  readonly video?: VideoOptions;
  /** Maximum number of requests at the same time, of all keys; one more is answered 503. 1 or more, default 256. */
  readonly maxConcurrentRequests?: number;
  /** Maximum time for a caller to send a request's headers, in milliseconds. 1 to 600,000, default 15,000. */
  readonly headersTimeoutMs?: number;
  /** Maximum time for a caller to send a whole request, in milliseconds. 1 to 3,600,000, default 300,000. */
  readonly requestTimeoutMs?: number;
  /** Time that `close` gives requests under way to finish, in milliseconds. 0 to 600,000, default 1,000. */
  readonly closeGraceMs?: number;
  /** Called for every request when its answer is over. Default: nobody is told. */
  readonly log?: (entry: RequestLog) => void;
  /** Services of the same shape that carry out operations in the place of the built-in engines. Default: none. */
  readonly forward?: Forwarding;
  /**
   * A folder of models: static embedding models, and others for `@huggingface/transformers`, which is loaded for these alone.
   * Each folder in it with a `config.json` or `modules.json` is published under its path. Default: none.
   */
  readonly modelsFolder?: string;
  /** Engines that replace the built-in ones. Default: none. */
  readonly engines?: Partial<Engines>;
}

/** @internal */
export const localServiceOptions = optionsOf<LocalServiceOptions>()({
  port: z.int().min(0).max(65_535).default(0),
  host: z.string().min(1).default("127.0.0.1"),
  apiKey: secretOption().optional(),
  moreApiKeys: listOption(z.array(secretOption())).default([]),
  models: z
    .custom<readonly ModelInfo[]>(Array.isArray, "must be an array of models")
    .default([...localModels, ...videoModels]),
  maxBatchTexts: z.int().min(1).default(defaultMaxBatchTexts),
  maxChoices: z.int().min(1).default(8),
  eventDelayMs: z.number().min(0).default(0),
  keepAliveMs: z.number().min(1).default(15_000),
  timeScale: z.number().gt(0).max(10_000_000).default(1),
  rateLimits: rateLimitOptions.prefault({}),
  faults: faultOptions.optional(),
  video: videoOptions.prefault({}),
  maxConcurrentRequests: z.int().min(1).default(256),
  headersTimeoutMs: z.int().min(1).max(600_000).default(15_000),
  requestTimeoutMs: z.int().min(1).max(3_600_000).default(300_000),
  closeGraceMs: z.int().min(0).max(600_000).default(1000),
  log: observerOption<(entry: RequestLog) => void>("log").optional(),
  forward: forwarding.default({}),
  modelsFolder: z.string().min(1).optional(),
  engines: z
    .custom<Partial<Engines>>((value) => typeof value === "object" && value !== null, "must be an object of engines")
    .default({}),
});
