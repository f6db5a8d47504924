import { randomUUID } from "node:crypto";
import { OpenAiChatRequest, type OpenAiMessage } from "../../contract/neighbours/openai-chat.js";
import { given } from "../../core/given.js";
import { resolve } from "../../core/options.js";
import { ignoredHeader } from "../../network/connections.js";
import { eventStream } from "../../network/event-stream.js";
import { answerEvents } from "../api/answer-events.js";
import type { RouteContext } from "../api/route.js";
import type { WireCitation, WireEvent } from "../api/wire.js";
import { Refusal } from "../guard/refusal.js";

/** The one model that clients find here: answers from the documents. */
export const modelId = "citewell";
const keepAliveMs = 15_000;

type Finish = Extract<WireEvent, { readonly type: "finish" }>;

/** A citation as OpenAI's API writes one of the web, with its place in the answer's text. */
interface Annotation {
  readonly type: "url_citation";
  readonly url_citation: {
    readonly url: string;
    readonly title: string;
    readonly start_index: number;
    readonly end_index: number;
  };
}

/**
 * `POST /v1/chat/completions`: the last message is searched for and answered, with the messages before it as history. What
 * clients say as the system is added to the instructions.
 */
export async function serveChatCompletion(body: unknown, context: RouteContext): Promise<Response> {
  const { messages, stream, stream_options: streaming, n, ...how } = resolve("chat", OpenAiChatRequest, body as never);
  if ((n ?? 1) > 1) throw new Refusal(400, "options", "n: one answer is made, since another would say the same");
  const last = messages.at(-1)!;
  if (last.role !== "user") throw new Refusal(400, "options", "messages: the last one must be the user's question");
  const { answer = {}, ...ask } = context.ask;
  const instructions = [answer.instructions ?? "", ...messages.filter(isInstruction).map(textOf)].join("\n").trim();
  const { approve, ...making } = answer;
  const events = answerEvents(
    context.documents.ask(
      { question: textOf(last), history: messages.slice(0, -1).filter(isTurn).map(turnOf) },
      {
        ...ask,
        signal: context.request.signal,
        answer: {
          ...making,
          // Nobody could resume an answer that is kept nowhere.
          ...(approve !== "later" && given({ approve })),
          ...(instructions !== "" && { instructions }),
          ...given({
            temperature: how.temperature ?? undefined,
            answerTokens: how.max_completion_tokens ?? how.max_tokens ?? undefined,
          }),
        },
      },
    ),
    context,
  );
  // Last, for what is refused above has no end at which it would give its place back.
  const release = context.answers.admit();
  const ignored = ignoredFields(body as Readonly<Record<string, unknown>>);
  const headers: Record<string, string> = ignored.length > 0 ? { [ignoredHeader]: ignored.join(", ") } : {};
  if (stream === true) {
    const started = await begun(releasing(events, release));
    const response = eventStream(chunksOf(started, streaming?.include_usage === true), keepAliveMs);
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  }
  return Response.json(await completionOf(releasing(events, release)), { headers });
}

const usedFields: ReadonlySet<string> = new Set([
  ..."model messages stream stream_options n temperature max_tokens max_completion_tokens".split(" "),
  // These hold by themselves: nothing is kept, and nobody is told apart.
  ..."user store metadata safety_identifier".split(" "),
]);

function ignoredFields(body: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(body).filter((name) => !usedFields.has(name) && body[name] !== null);
}

function isInstruction({ role }: OpenAiMessage): boolean {
  return role === "system" || role === "developer";
}

type Said =
  | Extract<OpenAiMessage, { readonly role: "assistant" }>
  | Extract<OpenAiMessage, { readonly content?: unknown }>;

/** Calls of tools and their results are of the client's own tools, of which this side knows nothing. */
function isTurn({ role }: OpenAiMessage): boolean {
  return role === "user" || role === "assistant";
}

function turnOf(message: Said) {
  return { role: message.role === "assistant" ? ("assistant" as const) : ("user" as const), text: textOf(message) };
}

function textOf({ content }: Said): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .map((part) => {
      if (part.type === "text") return part.text;
      if (part.type === "refusal") return part.refusal;
      throw new Refusal(400, "options", "messages: pictures are not looked at; send the question as text");
    })
    .join("\n");
}

