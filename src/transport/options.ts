import { z } from "zod";
import { type ModelInfo, videoFeatures } from "../contract/catalogue.js";
import { maxBodyBytes } from "../contract/operation.js";
import { createVideoTask } from "../contract/video.js";
import { mediaLinkHours, type VideoStatus, videoStatuses } from "../contract/video-tasks.js";
import { OptionsError } from "../core/errors.js";
import { isRecord } from "../core/json.js";
import type { Price } from "../core/types.js";
import { listOption, observerOption, optionsOf, resolve } from "../core/options.js";
import type { TransportEvent } from "./calls/events.js";
import type { OperationName } from "../contract/operations.js";
import { type ServiceName, serviceAt, serviceNames, serviceProfile } from "../dialects/services.js";
import { normaliseBaseUrl, withoutApiVersion } from "./base-url.js";

const Path = z.string().startsWith("/").optional();
const TaskPath = z
  .string()
  .startsWith("/")
  .includes("{id}", { message: "must have {id} where the task's id goes" })
  .optional();

const Model = optionsOf<ModelInfo>()({
  id: z.string().min(1),
  type: z.enum(["llm", "vlm", "embedding", "rerank", "video"]),
  family: z.enum(["Q3", "D", "S"]).optional(),
  maxInputTokens: z.int().min(1).optional(),
  dimension: z.int().min(1).optional(),
  dimensions: listOption(z.array(z.int().min(1)).min(1)).optional(),
  contextTokens: z.int().min(1).optional(),
  videoFeatures: listOption(z.array(z.enum(videoFeatures))).optional(),
});

/** `error` refuses the request, `warn` sends it and reports a `warning` event, `off` sends it. */
const Strictness = z.enum(["off", "warn", "error"]);
type Strictness = "off" | "warn" | "error";

const isDispatcher = (value: unknown): boolean =>
  typeof (value as { readonly dispatch?: unknown } | null)?.dispatch === "function";

/** The called part of an undici 7 dispatcher: a program without one need not load the types of undici. */
export interface RequestDispatcher {
  /** Sends a request and passes its answer to the handler, with undici's field names; returns whether it takes more. */
  dispatch(request: object, handler: object): boolean;
}

