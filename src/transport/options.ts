import type { Dispatcher } from "undici";
import { z } from "zod";
import { type ModelInfo, videoFeatures } from "../contract/catalogue.js";
import { maxBodyBytes } from "../contract/operation.js";
import { createVideoTask } from "../contract/video.js";
import { mediaLinkHours, videoStatuses } from "../contract/video-tasks.js";
import { OptionsError } from "../core/errors.js";
import { resolve } from "../core/options.js";
import type { TransportEvent } from "./calls/events.js";
import { operations } from "../contract/operations.js";

const Path = z.string().startsWith("/").optional();
const TaskPath = z
  .string()
  .startsWith("/")
  .includes("{id}", { message: "must have {id} where the task's id goes" })
  .optional();

const Model = z.strictObject({
  id: z.string().min(1),
  type: z.enum(["llm", "vlm", "embedding", "rerank", "video"]),
  family: z.enum(["Q3", "D", "S"]).optional(),
  maxInputTokens: z.int().min(1).optional(),
  dimension: z.int().min(1).optional(),
  dimensions: z.array(z.int().min(1)).min(1).optional(),
  contextTokens: z.int().min(1).optional(),
  videoFeatures: z.array(z.enum(videoFeatures)).optional(),
});

const Strictness = z.enum(["off", "warn", "error"]);

const isDispatcher = (value: unknown): boolean =>
  typeof (value as { readonly dispatch?: unknown } | null)?.dispatch === "function";

