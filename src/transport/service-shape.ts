import { z } from "zod";
import { type ChatUsage, chatDefaults } from "../contract/chat.js";
import type { EmbeddingsReply, EmbeddingsRequest } from "../contract/embeddings.js";
import type { RerankReply, RerankRequest } from "../contract/rerank.js";
import type { Operation } from "../contract/operation.js";
import { type OperationName, operations } from "../contract/operations.js";
import type { ServiceChatRequest } from "../dialects/service-requests.js";
import type { ServiceProfile } from "../dialects/service-profile.js";
import { type ServiceName, serviceProfile } from "../dialects/services.js";
import { type VideoContentItem, contentRoles, itemMedium } from "../contract/video-content.js";
import { type VideoRequest, videoDefaults } from "../contract/video.js";
import { isRecord } from "../core/json.js";
import type { FinishReason } from "../core/types.js";
import type { Usage } from "../core/types.js";
import type { TransportSettings } from "./options.js";

// Differences between services are applied here, for each operation, by the rows of `dialects/services.ts`: `body` makes the
// body to send from a checked request, `envelope` puts another service's reply into the contract's form, `read` puts that
// into our terms. The operations know none of it, nor the route that a request takes.

/** Method, path, timeout and retries of an operation's requests. */
export interface Route extends Pick<Operation, "method" | "path" | "repeat"> {
  readonly timeoutMs: number;
  readonly maxRetries: number;
}

/** The routes of the operations that the service has, or that the options name a path for. */
export function routesOf(settings: TransportSettings): Readonly<Partial<Record<OperationName, Route>>> {
  const { service, paths, maxRetries, readTimeoutMs, retryVideoCreate, videoCreateTimeoutMs, videoQueryMethod } =
    settings;
  const profile = serviceProfile(service);
  const routes = Object.values(operations).flatMap((operation) => {
    const { name, method, repeat } = operation;
    const path = paths[name] ?? (profile ? profile.paths[name] : operation.path);
    if (path === undefined) return [];
    return [[name, { method, path, repeat, timeoutMs: readTimeoutMs ?? operation.readTimeoutMs, maxRetries }] as const];
  });
  const all = Object.fromEntries(routes) as Partial<Record<OperationName, Route>>;
  if (all.videoTask) all.videoTask = { ...all.videoTask, method: videoQueryMethod };
  if (all.createVideoTask) {
    all.createVideoTask = {
      ...all.createVideoTask,
      timeoutMs: videoCreateTimeoutMs,
      ...(retryVideoCreate === "always" && { repeat: "always" }),
      ...(retryVideoCreate === "never" && { maxRetries: 0 }),
    };
  }
  return all;
}

/** Cohere's reply to a request for numbers. https://docs.cohere.com/reference/embed */
const VectorsByType = z.object({
  embeddings: z.object({ float: z.array(z.unknown()) }),
  meta: z.object({ billed_units: z.object({ input_tokens: z.number().nullish() }).nullish() }).nullish(),
});

export const embeddingsShape = {
  /** Whether the service can send vectors in base64. */
  hasBase64: ({ service }: TransportSettings) => {
    const row = serviceProfile(service)?.embeddings;
    return row === undefined || row.base64 !== undefined;
  },
  /** `float` is every service's default, so it is not written. */
  body: (
    { model, input, dimensions }: EmbeddingsRequest,
    { encoding, purpose: asked }: { readonly encoding: "float" | "base64"; readonly purpose: "document" | "query" },
    { service }: TransportSettings,
  ) => {
    const row: NonNullable<ServiceProfile["embeddings"]> = serviceProfile(service)?.embeddings ?? {};
    const { base64 = "encoding_format", dimensions: length = "dimensions", purpose, always } = row;
    return {
      model,
      ...(row.texts === undefined ? { input } : { [row.texts]: [input].flat() }),
      ...(encoding === "base64" && { [base64]: encoding }),
      ...(dimensions !== undefined && { [length]: dimensions }),
      ...(purpose && (purpose.models?.test(model) ?? true) && { [purpose.field]: purpose[asked] }),
      ...always,
    };
  },
  envelope: (raw: unknown) => {
    const { data } = VectorsByType.safeParse(raw);
    if (!data) return raw;
    const vectors = data.embeddings.float.map((embedding) => ({ embedding }));
    return { data: vectors, usage: { prompt_tokens: data.meta?.billed_units?.input_tokens ?? undefined } };
  },
  read: ({ data, model, usage }: z.output<typeof EmbeddingsReply>) => ({
    items: data,
    model: model ?? undefined,
    usage: counted(usage?.prompt_tokens ?? usage?.total_tokens, 0, usage?.total_tokens),
  }),
};

