import { z } from "zod";
import { given } from "../../core/given.js";
import { resolve } from "../../core/options.js";
import type { AnswerEvent } from "../../core/types.js";
import type { Conversation } from "../../knowledge-base/conversation.js";
import type { AskOptions } from "../../knowledge-base/question-options.js";
import { eventStream } from "../../network/event-stream-response.js";
import { answerEvents } from "../api/answer-events.js";
import { checkApprovals } from "../api/approvals.js";
import { answerName } from "../api/conversations.js";
import type { NumberedEvents, RouteContext } from "../api/route.js";
import type { WireCitation } from "../api/wire.js";
import { Refusal } from "../guard/refusal.js";
import { requireSeen } from "../question-images.js";

/** A request of the AI SDK's `useChat`, as its default transport sends it. https://ai-sdk.dev/docs/ai-sdk-ui/transport */
export const ChatRequest = z.object({
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
  messageId: z.string().optional(),
});
export type ChatRequest = z.output<typeof ChatRequest>;
type Message = ChatRequest["messages"][number];

const keepAliveMs = 15_000;

/**
 * `POST /api/chat`: the AI SDK's stream of message parts, version 1. The conversation is kept under the chat's id. Leaving the
 * stream ends the answer, which is kept as far as it came: that is how `useChat` stops one.
 * https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
 */
export async function serveUiMessages(body: unknown, context: RouteContext): Promise<Response> {
  const request = resolve("chat", ChatRequest, body as never);
  const { id, messages } = request;
  const { owner } = context.access;
  const found = await context.documents.conversation({ id }).info();
  if (found && found.owner !== owner) throw new Refusal(404, "not-found", "There is no such conversation");
  const last = messages.at(-1)!;
  if (last.role === "assistant") checkApprovals(approvalsIn(last), id, context);
  else {
    requireSeen(context.kb, imagesIn(last), "messages: file");
    context.audit({ event: "question", conversation: id, text: textOf(last) });
  }
  const conversation = context.documents.conversation({ id, ...given({ owner }) });
  const name = answerName(context, id);
  // An answer that its reader has stopped may still be ending when the next question comes, which is to know of it.
  const previous = context.answers.get(name);
  previous?.stop();
  await previous?.ended;
  const answer = context.answers.start(name, (signal) =>
    answerEvents(answerTo(request, conversation, context, signal), context),
  );
  const { signal } = context.request;
  const stop = () => answer.stop();
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const parts = partsOf(answer.follow(), last.role === "assistant" ? last.id : undefined);
  const response = eventStream(frames(parts, stop), keepAliveMs);
  response.headers.set("x-vercel-ai-ui-message-stream", "v1");
  return response;
}

/** `useChat` shows the body of a refusal as it is: the reason alone, in words. */
export function uiMessagesFailure({ status, message, headers }: Refusal): Response {
  return new Response(message, { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers } });
}

function answerTo(
  { messages, trigger, messageId }: ChatRequest,
  conversation: Conversation,
  { ask }: RouteContext,
  signal: AbortSignal,
): AsyncIterable<AnswerEvent> {
  const last = messages.at(-1)!;
  const approvals = last.role === "assistant" ? approvalsIn(last) : {};
  if (Object.keys(approvals).length > 0)
    return conversation.resume(approvals, { signal, ...given({ answer: ask.answer }) });
  if (last.role !== "user")
    throw new Refusal(400, "options", "messages: the last one must be a question, or decide on calls");
  const question = textOf(last);
  const options = { ...ask, images: imagesIn(last), signal };
  const isRegenerated = trigger === "regenerate-message";
  // An ordinary question goes on with all that is kept, so that a page that has lost its list, or sends only its last
  // message, deletes nothing. An edited question or a regenerated answer has ended the list there, for the reader and so for
  // the model.
  if (!isRegenerated && messageId === undefined) return conversation.ask(question, options);
  const earlier = messages.slice(0, -1).filter(({ role }) => role === "user");
  return askedAfter(earlier.map(textOf), { conversation, question, isRegenerated, options });
}

/** Asks with the questions that the reader still sees as history, without the others. */
async function* askedAfter(
  seen: readonly string[],
  {
    conversation,
    question,
    isRegenerated,
    options,
  }: {
    readonly conversation: Conversation;
    readonly question: string;
    readonly isRegenerated: boolean;
    readonly options: AskOptions;
  },
): AsyncGenerator<AnswerEvent> {
  const stored = (await conversation.exchanges()).map((exchange) => exchange.question);
  const shown = countShown(stored, seen);
  const isAskedAgain = isRegenerated && stored[shown] === question;
  await conversation.truncate(isAskedAgain ? shown + 1 : shown);
  yield* isAskedAgain ? conversation.regenerate(options) : conversation.ask(question, options);
}

/** Number of the first stored questions that the reader still sees. Refused ones are seen and were never stored. */
function countShown(stored: readonly string[], seen: readonly string[]): number {
  let from = 0;
  for (const [position, question] of stored.entries()) {
    const index = seen.indexOf(question, from);
    if (index < 0) return position;
    from = index + 1;
  }
  return stored.length;
}

const PictureFile = z.object({ type: z.literal("file"), mediaType: z.string().startsWith("image/"), url: z.string() });

/** Addresses of the pictures of a question. @throws Refusal (400 `options`) for files that are none. */
function imagesIn({ parts }: Message): string[] {
  return parts
    .filter(({ type }) => type === "file")
    .map((part) => {
      const { success, data } = PictureFile.safeParse(part);
      if (success) return data.url;
      throw new Refusal(400, "options", "messages: a question is text and pictures; other files in it are not read");
    });
}

function textOf({ parts }: Message): string {
  return parts.flatMap(({ type, text }) => (type === "text" ? [String(text)] : [])).join("\n");
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

const encoder = new TextEncoder();

async function* frames(parts: AsyncIterable<object>, leave: () => void): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of parts) yield encoder.encode(`data: ${JSON.stringify(part)}\n\n`);
    yield encoder.encode("data: [DONE]\n\n");
  } finally {
    leave();
  }
}

/** The parts of a message. @param continued id of the message that they go on with */
async function* partsOf(events: NumberedEvents, continued?: string): AsyncGenerator<object> {
  yield { type: "start", ...given({ messageId: continued }) };
  yield { type: "start-step" };
  const block = new OpenBlock();
  const sources = new Set<string>();
  const refused = new Set<string>();
  for await (const [, event] of events) {
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
        if (event.approved) break;
        refused.add(event.id);
        yield { type: "tool-output-denied", toolCallId: event.id };
        break;
      case "tool-result":
        // The model is told of the refusal as of a failure; the page has seen it.
        if (refused.has(event.id)) break;
        if (event.error === undefined) {
          yield { type: "tool-output-available", toolCallId: event.id, output: event.output ?? null, dynamic: true };
        } else yield { type: "tool-output-error", toolCallId: event.id, errorText: event.error, dynamic: true };
        break;
      case "retrieved":
        yield transient("passages", event.passages);
        break;
      case "warning":
        yield { type: "data-warning", data: event.message };
        break;
      case "finish":
        yield* block.end();
        yield transient("considered", event.considered);
        yield { type: "finish-step" };
        yield { type: "finish", finishReason: event.finishReason };
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
      case "searching":
        break;
    }
  }
}

/** Writes pieces of text or reasoning in blocks, which have to be opened and closed. */
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

/** Data for `onData` alone. In the message it would be sent back with every further question, and long texts fill a request. */
function transient(name: string, data: unknown): object {
  return { type: `data-${name}`, data, transient: true };
}
