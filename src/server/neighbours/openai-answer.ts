import { given } from "../../core/given.js";
import type { AskOptions } from "../../knowledge-base/question-options.js";
import type { RouteParts } from "../api/route.js";
import type { WireCitation, WireEvent } from "../api/wire.js";
import { Refusal } from "../guard/refusal.js";

/** The one model that clients find here: answers from the documents. */
export const modelId = "citewell";

/** Interval of the comments that keep a stream alive. */
export const keepAliveMs = 15_000;

export type Finish = Extract<WireEvent, { readonly type: "finish" }>;
type Failure = Extract<WireEvent, { readonly type: "error" }>;

/** How a client wants its answer, in the words of OpenAI's API. */
export interface WantedAnswer {
  /** Added to those of the server. */
  readonly instructions: readonly string[];
  readonly temperature: number | null | undefined;
  /** Tokens of the answer; a lower limit of the server's stays. */
  readonly maxTokens: number | null | undefined;
}

/** The options of an answer, as the server has them and a client wants them. */
export function askOptionsFor(
  { ask }: Pick<RouteParts, "ask">,
  { instructions, temperature, maxTokens }: WantedAnswer,
): Omit<AskOptions, "filter" | "signal" | "report"> {
  const { answer = {}, ...others } = ask;
  const { approve, ...making } = answer;
  const all = [answer.instructions ?? "", ...instructions].join("\n").trim();
  return {
    ...others,
    answer: {
      ...making,
      // Clients of this API cannot approve a call later.
      ...(approve !== "later" && given({ approve })),
      ...(all !== "" && { instructions: all }),
      ...given({
        temperature: temperature ?? undefined,
        maxReplyTokens: least(answer.maxReplyTokens, maxTokens ?? undefined),
      }),
    },
  };
}

/** @throws Refusal (404) for a model that is not served. */
export function requireModel(id: string): void {
  if (id === modelId) return;
  const message = `The model ${JSON.stringify(id)} is not served here: ask for "${modelId}"`;
  throw new Refusal(404, "model_not_found", message);
}

/**
 * Refuses what an answer from documents cannot be. Tools that may be called or not are borne, since none is called.
 *
 * @throws Refusal (400).
 */
export function requireAnswerable(format: string | undefined, mustCallTool: boolean): void {
  if (format !== undefined && format !== "text") {
    throw new Refusal(
      400,
      "options",
      `An answer with its citations is text, and cannot be ${format}: leave the format out`,
    );
  }
  if (mustCallTool) {
    throw new Refusal(400, "options", "Tools of the client are never called here: leave tool_choice out, or send auto");
  }
}

/** The smaller of two limits, of which each may be missing. */
function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

export async function* releasing(events: AsyncIterable<WireEvent>, release: () => void): AsyncGenerator<WireEvent> {
  try {
    yield* events;
  } finally {
    release();
  }
}

/** Time after which a stream begins although its model has said nothing yet: proxies give up on replies without headers. */
const silenceMs = 10_000;

/**
 * The events, once the model has begun its reply: a failure of the search or the model before that is refused with its status,
 * so that clients repeat the request, instead of within a stream.
 */
export async function begun(
  events: AsyncGenerator<WireEvent>,
  limitMs = silenceMs,
): Promise<AsyncGenerator<WireEvent>> {
  const held: WireEvent[] = [];
  let pending: Promise<IteratorResult<WireEvent>> | undefined;
  const isLate = AbortSignal.timeout(limitMs);
  const late = new Promise<undefined>((resolve) => isLate.addEventListener("abort", () => resolve(undefined)));
  for (;;) {
    pending ??= events.next();
    const next = await Promise.race([pending, late]);
    if (next === undefined || next.done === true) break;
    pending = undefined;
    const event = next.value;
    if (event.type === "error" && !endingOf(event)) {
      await events.return(undefined);
      throw failed(event);
    }
    held.push(event);
    if (event.type !== "retrieved" && event.type !== "warning") break;
  }
  return (async function* () {
    yield* held;
    const next = await pending;
    if (next && next.done !== true) yield next.value;
    yield* events;
  })();
}

/** Tokens of an answer, without those that its model did not report. */
export function tokensOf({ inputTokens: input, outputTokens: output, cachedTokens, reasoningTokens }: Finish) {
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    total: input + output,
    inputDetails: cachedTokens === undefined ? undefined : { cached_tokens: cachedTokens },
    outputDetails: reasoningTokens === undefined ? undefined : { reasoning_tokens: reasoningTokens },
  };
}

export type FinishReason = "stop" | "length" | "content_filter";

/** Tool calls run on the server: the client has none to continue. */
export function reasonOf({ finishReason }: Finish): FinishReason {
  if (finishReason === "content-filter") return "content_filter";
  return finishReason === "length" ? finishReason : "stop";
}

/** The end of a reply that has no answer in it, where OpenAI's API has a name for it and no error. */
export function endingOf({ error: { code } }: Failure): FinishReason | undefined {
  return code === "thinking-budget" ? "length" : code === "content-filter" ? "content_filter" : undefined;
}

export function failed({ error }: Failure): Refusal {
  const status = error.code === "options" || error.code === "question-too-long" ? 400 : 502;
  return new Refusal(status, error.code, error.message);
}

/** A citation as OpenAI's API writes one of the web, with its place in the answer's text. */
export interface UrlCitation {
  readonly url: string;
  readonly title: string;
  readonly start_index: number;
  readonly end_index: number;
}

/** Follows the text of an answer, and places its citations in it. */
export class PlacedCitations {
  #length = 0;
  #markAt = 0;

  text(piece: string): void {
    this.#markAt = this.#length;
    this.#length += piece.length;
  }

  /** A citation follows its mark directly. */
  place({ uri, title, number }: WireCitation): UrlCitation {
    return { url: uri, title: title ?? `Source ${number}`, start_index: this.#markAt, end_index: this.#length };
  }
}

/** `GET /v1/models`. @param shared ids of the collection's own models that callers may use. */
export function modelList(shared: readonly string[]): object {
  return { object: "list", data: [modelId, ...shared].map(described) };
}

/** `GET /v1/models/{id}`. @throws Refusal (404) for a model that is not served. */
export function modelInfo(id: string, shared: readonly string[]): object {
  if (!shared.includes(id)) requireModel(id);
  return described(id);
}

function described(id: string): object {
  return { id, object: "model", created: 0, owned_by: "citewell" };
}

/** A refusal as OpenAI's API writes it, so that its clients show the reason. */
export function openAiFailure({ status, code, message, headers }: Refusal): Response {
  const type = status < 500 ? "invalid_request_error" : "server_error";
  return Response.json({ error: { message, type, param: null, code } }, { status, headers });
}