/** Token counts as far as the service reported them; `undefined` when it reported none. */
function counted(
  input: number | null | undefined,
  output: number | null | undefined,
  total: number | null | undefined,
  {
    reasoning,
    cached,
  }: { readonly reasoning?: number | null | undefined; readonly cached?: number | null | undefined } = {},
): Usage | undefined {
  if (typeof input !== "number") return undefined;
  return {
    inputTokens: input,
    outputTokens: output ?? 0,
    ...(typeof total === "number" && { totalTokens: total }),
    ...(typeof reasoning === "number" && { reasoningTokens: reasoning }),
    ...(typeof cached === "number" && { cachedTokens: cached }),
  };
}

/**
 * Counts thinking among the output, as it is paid for. xAI and Gemini leave it out of `completion_tokens`, and have it in the total:
 * https://docs.x.ai/docs/guides/reasoning, https://ai.google.dev/gemini-api/docs/thinking.
 */
function withThoughts(usage: Usage): Usage {
  const { inputTokens, outputTokens, totalTokens = 0, reasoningTokens } = usage;
  const beyond = totalTokens - inputTokens - outputTokens;
  if (beyond <= 0 || (reasoningTokens !== undefined && reasoningTokens !== beyond)) return usage;
  return { ...usage, outputTokens: outputTokens + beyond, reasoningTokens: beyond };
}

const rerankDefaults = { return_documents: false, max_chunks_per_doc: 1024, overlap_tokens: 80 };

export const rerankShape = {
  body: (request: RerankRequest, { service }: TransportSettings) => {
    const profile = serviceProfile(service);
    if (!profile) return withoutDefaults(request, rerankDefaults);
    const { model, query, documents, top_n: topN } = request;
    const row: NonNullable<ServiceProfile["rerank"]> = profile.rerank ?? { topN: "top_n" };
    return {
      model,
      query,
      [row.documents ?? "documents"]: documents,
      ...(topN !== undefined && row.topN !== undefined && { [row.topN]: topN }),
      ...row.always,
    };
  },
  /** Some services answer with the bare list, or call it `data`. */
  envelope: (raw: unknown) => {
    if (Array.isArray(raw)) return { results: raw };
    return isRecord(raw) && raw["results"] === undefined ? { ...raw, results: raw["data"] } : raw;
  },
  read: ({ id, results, ...counts }: z.output<typeof RerankReply>) => ({
    ...(typeof id === "string" && { requestId: id }),
    results: results.map(({ index, relevance_score, score, document }) => ({
      index,
      score: relevance_score ?? score ?? undefined,
      document: typeof document === "string" ? document : document?.text,
    })),
    usage: rerankUsage(counts),
  }),
};

/** Services of this shape put their counts in different places under different names. */
function rerankUsage({ tokens, meta, usage }: Pick<z.output<typeof RerankReply>, "tokens" | "meta" | "usage">) {
  const places = [tokens, meta?.tokens, meta?.billed_units, usage];
  const first = (...names: readonly (keyof NonNullable<typeof tokens>)[]) =>
    places.flatMap((counts) => names.map((name) => counts?.[name])).find((count) => typeof count === "number");
  return counted(first("input_tokens", "prompt_tokens", "total_tokens"), first("output_tokens"), first("total_tokens"));
}

const { stream: _stream, max_tokens: _maxTokens, ...sampling } = chatDefaults;
/** Values that the contract's service assumes anyway. `stream` and `max_tokens` are always sent. */
const assumedInChat = { ...sampling, thinking: { type: "enabled" }, response_format: { type: "text" } };