export const TransportOptions = z.strictObject({
  /** The contract's `{base_url}`. A trailing slash, `/llm/v1` or an operation's whole path are taken off. */
  baseUrl: z.string(),
  /** Sent as `Authorization: Bearer …`. Keys belong to one data center. Default: no key. Never shown again. */
  apiKey: z.string().optional(),
  /** Paths below `baseUrl`, for services that name them differently. Default: those of the contract. */
  paths: z
    .strictObject({
      embeddings: Path,
      rerank: Path,
      chat: Path,
      createVideoTask: Path,
      videoTask: TaskPath,
      listVideoTasks: Path,
      cancelVideoTask: TaskPath,
      listModels: Path,
    })
    .default({}),
  /**
   * Maximum calls waiting for an answer at the same time; a stream counts until its headers are here. 1 to 1024, default
   * 8. Refusals for load halve it for their model, answers bring it back one by one.
   */
  concurrency: z.int().min(1).max(1024).default(8),
  /** Maximum calls to one model in any minute. 1 to 10,000,000. Default: no limit but the service's own. */
  requestsPerMinute: z.int().min(1).max(10_000_000).optional(),
  /**
   * Maximum tokens, of request and reply together, of one model in any minute. Estimated before a call, corrected by the
   * service's own count. 1 to 1,000,000,000. Default: no limit but the service's own.
   */
  tokensPerMinute: z.int().min(1).max(1_000_000_000).optional(),
  /** Times a failed call is sent again. 0 to 100, default 4. */
  maxRetries: z.int().min(0).max(100).default(4),
  /** Ceiling of the first random wait between attempts; doubles each time. 0 to 3,600,000, default 500. */
  backoffMs: z.number().min(0).max(3_600_000).default(500),
  /** Ceiling of all later waits; limits counted by the minute wait up to 7.5 times as long. Default 8,000. */
  maxBackoffMs: z.number().min(0).max(3_600_000).default(8000),
  /**
   * Maximum wait that the service may ask for when a call has no deadline; longer waits fail at once. A call with a
   * deadline waits as long as the deadline allows. Default 600,000.
   */
  maxRetryAfterMs: z.number().min(0).default(600_000),
  /** Maximum time to open a connection. 1 to 600,000, default 10,000. */
  connectTimeoutMs: z.int().min(1).max(600_000).default(10_000),
  /**
   * Maximum time for one attempt to be answered whole, or for a stream to begin; not for the creation of a video. Default:
   * by operation, 60,000 to 600,000.
   */
  readTimeoutMs: z.int().min(1).optional(),
  /**
   * The same for the creation of a video, whose answer may take minutes, and which costs even when nobody waits for it.
   * Default 900,000.
   */
  videoCreateTimeoutMs: z.int().min(1).default(createVideoTask.readTimeoutMs),
  /** Maximum size of a body: lower it for a gateway on the way that takes less. 1 to 67,108,864, the default. */
  maxBodyBytes: z.int().min(1).max(maxBodyBytes).default(maxBodyBytes),
  /** Maximum silence in a stream. Default 120,000. */
  streamIdleMs: z.int().min(1).default(120_000),
  /** Maximum time in which a stream brings nothing but keep-alive comments. Default 300,000. */
  streamPayloadIdleMs: z.int().min(1).default(300_000),
  /**
   * Maximum documents in one request to rerank, 1 or more: longer lists become several requests, whose results are put
   * in one order by score. For models that score each document by itself. Default: no limit, one request.
   */
  maxDocumentsPerRequest: z.int().min(1).optional(),
  /**
   * Whether a whole answer (`chat`) is requested as a stream once the service was overloaded or too slow for it (503,
   * 504), as some services advise. The result is the same. Default: false.
   */
  switchToStream: z.boolean().default(false),
  /**
   * Whether streams are asked for their usage (`stream_options`, which the contract does not have): some services report
   * it only then. Default: false.
   */
  streamUsage: z.boolean().default(false),
  /** Whether `<think>…</think>` at the beginning of a reply's text is reasoning. Default: false, it is text. */
  thinkTags: z.boolean().default(false),
  /** Send `x-trace-id`, one for each call, and `x-client-request-id`, one for each attempt. Default: false. */
  traceHeaders: z.boolean().default(false),
  /** The method that queries a video task. The contract does not say; services of its shape use `GET`, the default. */
  videoQueryMethod: z.enum(["GET", "POST"]).default("GET"),
  /**
   * Which creations of a video are sent again: those that surely never arrived or were turned away (`safe`), or none
   * (`never`). With `always` also those that may have arrived: the same video may then be made, and paid for, as often
   * as it was sent. Default: `safe`.
   */
  retryVideoCreate: z.enum(["safe", "never", "always"]).default("safe"),
  /** Whether fields of a video request are sent that repeat the service's defaults; some refuse them. Default: false. */
  videoSendDefaults: z.boolean().default(false),
  /**
   * Where the role of a video's media is written: inside (`image_url.role`, the contract), beside (`role`, services of
   * the same shape), or in both places. Default `nested`.
   */
  videoRolePlacement: z.enum(["nested", "sibling", "both"]).default("nested"),
  /**
   * Names that a service uses for a video's status, in lower case, added to the known ones: `{ done: "succeeded" }`.
   * Default: none.
   */
  videoStatusAliases: z
    .record(z.string().regex(/^[^A-Z]+$/, "must be in lower case"), z.enum(videoStatuses))
    .default({}),
  /** How long links to a video's results work, from its success. 1 or more, default 86,400,000: a day. */
  videoLinkLifetimeMs: z
    .number()
    .min(1)
    .default(mediaLinkHours * 3_600_000),
  /** The reaction to a request that the contract does not plainly forbid: nothing, a `warning` event, or an error. */
  strictness: z
    .strictObject({
      /**
       * `temperature`, `top_p`, `top_k`, `frequency_penalty` and `presence_penalty` outside the bounds that public
       * services have; the contract shows none. Default: `error`.
       */
      bounds: Strictness.default("error"),
      /** Fields of another model family than the catalogue gives the model. Default: `error`. */
      family: Strictness.default("error"),
      /** A web search for a video that is made from more than text. Default: `warn`. */
      webSearchTextOnly: Strictness.default("warn"),
    })
    .prefault({}),
  /** Models that the catalogue lacks, or describes differently. */
  models: z.array(Model).default([]),
  /** The proxy, `http://` or `https://`, with credentials if it wants some. Default: none; nothing reads the environment. */
  proxyUrl: z.string().optional(),
  /** Hosts to reach without the proxy: `host`, `host:port`, `.domain` for everything below it, `*` for all. Default: none. */
  noProxy: z.array(z.string().regex(/^[^\s,]+$/, "must be hosts, one an item")).default([]),
  /** Certificates to trust in addition to Node's own, in PEM form. Default: none. */
  certificates: z
    .array(z.string().includes("-----BEGIN CERTIFICATE-----", "must be a certificate in PEM form"))
    .default([]),
  /** Use HTTP/2 when the service offers it: one connection for many calls. Default: false. */
  http2: z.boolean().default(false),
  /**
   * A dispatcher of your own, of undici 7: a cassette, a mock (the `MockAgent`, not a pool of it), another kind of proxy.
   * Stays open when the transport is closed. Excludes the four options above and `connectTimeoutMs`, which configure the
   * transport's own.
   */
  dispatcher: z.custom<Dispatcher>(isDispatcher, "must be an undici dispatcher").optional(),
  /** Prices of models, per million tokens in a currency of your own; `totals()` uses them. Default: none. */
  prices: z
    .record(z.string(), z.strictObject({ input: z.number().min(0), output: z.number().min(0).optional() }))
    .default({}),
  /**
   * Spans and metrics through `@opentelemetry/api`, if it is installed and a provider is registered. Names and numbers
   * only, never texts. Default: true.
   */
  telemetry: z.boolean().default(true),
  /** Names the service in spans and metrics (`gen_ai.provider.name`). Default: `citewell`. */
  providerName: z.string().min(1).default("citewell"),
  /** Hears of every request, retry, cool-down and end of a call. Must not throw. */
  onEvent: z
    .custom<(event: TransportEvent) => void>((value) => typeof value === "function", "must be a function")
    .optional(),
});
export type TransportOptions = z.input<typeof TransportOptions>;