async function* releasing(events: AsyncIterable<WireEvent>, release: () => void): AsyncGenerator<WireEvent> {
  try {
    yield* events;
  } finally {
    release();
  }
}

/** The events, once the first has come: a failure before it is refused with its status instead of within a stream. */
async function begun(events: AsyncGenerator<WireEvent>): Promise<AsyncGenerator<WireEvent>> {
  const first = await events.next();
  if (first.done !== true && first.value.type === "error") {
    await events.return(undefined);
    throw failed(first.value);
  }
  return (async function* () {
    if (first.done !== true) yield first.value;
    yield* events;
  })();
}

function failed({ error }: Extract<WireEvent, { readonly type: "error" }>): Refusal {
  const status = error.code === "options" || error.code === "question-too-long" ? 400 : 502;
  return new Refusal(status, error.code, error.message);
}

/** Follows the text of an answer, and places its citations in it. */
class PlacedCitations {
  #length = 0;
  #markAt = 0;

  text(piece: string): void {
    this.#markAt = this.#length;
    this.#length += piece.length;
  }

  /** A citation comes right behind its mark. */
  place({ uri, title, number }: WireCitation): Annotation {
    return {
      type: "url_citation",
      url_citation: {
        url: uri,
        title: title ?? `Source ${number}`,
        start_index: this.#markAt,
        end_index: this.#length,
      },
    };
  }
}

function usageOf({ inputTokens: input, outputTokens: output }: Finish) {
  if (input === undefined || output === undefined) return undefined;
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

const created = () => Math.floor(Date.now() / 1000);

async function completionOf(events: AsyncIterable<WireEvent>): Promise<object> {
  const places = new PlacedCitations();
  const annotations: Annotation[] = [];
  for await (const event of events) {
    if (event.type === "error") throw failed(event);
    if (event.type === "text-delta") places.text(event.text);
    if (event.type === "citation") annotations.push(places.place(event.citation));
    if (event.type === "finish") {
      const message = { role: "assistant", content: event.text, refusal: null, annotations };
      return {
        id: `chatcmpl-${randomUUID()}`,
        object: "chat.completion",
        created: created(),
        model: modelId,
        choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
        ...given({ usage: usageOf(event) }),
        citations: event.citations,
      };
    }
  }
  throw new Refusal(499, "stopped", "The answer was stopped");
}

const encoder = new TextEncoder();

async function* chunksOf(events: AsyncIterable<WireEvent>, includeUsage: boolean): AsyncGenerator<Uint8Array> {
  const same = { id: `chatcmpl-${randomUUID()}`, object: "chat.completion.chunk", created: created(), model: modelId };
  const data = (value: unknown) => encoder.encode(`data: ${JSON.stringify(value)}\n\n`);
  const chunk = (delta: object, reason: "stop" | null = null) =>
    data({
      ...same,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
      ...(includeUsage && { usage: null }),
    });
  const places = new PlacedCitations();
  yield chunk({ role: "assistant", content: "" });
  for await (const event of events) {
    if (event.type === "text-delta") {
      places.text(event.text);
      yield chunk({ content: event.text });
    } else if (event.type === "citation") {
      yield chunk({ annotations: [places.place(event.citation)] });
    } else if (event.type === "finish") {
      yield data({
        ...same,
        choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: "stop" }],
        citations: event.citations,
      });
      if (includeUsage) yield data({ ...same, choices: [], usage: usageOf(event) ?? null });
    } else if (event.type === "error") {
      const { code, message } = event.error;
      yield data({ error: { message, type: "server_error", param: null, code } });
    }
  }
  yield encoder.encode("data: [DONE]\n\n");
}

/** `GET /v1/models`. */
export function modelList(): object {
  return { object: "list", data: [modelInfo()] };
}

/** `GET /v1/models/{id}`. */
export function modelInfo(): object {
  return { id: modelId, object: "model", created: 0, owned_by: "citewell" };
}

/** A refusal as OpenAI's API writes it, so that its clients show the reason. */
export function openAiFailure({ status, code, message, headers }: Refusal): Response {
  const type = status < 500 ? "invalid_request_error" : "server_error";
  return Response.json({ error: { message, type, param: null, code } }, { status, headers });
}
