import { randomUUID } from "node:crypto";
import { OpenAiChatRequest, type OpenAiMessage } from "../../dialects/openai-chat.js";
import { given } from "../../core/given.js";
import { resolve } from "../../core/options.js";
import { ignoredHeader } from "../../network/connections.js";
import { eventStream } from "../../network/event-stream-response.js";
import { answerEvents } from "../api/answer-events.js";
import type { RouteContext } from "../api/route.js";
import type { WireCitation, WireEvent } from "../api/wire.js";
import { Refusal } from "../guard/refusal.js";
import { requireSeen } from "../question-images.js";
import {
  askOptionsFor,
  begun,
  endingOf,
  failed,
  type Finish,
  type FinishReason,
  keepAliveMs,
  modelId,
  PlacedCitations,
  reasonOf,
  releasing,
  requireAnswerable,
  requireModel,
  tokensOf,
  type UrlCitation,
} from "./openai-answer.js";

/**
 * `POST /v1/chat/completions`: the last message is searched for and answered, with the messages before it as history. What
 * clients say as the system is added to the instructions.
 */
export async function serveChatCompletion(body: unknown, context: RouteContext): Promise<Response> {
  const request = resolve("chat", OpenAiChatRequest, body as never);
  const { model, messages, stream, stream_options: streaming, n, ...how } = request;
  requireModel(model);
  requireAnswerable(how.response_format?.type, !isFreeChoice(how.tool_choice));
  if ((n ?? 1) > 1) throw new Refusal(400, "options", "n: one answer is made, since another would say the same");
  const last = messages.at(-1)!;
  if (last.role !== "user") throw new Refusal(400, "options", "messages: the last one must be the user's question");
  const wanted = {
    instructions: messages.filter(isInstruction).map(textOf),
    temperature: how.temperature,
    maxTokens: how.max_completion_tokens ?? how.max_tokens,
  };
  const images = imagesOf(last);
  requireSeen(context.kb, images, "messages: image_url");
  context.audit({ event: "question", text: textOf(last) });
  const events = answerEvents(
    context.documents.ask(
      { question: textOf(last), images, history: messages.slice(0, -1).filter(isTurn).map(turnOf) },
      { ...askOptionsFor(context, wanted), signal: context.request.signal },
    ),
    context,
  );
  // The place is taken last: a request that is refused above would never release it.
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

/** Whether a model may choose to call no tool. */
function isFreeChoice(choice: OpenAiChatRequest["tool_choice"]): boolean {
  if (typeof choice === "object" && choice !== null) {
    return choice.type === "allowed_tools" && choice.allowed_tools.mode === "auto";
  }
  return choice !== "required";
}

const usedFields: ReadonlySet<string> = new Set([
  ..."model messages stream stream_options n temperature max_tokens max_completion_tokens".split(" "),
  // Refused where they would ask for anything else than this answer.
  ..."response_format tool_choice".split(" "),
  // These are met anyway: nothing is stored, and callers are not told apart.
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

/** Tool calls and their results are those of the client's own tools, which the server does not know. */
function isTurn({ role }: OpenAiMessage): boolean {
  return role === "user" || role === "assistant";
}

function turnOf(message: Said) {
  return { role: message.role === "assistant" ? ("assistant" as const) : ("user" as const), text: textOf(message) };
}

function imagesOf({ content }: Said): string[] {
  if (typeof content === "string") return [];
  return (content ?? []).flatMap((part) => (part.type === "image_url" ? [part.image_url.url] : []));
}

function textOf({ content }: Said): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .map((part) => {
      if (part.type === "text") return part.text;
      if (part.type === "refusal") return part.refusal;
      // The last question's pictures are read apart; those of earlier ones were answered.
      return "";
    })
    .filter((text) => text !== "")
    .join("\n");
}

/** A citation as a chat completion has it. */
interface Annotation {
  readonly type: "url_citation";
  readonly url_citation: UrlCitation;
}

function annotationOf(citation: WireCitation, places: PlacedCitations): Annotation {
  return { type: "url_citation", url_citation: places.place(citation) };
}

function usageOf(finish: Finish) {
  const tokens = tokensOf(finish);
  if (!tokens) return undefined;
  return {
    prompt_tokens: tokens.input,
    completion_tokens: tokens.output,
    total_tokens: tokens.total,
    ...given({ prompt_tokens_details: tokens.inputDetails, completion_tokens_details: tokens.outputDetails }),
  };
}

const created = () => Math.floor(Date.now() / 1000);

async function completionOf(events: AsyncIterable<WireEvent>): Promise<object> {
  const places = new PlacedCitations();
  const annotations: Annotation[] = [];
  const completion = (content: string, reason: FinishReason, more: object) => ({
    id: `chatcmpl-${randomUUID()}`,
    object: "chat.completion",
    created: created(),
    model: modelId,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content, refusal: null, annotations },
        logprobs: null,
        finish_reason: reason,
      },
    ],
    ...more,
  });
  let text = "";
  for await (const event of events) {
    if (event.type === "error") {
      const reason = endingOf(event);
      if (!reason) throw failed(event);
      return completion(text, reason, { citations: [] });
    }
    if (event.type === "text-delta") {
      text += event.text;
      places.text(event.text);
    }
    if (event.type === "citation") annotations.push(annotationOf(event.citation, places));
    if (event.type === "finish") {
      return completion(event.text, reasonOf(event), {
        ...given({ usage: usageOf(event) }),
        citations: event.citations,
      });
    }
  }
  throw new Refusal(499, "stopped", "The answer was stopped");
}

const encoder = new TextEncoder();

async function* chunksOf(events: AsyncIterable<WireEvent>, includeUsage: boolean): AsyncGenerator<Uint8Array> {
  const same = { id: `chatcmpl-${randomUUID()}`, object: "chat.completion.chunk", created: created(), model: modelId };
  const data = (value: unknown) => encoder.encode(`data: ${JSON.stringify(value)}\n\n`);
  const chunk = (delta: object, reason: FinishReason | null = null, more: object = {}) =>
    data({
      ...same,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
      ...(includeUsage && { usage: null }),
      ...more,
    });
  const places = new PlacedCitations();
  yield chunk({ role: "assistant", content: "" });
  for await (const event of events) {
    if (event.type === "text-delta") {
      places.text(event.text);
      yield chunk({ content: event.text });
    } else if (event.type === "citation") {
      yield chunk({ annotations: [annotationOf(event.citation, places)] });
    } else if (event.type === "finish") {
      yield chunk({}, reasonOf(event), { citations: event.citations });
      if (includeUsage) yield data({ ...same, choices: [], usage: usageOf(event) ?? null });
    } else if (event.type === "error") {
      const reason = endingOf(event);
      const { code, message } = event.error;
      if (reason) yield chunk({}, reason);
      else yield data({ error: { message, type: "server_error", param: null, code } });
    }
  }
  yield encoder.encode("data: [DONE]\n\n");
}