export interface TransportOptions {
  /**
   * The kind of service at `baseUrl`: its paths, the names of fields, and what it takes and lacks. `contract` is the
   * strict contract of this library; the others go by a table of services. Default: `contract`.
   */
  readonly service?: ServiceName;
  /**
   * The service's address: the contract's `{base_url}`, or what the service itself calls its base address. A trailing slash,
   * `/llm/v1` or an operation's whole path are taken off. Default: the address of the service's own users
   * (`https://api.openai.com/v1`, `http://localhost:11434/v1`); `contract`, `bedrock` and those of Azure have none. An address of
   * Azure may be pasted with its deployment, `?api-version=…`, or `/openai/v1`, which is the v1 API.
   */
  readonly baseUrl?: string;
  /**
   * Sent as `Authorization: Bearer …`, to those of Azure as `api-key`. Never shown again. The contract requires it; services on
   * one's own machine and gateways that sign requests themselves have none, and others answer 401. Default: no key.
   */
  readonly apiKey?: string;
  /**
   * Headers of every request beside the transport's own, such as `{ "openai-organization": "org-…" }`. Their values are
   * kept out of messages and cassettes as the key is. Headers that belong to the transport are refused. Default: none.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Version of the interface in the query of every request; only for `azure-openai` and `azure-openai-v1`. Default: that of the
   * address, else for `azure-openai` `2024-10-21`.
   */
  readonly apiVersion?: string;
  /**
   * Paths below `baseUrl` by operation, where they differ from those of `service`; `videoTask` and `cancelVideoTask` with
   * `{id}` where the task's id goes, others with `{model}` where the model's goes, if it does. Default: the service's.
   */
  readonly paths?: Readonly<Partial<Record<OperationName, string>>>;
  /**
   * Maximum calls waiting for an answer at the same time; a stream counts until its headers are here. 1 to 1024, default
   * 8. Refusals for load halve it for their model, answers bring it back one by one.
   */
  readonly concurrency?: number;
  /** Maximum calls to one model in any minute. 1 to 10,000,000. Default: no limit but the service's own. */
  readonly requestsPerMinute?: number;
  /**
   * Maximum tokens, of request and reply together, of one model in any minute. Estimated before a call, corrected by the
   * service's own count. 1 to 1,000,000,000. Default: no limit but the service's own.
   */
  readonly tokensPerMinute?: number;
  /** Times a failed call is sent again. 0 to 100, default 4. */
  readonly maxRetries?: number;
  /** Ceiling of the first random wait between attempts, in milliseconds; doubles each time. 0 to 3,600,000, default 500. */
  readonly backoffMs?: number;
  /** Ceiling of all later waits, in milliseconds; limits counted by the minute wait up to 7.5 times as long. 0 to 3,600,000, default 8,000. */
  readonly maxBackoffMs?: number;
  /**
   * Maximum wait, in milliseconds, that the service may ask for when a call has no deadline; longer waits fail at once. A call with a
   * deadline waits as long as the deadline allows. 0 or more, default 600,000.
   */
  readonly maxRetryAfterMs?: number;
  /** Maximum time to open a connection, in milliseconds. 1 to 600,000, default 10,000. */
  readonly connectTimeoutMs?: number;
  /**
   * Maximum time in milliseconds for one attempt to be answered whole, or for a stream to begin; not for the creation of a
   * video. 1 or more. Default: by operation, 60,000 to 600,000.
   */
  readonly readTimeoutMs?: number;
  /**
   * The same for the creation of a video, whose answer may take minutes, and which costs even when nobody waits for it.
   * 1 or more, default 900,000.
   */
  readonly videoCreateTimeoutMs?: number;
  /** Maximum bytes of a body: lower it for a gateway on the way that takes less. 1 to 67,108,864, the default. */
  readonly maxBodyBytes?: number;
  /**
   * Maximum bytes of a reply, decoded; a larger one is an error. 1 or more. Default: four times what the request could need
   * by its texts, the length of vectors, `max_tokens` and `n`, at least 8,388,608. Downloads of videos have no limit.
   */
  readonly maxReplyBytes?: number;
  /** Maximum silence in a stream, in milliseconds. 1 or more, default 120,000. */
  readonly streamIdleMs?: number;
  /** Maximum time in milliseconds in which a stream brings nothing but keep-alive comments. 1 or more, default 300,000. */
  readonly streamPayloadIdleMs?: number;
  /**
   * Maximum documents in one request to rerank, 1 or more: longer lists become several requests, whose results are put
   * in one order by score. For models that score each document by itself. Default: the service's documented limit, for the
   * contract none.
   */
  readonly maxDocumentsPerRequest?: number;
  /**
   * Whether a whole answer (`chat`) is requested as a stream once the service was overloaded or too slow for it (503,
   * 504), as some services advise. The result is the same. Default: false.
   */
  readonly switchToStream?: boolean;
  /**
   * Whether streams are asked for their usage (`stream_options`, which the contract does not have): some services report
   * it only then. Default: as `service` needs it, for the contract false.
   */
  readonly streamUsage?: boolean;
  /** Whether `<think>…</think>` at the beginning of a reply's text is reasoning. Default: false, it is text. */
  readonly thinkTags?: boolean;
  /** Send `x-trace-id`, one for each call, and `x-client-request-id`, one for each attempt. Default: false. */
  readonly traceHeaders?: boolean;
  /** The method that queries a video task. The contract does not say; services of its shape use `GET`, the default. */
  readonly videoQueryMethod?: "GET" | "POST";
  /**
   * Creations of a video to send again: those that surely never arrived or were turned away (`safe`), or none
   * (`never`). With `always` also those that may have arrived: the same video may then be made, and paid for, as often
   * as it was sent. Default: `safe`.
   */
  readonly retryVideoCreate?: "safe" | "never" | "always";
  /** Whether fields of a video request are sent that repeat the service's defaults; some refuse them. Default: false. */
  readonly videoSendDefaults?: boolean;
  /**
   * Where the role of a video's media is written: inside (`image_url.role`, the contract), beside (`role`, services of
   * the same shape), or in both places. Default `nested`.
   */
  readonly videoRolePlacement?: "nested" | "sibling" | "both";
  /**
   * Names that a service uses for a video's status, in lower case, added to the known ones: `{ done: "succeeded" }`.
   * Default: none.
   */
  readonly videoStatusAliases?: Readonly<Record<string, VideoStatus>>;
  /** How long links to a video's results work, from its success, in milliseconds. 1 or more, default 86,400,000: a day. */
  readonly videoLinkLifetimeMs?: number;
  /**
   * The reaction to a request that the contract does not plainly forbid: nothing, a `warning` event, or an error. Default: as
   * the comment on each says.
   */
  readonly strictness?: {
    /**
     * `temperature`, `top_p`, `top_k`, `frequency_penalty` and `presence_penalty` outside the bounds that public
     * services have; the contract shows none. Default: `error`.
     */
    readonly bounds?: Strictness;
    /** Fields of another model family than the catalogue gives the model. Default: `error`. */
    readonly family?: Strictness;
    /** A web search for a video that is made from more than text. Default: `warn`. */
    readonly webSearchTextOnly?: Strictness;
  };
  /** Models that the catalogue lacks, or describes differently. Default: none. */
  readonly models?: readonly ModelInfo[];
  /** The proxy, `http://` or `https://`, with credentials if it wants some. Default: none; nothing reads the environment. */
  readonly proxyUrl?: string;
  /** Hosts to reach without the proxy: `host`, `host:port`, `.domain` for everything below it, `*` for all. Default: none. */
  readonly noProxy?: readonly string[];
  /** Certificates to trust in addition to Node's own, in PEM form. Default: none. */
  readonly certificates?: readonly string[];
  /** Use HTTP/2 when the service offers it: one connection for many calls. Default: false. */
  readonly http2?: boolean;
  /**
   * A dispatcher of your own, of undici 7: a cassette, a mock (the `MockAgent`, not a pool of it), another kind of proxy.
   * Stays open when the transport is closed. Excludes the four options above and `connectTimeoutMs`, which configure the
   * transport's own.
   */
  readonly dispatcher?: RequestDispatcher;
  /** Prices of models, per million tokens in a currency of your own; `totals()` uses them. Default: none. */
  readonly prices?: Readonly<Record<string, Price>>;
  /**
   * Spans and metrics through `@opentelemetry/api`, if it is installed and a provider is registered. Names and numbers
   * only, never texts. Default: true.
   */
  readonly telemetry?: boolean;
  /** Names the service in spans and metrics (`gen_ai.provider.name`). Default: by `service`, for the contract `citewell`. */
  readonly providerName?: string;
  /** Called for every request, retry, cool-down and end of a call. Must not throw. */
  readonly onEvent?: (event: TransportEvent) => void;
}

