import { z } from "zod";
import { embeddingTokenLimit } from "../contract/catalogue.js";
import { defaultMaxBatchTexts } from "../contract/embeddings.js";
import { serviceProfile } from "../dialects/services.js";
import { OptionsError, TransportError } from "../core/errors.js";
import { observerOption, optionsOf, resolve } from "../core/options.js";
import { callOptions } from "../core/call-options.js";
import type { EmbedCall, Embedder, Embeddings, TokenCounter } from "../core/ports.js";
import { defaultTokens } from "../text/tokens/tokens.js";
import { checkTransport, type Transport } from "../transport/transport.js";
import { Counter } from "./counter.js";
import { raisedMargin } from "../text/tokens/token-margin.js";

export interface EmbedderOptions<Model extends string = string> {
  /** Id of the model; names the vector space. */
  readonly model: Model;
  /** Maximum texts in one request, 1 to 2048 or the service's own limit. Default: 32, which all services accept. */
  readonly batchSize?: number;
  /** `base64` falls back to `float` when the service refuses it. Default: `base64`. */
  readonly encoding?: "base64" | "float";
  /**
   * Length of the vectors, 1 or more; others are refused. Requested when the catalogue says that the model has several, and of services
   * that have a field for it. Default: the catalogue's, else any.
   */
  readonly dimension?: number;
  /** Tokens in one text. Default: the catalogue's or the service's; else 8192 if the id ends in `m3`, or 512. */
  readonly maxInputTokens?: number;
  /** Put before questions, for models with instructions. Default: nothing. */
  readonly queryPrefix?: string;
  /** Put before passages. Changing it makes vectors that do not compare with the old ones. Default: nothing. */
  readonly documentPrefix?: string;
  /** Counts tokens. Default: the exact counter of the library's own vocabulary, checked against the service's: see `tokenMargin`. */
  readonly tokens?: TokenCounter;
  /**
   * Tokens that the service counts for one of ours, 1 to 4, as an earlier run learned. Raised to the next twentieth when
   * a reply reports more, unless `tokens` is given. Default: 1.
   */
  readonly tokenMargin?: number;
  /** Called with each new margin, so that the next run can begin with it. */
  readonly onTokenMargin?: (margin: number) => void;
}

const embedderOptions = optionsOf<EmbedderOptions>()({
  model: z.string().min(1),
  batchSize: z.int().min(1).max(2048).optional(),
  encoding: z.enum(["base64", "float"]).default("base64"),
  dimension: z.int().min(1).optional(),
  maxInputTokens: z.int().min(1).optional(),
  queryPrefix: z.string().default(""),
  documentPrefix: z.string().default(""),
  tokens: Counter.optional(),
  tokenMargin: z.number().min(1).max(4).default(1),
  onTokenMargin: observerOption<(margin: number) => void>("onTokenMargin").optional(),
});

const embedCall = optionsOf<EmbedCall>()({
  ...callOptions.shape,
  purpose: z.enum(["document", "query"]).optional(),
  countedTokens: z.number().optional(),
});

/**
 * Turns texts into vectors, over the transport. The space is the model's id, so vectors of two models never meet.
 *
 * @throws OptionsError when an option is out of range, or the prefixes leave no room for a text.
 * @example
 * ```ts
 * import { createTransport, embedder, openStore } from "citewell";
 * const transport = createTransport({ baseUrl: "https://api.example.com/v1", apiKey: "…" });
 * const store = await openStore("./.citewell", embedder(transport, { model: "BAAI/bge-m3" }));
 * ```
 */
