import type { z } from "zod";
import { type ChatRequest, type ChatUsage, chatDefaults } from "../contract/chat.js";
import type { EmbeddingsReply, EmbeddingsRequest } from "../contract/embeddings.js";
import type { RerankReply, RerankRequest } from "../contract/rerank.js";
import type { Operation } from "../contract/operation.js";
import { type OperationName, operations } from "../contract/operations.js";
import { type VideoContentItem, contentRoles, itemMedium } from "../contract/video-content.js";
import { type VideoRequest, videoDefaults } from "../contract/video.js";
import type { FinishReason } from "../core/ports.js";
import type { Usage } from "../core/types.js";
import type { TransportSettings } from "./options.js";

// What differs between services of this kind stands here, as one row for each operation: `body` says what is sent of a
// request that was checked, `read` puts a reply that satisfies the contract into our terms. The operations know neither, nor
// the route that a request takes.

/** How the requests of an operation are sent. */
export interface Route extends Pick<Operation, "method" | "path" | "repeat"> {
  readonly timeoutMs: number;
  readonly maxRetries: number;
}

export function routesOf(settings: TransportSettings): Readonly<Record<OperationName, Route>> {
  const { paths, maxRetries, readTimeoutMs, retryVideoCreate, videoCreateTimeoutMs, videoQueryMethod } = settings;
  const routes = Object.values(operations).map((operation) => {
    const { name, method, repeat } = operation;
    const path = paths[name] ?? operation.path;
    return [name, { method, path, repeat, timeoutMs: readTimeoutMs ?? operation.readTimeoutMs, maxRetries }] as const;
  });
  const all = Object.fromEntries(routes) as Record<OperationName, Route>;
  all.videoTask = { ...all.videoTask, method: videoQueryMethod };
  all.createVideoTask = {
    ...all.createVideoTask,
    timeoutMs: videoCreateTimeoutMs,
    ...(retryVideoCreate === "always" && { repeat: "always" }),
    ...(retryVideoCreate === "never" && { maxRetries: 0 }),
  };
  return all;
}

/** The body of a request for vectors: `float` is every service's default, so it is not written. */
export const embeddingsShape = {
  body: ({ model, input, dimensions }: EmbeddingsRequest, encoding: "float" | "base64") => ({
    model,
    input,
    ...(encoding === "base64" && { encoding_format: encoding }),
    ...(dimensions !== undefined && { dimensions }),
  }),
  read: ({ data, model, usage }: z.output<typeof EmbeddingsReply>) => ({
    items: data,
    model: model ?? undefined,
    usage: {
      inputTokens: usage?.prompt_tokens ?? usage?.total_tokens ?? 0,
      outputTokens: 0,
      ...furtherCounts(usage?.total_tokens),
    },
  }),
};

const rerankDefaults = { return_documents: false, max_chunks_per_doc: 1024, overlap_tokens: 80 };

export const rerankShape = {
  body: (request: RerankRequest) => withoutDefaults(request, rerankDefaults),
  /** Some services answer with the bare list. */
  envelope: (raw: unknown) => (Array.isArray(raw) ? { results: raw } : raw),
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

/** The counts that a reply may lack. */
function furtherCounts(total: number | null | undefined, reasoning?: number | null): Partial<Usage> {
  return {
    ...(typeof total === "number" && { totalTokens: total }),
    ...(typeof reasoning === "number" && { reasoningTokens: reasoning }),
  };
}

/** Services of this shape put their counts in different places under different names. */
function rerankUsage({ tokens, meta, usage }: Pick<z.output<typeof RerankReply>, "tokens" | "meta" | "usage">): Usage {
  const places = [tokens, meta?.tokens, meta?.billed_units, usage];
  const first = (...names: readonly (keyof NonNullable<typeof tokens>)[]) =>
    places.flatMap((counts) => names.map((name) => counts?.[name])).find((count) => typeof count === "number");
  return {
    inputTokens: first("input_tokens", "prompt_tokens", "total_tokens") ?? 0,
    outputTokens: first("output_tokens") ?? 0,
    ...furtherCounts(first("total_tokens")),
  };
}

const { stream: _stream, max_tokens: _maxTokens, ...sampling } = chatDefaults;
/** Values that the service assumes anyway. `stream` and `max_tokens` are always sent. */
const assumedInChat = { ...sampling, thinking: { type: "enabled" }, response_format: { type: "text" } };

export const chatShape = {
  body: <Body extends Pick<ChatRequest, "stream">>(request: Body, { streamUsage }: TransportSettings) => ({
    ...withoutDefaults(request, assumedInChat),
    ...(request.stream && streamUsage && { stream_options: { include_usage: true } }),
  }),
  usage: (usage: z.output<typeof ChatUsage> | null | undefined): Usage => ({
    inputTokens: usage?.prompt_tokens ?? 0,
    outputTokens: usage?.completion_tokens ?? 0,
    ...furtherCounts(usage?.total_tokens, usage?.completion_tokens_details?.reasoning_tokens),
  }),
  /** Translates the reason for the end. Services also write `stop` when they mean that tools are to be called. */
  finishReason: (written = "stop", hasToolCalls: boolean): FinishReason => {
    const reason = finishReasons.get(written) ?? "other";
    return reason === "stop" && hasToolCalls ? "tool-calls" : reason;
  },
};

const finishReasons = new Map<string, FinishReason>([
  ["stop", "stop"],
  ["eos", "stop"],
  ["tool_calls", "tool-calls"],
  ["function_call", "tool-calls"],
  ["length", "length"],
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