/** @internal */
const transportOptions = optionsOf<TransportOptions>()({
  service: z.enum(serviceNames).default("contract"),
  baseUrl: z.string().optional(),
  apiKey: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  apiVersion: z
    .string()
    .regex(/^[\w.-]+$/)
    .optional(),
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
  concurrency: z.int().min(1).max(1024).default(8),
  requestsPerMinute: z.int().min(1).max(10_000_000).optional(),
  tokensPerMinute: z.int().min(1).max(1_000_000_000).optional(),
  maxRetries: z.int().min(0).max(100).default(4),
  backoffMs: z.number().min(0).max(3_600_000).default(500),
  maxBackoffMs: z.number().min(0).max(3_600_000).default(8000),
  maxRetryAfterMs: z.number().min(0).default(600_000),
  connectTimeoutMs: z.int().min(1).max(600_000).default(10_000),
  readTimeoutMs: z.int().min(1).optional(),
  videoCreateTimeoutMs: z.int().min(1).default(createVideoTask.readTimeoutMs),
  maxBodyBytes: z.int().min(1).max(maxBodyBytes).default(maxBodyBytes),
  maxReplyBytes: z.int().min(1).optional(),
  streamIdleMs: z.int().min(1).default(120_000),
  streamPayloadIdleMs: z.int().min(1).default(300_000),
  maxDocumentsPerRequest: z.int().min(1).optional(),
  switchToStream: z.boolean().default(false),
  streamUsage: z.boolean().optional(),
  thinkTags: z.boolean().default(false),
  traceHeaders: z.boolean().default(false),
  videoQueryMethod: z.enum(["GET", "POST"]).default("GET"),
  retryVideoCreate: z.enum(["safe", "never", "always"]).default("safe"),
  videoSendDefaults: z.boolean().default(false),
  videoRolePlacement: z.enum(["nested", "sibling", "both"]).default("nested"),
  videoStatusAliases: z
    .record(z.string().regex(/^[^A-Z]+$/, "must be in lower case"), z.enum(videoStatuses))
    .default({}),
  videoLinkLifetimeMs: z
    .number()
    .min(1)
    .default(mediaLinkHours * 3_600_000),
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
  models: listOption(z.array(Model)).default([]),
  proxyUrl: z.string().optional(),
  noProxy: listOption(z.array(z.string().regex(/^[^\s,]+$/, "must be hosts, one an item"))).default([]),
  certificates: listOption(
    z.array(z.string().includes("-----BEGIN CERTIFICATE-----", "must be a certificate in PEM form")),
  ).default([]),
  http2: z.boolean().default(false),
  dispatcher: z.custom<RequestDispatcher>(isDispatcher, "must be an undici dispatcher").optional(),
  prices: z
    .record(
      z.string(),
      z.strictObject({
        input: z.number().min(0),
        cachedInput: z.number().min(0).optional(),
        output: z.number().min(0).optional(),
      }),
    )
    .default({}),
  telemetry: z.boolean().default(true),
  providerName: z.string().min(1).optional(),
  onEvent: observerOption<(event: TransportEvent) => void>("onEvent").optional(),
});