export function embedder<const Model extends string>(
  transport: Transport,
  options: EmbedderOptions<Model>,
): Embedder<Model> {
  checkTransport("embedder", transport);
  const settings = resolve("embedder", embedderOptions, options);
  const { encoding, queryPrefix, documentPrefix } = settings;
  const { model } = options;
  const info = transport.models.find(({ id }) => id === model);
  const service = serviceProfile(transport.service)?.embeddings;
  const { batchSize = Math.min(defaultMaxBatchTexts, service?.maxTexts ?? Infinity) } = settings;
  if (batchSize > (service?.maxTexts ?? Infinity)) {
    const problem = `batchSize is ${batchSize}, and ${transport.service} takes at most ${service?.maxTexts} texts`;
    throw new OptionsError("options", `embedder: ${problem}`);
  }
  const tokens = settings.tokens ?? defaultTokens;
  const dimension = settings.dimension ?? info?.dimension;
  const hasLengths = info?.dimensions !== undefined || service?.dimensions !== undefined;

  let tokenMargin = settings.tokenMargin;

  /** Raises the margin when the service counts more. Questions are short, and would load the vocabulary for nothing. */
  function raiseMargin(
    input: readonly string[],
    used: number | undefined,
    { purpose, countedTokens }: EmbedCall,
  ): void {
    if (settings.tokens || purpose === "query" || !used) return;
    const counted = countedTokens ?? input.reduce((sum, text) => sum + tokens.count(text), 0);
    const raised = raisedMargin(tokenMargin, { texts: input.length, counted, used });
    if (raised === tokenMargin) return;
    tokenMargin = raised;
    settings.onTokenMargin?.(raised);
  }

  async function request(input: readonly string[], call: EmbedCall): Promise<Embeddings> {
    const { countedTokens: _, ...sending } = call;
    const { vectors, usage } = await transport.embeddings(
      {
        model,
        input: [...input],
        encoding_format: encoding,
        ...(settings.dimension !== undefined && hasLengths && { dimensions: settings.dimension }),
      },
      sending,
    );
    const length = vectors[0]?.length;
    if (dimension !== undefined && length !== dimension) {
      const message = `${model} answered with vectors of ${length} dimensions, ${dimension} were expected: set dimension of embedder() to ${length}`;
      throw new TransportError("reply", message, { operation: "embeddings" });
    }
    raiseMargin(input, usage?.inputTokens, call);
    return { vectors, tokens: usage?.inputTokens };
  }

  return {
    space: model,
    ...(dimension !== undefined && { dimension }),
    maxInputTokens: tokensLeft(
      settings.maxInputTokens ?? info?.maxInputTokens ?? service?.maxInputTokens ?? embeddingTokenLimit(model),
      [queryPrefix, documentPrefix],
      tokens,
    ),
    maxBatchTexts: batchSize,
    ...(service?.maxBatchTokens !== undefined && { maxBatchTokens: service.maxBatchTokens }),
    tokens,
    get tokenMargin() {
      return tokenMargin;
    },
    ...(transport.prices[model] && { price: transport.prices[model] }),
    embed: async (texts, given = {}) => {
      const call = resolve("embed", embedCall, given);
      const prefix = call.purpose === "query" ? queryPrefix : documentPrefix;
      const inputs = prefix === "" ? texts : texts.map((text) => prefix + text);
      if (inputs.length === 0) return { vectors: [], tokens: 0 };
      if (inputs.length <= batchSize && prefix === "") return request(inputs, call);
      // The caller counted all texts together, not those of one request.
      const uncounted = { ...call, countedTokens: undefined };
      const groups = Array.from({ length: Math.ceil(inputs.length / batchSize) }, (_, offset) =>
        inputs.slice(offset * batchSize, (offset + 1) * batchSize),
      );
      const parts = await Promise.all(groups.map((group) => request(group, uncounted)));
      return {
        vectors: parts.flatMap(({ vectors }) => vectors),
        // A sum of some requests would look like that of all.
        tokens: parts.reduce<number | undefined>(
          (sum, { tokens: used }) => (sum === undefined || used === undefined ? undefined : sum + used),
          0,
        ),
      };
    },
  };
}

/** Tokens left for the text after the longer prefix. Without prefixes nothing is counted, and no vocabulary loaded. */
function tokensLeft(maxInputTokens: number, prefixes: readonly string[], tokens: TokenCounter): number {
  const taken = Math.max(...prefixes.map((prefix) => (prefix === "" ? 0 : tokens.count(prefix))));
  if (taken < maxInputTokens) return maxInputTokens - taken;
  throw new OptionsError(
    "options",
    `embedder: a prefix of ${taken} tokens leaves no room in the ${maxInputTokens} tokens of an input`,
  );
}