export const chatShape = {
  body: <Body extends { readonly stream: boolean }>(request: Body, { service, streamUsage }: TransportSettings) => ({
    ...(service === "contract" ? withoutDefaults(request, assumedInChat) : inServiceFields(request, service)),
    ...(request.stream && streamUsage && { stream_options: { include_usage: true } }),
  }),
  usage: (usage: z.output<typeof ChatUsage> | null | undefined): Usage | undefined => {
    const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = usage ?? {};
    const cached =
      usage?.prompt_tokens_details?.cached_tokens ?? usage?.prompt_cache_hit_tokens ?? usage?.cached_tokens;
    const reasoning = usage?.completion_tokens_details?.reasoning_tokens;
    const usageOf = counted(input, output, total, { reasoning, cached });
    return usageOf && withThoughts(usageOf);
  },
  /** Translates the reason for the end. Services also write `stop` when they mean that tools are to be called. */
  finishReason: (written = "stop", hasToolCalls: boolean): FinishReason => {
    const reason = finishReasons.get(written) ?? "other";
    return reason === "stop" && hasToolCalls ? "tool-calls" : reason;
  },
};

/** Writes the fields that services name differently. */
function inServiceFields(request: object, service: ServiceName): Readonly<Record<string, unknown>> {
  const row = serviceProfile(service)?.chat;
  const { max_tokens, seed, response_format: format, ...rest } = request as z.output<typeof ServiceChatRequest>;
  const schema =
    format?.type === "json_schema" && row?.jsonSchema === "json_object" ? format.json_schema.schema : undefined;
  return withoutDefaults(
    {
      ...rest,
      [row?.maxTokens ?? "max_tokens"]: max_tokens,
      [row?.seed ?? "seed"]: seed,
      response_format: schema ? { type: "json_object", schema } : format,
    },
    {},
  );
}

/** One service lists its models under other names. https://docs.cohere.com/reference/list-models */
const NamedModels = z.object({ models: z.array(z.object({ name: z.string() })) });

export const modelListShape = {
  envelope: (raw: unknown) => {
    // Together answers with the bare list.
    if (Array.isArray(raw)) return { data: raw };
    const { data } = NamedModels.safeParse(raw);
    return data ? { data: data.models.map(({ name }) => ({ id: name })) } : raw;
  },
};

const finishReasons = new Map<string, FinishReason>([
  ["stop", "stop"],
  ["eos", "stop"],
  ["tool_calls", "tool-calls"],
  ["function_call", "tool-calls"],
  ["length", "length"],
  ["model_length", "length"],
  ["content_filter", "content-filter"],
]);

export const videoShape = {
  body: (request: z.output<typeof VideoRequest>, { videoSendDefaults, videoRolePlacement }: TransportSettings) =>
    withoutDefaults(
      { ...request, content: placeRoles(request.content, videoRolePlacement) },
      videoSendDefaults ? {} : { ...videoDefaults, tools: [] },
    ),
};

function placeRoles(
  content: readonly VideoContentItem[],
  placement: TransportSettings["videoRolePlacement"],
): VideoContentItem[] {
  const roles = contentRoles(content);
  return content.map((item, index) => {
    if (item.type === "text") return item;
    const role = roles[index];
    const { url } = itemMedium(item);
    const media = { url, ...(placement !== "sibling" && { role }) };
    return { type: item.type, [item.type]: media, ...(placement !== "nested" && { role }) } as VideoContentItem;
  });
}

/** Drops the fields that repeat the service's own defaults: some services refuse fields that do not apply. */
function withoutDefaults<Request extends object>(
  request: Request,
  defaults: Readonly<Record<string, unknown>>,
): Request {
  return Object.fromEntries(
    Object.entries(request).filter(([field, value]) => {
      if (value === undefined || value === null) return false;
      return !(field in defaults) || JSON.stringify(defaults[field]) !== JSON.stringify(value);
    }),
  ) as Request;
}