/** @internal */
type Resolved = z.output<typeof transportOptions>;
/** @internal */
type Filled = "baseUrl" | "streamUsage" | "providerName" | "headers";

/** @internal */
export type TransportSettings = Omit<Resolved, Filled> &
  Required<Pick<Resolved, Filled>> & { readonly models: readonly ModelInfo[] };

/**
 * Fills in the defaults. The key, the headers and the addresses stay out of the shared check, which quotes the values it
 * refuses.
 * @internal
 */
export function transportSettings(all: TransportOptions): TransportSettings {
  const { apiKey, headers = {}, baseUrl, proxyUrl, ...options } = { ...all };
  const rest = resolve("createTransport", transportOptions, options);
  const service = serviceAt(rest.service, String(baseUrl));
  const profile = serviceProfile(service);
  const takesApiVersion = profile?.takesApiVersion ?? profile?.apiVersion !== undefined;
  const given = baseUrl ?? profile?.baseUrl;
  const { address, apiVersion } =
    takesApiVersion && typeof given === "string" ? withoutApiVersion(given) : { address: given };
  if (typeof address !== "string") {
    const whose = profile ? `${service} has no address that all share` : "the address of the key's data center";
    throw new OptionsError("options", `createTransport: baseUrl is missing: ${whose}`);
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
  if (options.apiVersion !== undefined && !takesApiVersion) {
    throw new OptionsError("options", `createTransport: apiVersion: ${service} has none; its version is in its paths`);
  }
  const own = ["noProxy", "certificates", "http2", "connectTimeoutMs"] as const;
  const idle = [...(proxyUrl === undefined ? [] : ["proxyUrl"]), ...own.filter((name) => options[name] !== undefined)];
  if (rest.dispatcher && idle.length > 0) {
    throw new OptionsError("options", `createTransport: ${idle.join(", ")}: a dispatcher of your own decides that`);
  }
  const ownPaths = Object.values(rest.paths).filter((path) => path !== undefined);
  return {
    ...rest,
    service,
    ...(apiKey !== undefined && { apiKey }),
    ...(proxyUrl !== undefined && { proxyUrl }),
    headers: checkedHeaders(headers, apiKey === undefined ? undefined : (profile?.keyHeader ?? "authorization")),
    streamUsage: rest.streamUsage ?? profile?.chat?.streamUsage ?? false,
    maxDocumentsPerRequest: rest.maxDocumentsPerRequest ?? profile?.rerank?.maxDocuments,
    providerName: rest.providerName ?? profile?.telemetryName ?? (profile ? service : "citewell"),
    apiVersion: rest.apiVersion ?? apiVersion ?? profile?.apiVersion,
    baseUrl: normaliseBaseUrl(address, ownPaths, profile),
  };
}

/** Headers that say how a request is carried; a wrong one breaks it. */
const transportHeaders =
  /^(accept|content-(type|length|encoding)|transfer-encoding|connection|keep-alive|host|expect|te|trailer|upgrade|proxy-authorization|x-trace-id|x-client-request-id)$/;

/** @param keyHeader the header that already carries the key. @throws OptionsError without any value, which may be a key. */
function checkedHeaders(headers: unknown, keyHeader: string | undefined): Readonly<Record<string, string>> {
  const refuse = (problem: string): never => {
    throw new OptionsError("options", `createTransport: headers: ${problem}`);
  };
  if (!isRecord(headers)) return refuse("must be an object of names and texts");
  const checked = Object.entries(headers).map(([given, value]): [string, string] => {
    const name = given.toLowerCase();
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) refuse(`${JSON.stringify(given)} is no name of a header`);
    if (transportHeaders.test(name)) refuse(`${given} is set by the transport`);
    if (name === keyHeader) refuse(`${given} carries apiKey: give the one or the other`);
    if (typeof value !== "string" || !/^[\x20-\x7e]*$/.test(value)) {
      return refuse(`the value of ${given} must be a text of visible ASCII characters`);
    }
    return [name, value];
  });
  return Object.fromEntries(checked);
}

function isProxyUrl(value: unknown): boolean {
  return typeof value === "string" && /^https?:\/\//.test(value) && URL.canParse(value);
}

function isKey(value: unknown): boolean {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}