export type TransportSettings = z.output<typeof TransportOptions> & { readonly models: readonly ModelInfo[] };

/** Fills in the defaults. The key and the addresses stay out of the shared check, which quotes the values it refuses. */
export function transportSettings(given: TransportOptions): TransportSettings {
  const { apiKey, baseUrl, proxyUrl, ...options } = { ...given };
  if (typeof baseUrl !== "string") {
    throw new OptionsError("options", "createTransport: baseUrl is missing: the address of the key's data center");
  }
  if (apiKey !== undefined && !isKey(apiKey)) {
    throw new OptionsError(
      "options",
      "createTransport: apiKey must be a text of visible ASCII characters; look for a line break or a blank around it",
    );
  }
  if (proxyUrl !== undefined && !isProxyUrl(proxyUrl)) {
    throw new OptionsError("options", "createTransport: proxyUrl must start with http:// or https://");
  }
  const rest = resolve(
    "createTransport",
    TransportOptions.omit({ apiKey: true, baseUrl: true, proxyUrl: true }),
    options,
  );
  const own = ["noProxy", "certificates", "http2", "connectTimeoutMs"] as const;
  const idle = [...(proxyUrl === undefined ? [] : ["proxyUrl"]), ...own.filter((name) => options[name] !== undefined)];
  if (rest.dispatcher && idle.length > 0) {
    throw new OptionsError("options", `createTransport: ${idle.join(", ")}: a dispatcher of your own decides that`);
  }
  const ownPaths = Object.values(rest.paths).filter((path) => path !== undefined);
  return {
    ...rest,
    ...(apiKey !== undefined && { apiKey }),
    ...(proxyUrl !== undefined && { proxyUrl }),
    baseUrl: normaliseBaseUrl(baseUrl, ownPaths),
  };
}

function isProxyUrl(value: unknown): boolean {
  return typeof value === "string" && /^https?:\/\//.test(value) && URL.canParse(value);
}

function isKey(value: unknown): boolean {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}

const contractPaths = Object.values(operations).map(({ path }) => path);
const versionPrefix = "/llm/v1";

/**
 * Reduces what people paste to the contract's `{base_url}`: without the trailing slash, the version prefix, or the path
 * of an operation.
 *
 * @throws OptionsError when it is not an http(s) address, or holds a query or credentials.
 */
export function normaliseBaseUrl(given: string, extraPaths: readonly string[] = []): string {
  const refuse = (problem: string): never => {
    throw new OptionsError("options", `createTransport: baseUrl ${problem}`);
  };
  // The value itself is not quoted, because a pasted address may carry a key.
  if (!URL.canParse(given)) refuse("is not an address: write it with its scheme, such as https://host");
  const url = new URL(given);
  if (url.protocol !== "http:" && url.protocol !== "https:") refuse("must start with http:// or https://");
  if (url.username !== "" || url.password !== "") refuse("must not hold credentials: pass the key as apiKey");
  if (url.search !== "" || url.hash !== "") refuse("must not have a query or a fragment");
  let path = url.pathname.replace(/\/+$/, "");
  for (const tail of [...extraPaths, ...contractPaths, versionPrefix]) {
    if (path.endsWith(tail)) {
      path = path.slice(0, -tail.length).replace(/\/+$/, "");
      break;
    }
  }
  return url.origin + path;
}
