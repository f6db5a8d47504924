import { z } from "zod";
import { given } from "../../core/given.js";
import { resolve } from "../../core/options.js";
import type { AnswerEvent } from "../../core/types.js";
import type { Conversation } from "../../knowledge-base/conversation.js";
import { eventStream } from "../../network/event-stream.js";
import { answerEvents } from "../api/answer-events.js";
import type { RouteContext } from "../api/route.js";
import type { WireCitation, WireEvent } from "../api/wire.js";
import { Refusal } from "../guard/refusal.js";

/**
 * A request of the AI SDK's `useChat`, as its default transport sends it. The conversation is kept here under the chat's id,
 * so that of the messages only the last is read. https://ai-sdk.dev/docs/ai-sdk-ui/transport
 */
const ChatRequest = z.object({
  id: z.string().min(1).max(200),
  messages: z
    .array(
      z.object({
        id: z.string(),
        role: z.enum(["system", "user", "assistant"]),
        parts: z.array(z.looseObject({ type: z.string() })),
      }),
    )
    .min(1),
  trigger: z.enum(["submit-message", "regenerate-message"]).optional(),
});
type Message = z.output<typeof ChatRequest>["messages"][number];

const keepAliveMs = 15_000;

/**
 * `POST /api/chat`: the AI SDK's stream of message parts, version 1. Leaving it ends the answer, which is kept as far as it
 * came: that is how `useChat` stops one. https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
 */
export function serveUiMessages(body: unknown, context: RouteContext): Response {
  const { id, messages, trigger } = resolve("chat", ChatRequest, body as never);
  const { owner } = context.access;
  const found = context.documents.conversation({ id }).info();
  if (found && found.owner !== owner) throw new Refusal(404, "not-found", "There is no such conversation");
  const conversation = context.documents.conversation({ id, ...given({ owner }) });
  const last = messages.at(-1)!;
  const release = context.answers.admit();
  const answer = orRelease(release, () => answerTo(last, trigger, conversation, context));
  const events = answerEvents(answer, context.passages);
  const response = eventStream(
    frames(partsOf(events, last.role === "assistant" ? last.id : undefined), release),
    keepAliveMs,
  );
  response.headers.set("x-vercel-ai-ui-message-stream", "v1");
  return response;
}

function answerTo(
  last: Message,
  trigger: string | undefined,
  conversation: Conversation,
  { ask, request: { signal } }: RouteContext,
): AsyncIterable<AnswerEvent> {
  const approvals = last.role === "assistant" ? approvalsIn(last) : {};
  if (Object.keys(approvals).length > 0)
    return conversation.resume(approvals, { signal, ...given({ answer: ask.answer }) });
  if (trigger === "regenerate-message" && conversation.info()) return conversation.regenerate({ ...ask, signal });
  if (last.role !== "user")
    throw new Refusal(400, "options", "messages: the last one must be a question, or decide on calls");
  const question = last.parts.flatMap(({ type, text }) => (type === "text" ? [String(text)] : [])).join("\n");
  return conversation.ask(question, { ...ask, signal });
}

/** Decisions on calls that the reader has made since the message was sent. */
function approvalsIn({ parts }: Message): Readonly<Record<string, boolean>> {
  const Responded = z.object({
    state: z.literal("approval-responded"),
    approval: z.object({ id: z.string(), approved: z.boolean() }),
  });
  const responded = parts.flatMap((part) => Responded.safeParse(part).data?.approval ?? []);
  return Object.fromEntries(responded.map((approval) => [approval.id, approval.approved]));
}

function orRelease<Result>(release: () => void, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    release();
    throw error;
  }
}

const encoder = new TextEncoder();

async function* frames(parts: AsyncIterable<object>, release: () => void): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of parts) yield encoder.encode(`data: ${JSON.stringify(part)}\n\n`);
    yield encoder.encode("data: [DONE]\n\n");
  } finally {
    release();
  }
}

/** The parts of a message. @param continued id of the message that they go on with */
async function* partsOf(events: AsyncIterable<WireEvent>, continued?: string): AsyncGenerator<object> {
  yield { type: "start", ...given({ messageId: continued }) };
  yield { type: "start-step" };
  const block = new OpenBlock();
  const sources = new Set<string>();
  for await (const event of events) {
    switch (event.type) {
      case "text-delta":
        yield* block.add("text", event.text);
        break;
      case "reasoning-delta":
        yield* block.add("reasoning", event.text);
        break;
      case "citation":
        if (!sources.has(event.citation.uri)) yield sourceOf(event.citation);
        sources.add(event.citation.uri);
        yield { type: "data-citation", data: event.citation };
        break;
      case "tool-call":
        yield* block.end();
        yield {
          type: "tool-input-available",
          toolCallId: event.id,
          toolName: event.name,
          input: event.input,
          dynamic: true,
        };
        break;
      case "approval-needed":
        yield { type: "tool-approval-request", approvalId: event.call.approvalId, toolCallId: event.call.id };
        break;
      case "approval":
        if (!event.approved) yield { type: "tool-output-denied", toolCallId: event.id };
        break;
      case "tool-result":
        if (event.error === undefined) {
          yield { type: "tool-output-available", toolCallId: event.id, output: event.output ?? null, dynamic: true };
        } else yield { type: "tool-output-error", toolCallId: event.id, errorText: event.error, dynamic: true };
        break;
      case "retrieved":
        yield { type: "data-passages", data: event.passages };
        break;
      case "warning":
        yield { type: "data-warning", data: event.message };
        break;
      case "finish":
        yield* block.end();
        yield { type: "data-considered", data: event.considered };
        yield { type: "finish-step" };
        yield { type: "finish", finishReason: event.waiting.length > 0 ? "tool-calls" : "stop" };
        break;
      case "stopped":
        yield* block.end();
        yield { type: "abort" };
        break;
      case "error":
        yield* block.end();
        yield { type: "error", errorText: event.error.message };
        break;
      case "conversation":
        break;
    }
  }
}

/** Pieces of text or reasoning stand in blocks that have to be opened and closed. */
class OpenBlock {
  #kind: "text" | "reasoning" | undefined;
  #number = 0;

  *add(kind: "text" | "reasoning", delta: string): Generator<object> {
    if (this.#kind !== kind) {
      yield* this.end();
      this.#kind = kind;
      this.#number++;
      yield { type: `${kind}-start`, id: String(this.#number) };
    }
    yield { type: `${kind}-delta`, id: String(this.#number), delta };
  }

  *end(): Generator<object> {
    if (this.#kind) yield { type: `${this.#kind}-end`, id: String(this.#number) };
    this.#kind = undefined;
  }
}

function sourceOf({ uri, title }: WireCitation): object {
  const isPage = /^https?:/.test(uri);
  return isPage
    ? { type: "source-url", sourceId: uri, url: uri, ...given({ title }) }
    : { type: "source-document", sourceId: uri, mediaType: "text/plain", title: title ?? uri };
}
