import { randomUUID } from "node:crypto";
import { OpenAiResponsesRequest, type ResponsesMessage } from "../../dialects/openai-responses.js";
import {
  messageItem,
  numberedEvents,
  type ResponseEnding,
  type ResponseEvent,
  responseShape,
  type ResponseShape,
  ResponseWriter,
} from "../../dialects/openai-response-writer.js";
import { given } from "../../core/given.js";
import { resolve } from "../../core/options.js";
import type { Turn } from "../../core/types.js";
import type { Conversation } from "../../knowledge-base/conversation.js";
import { ignoredHeader } from "../../network/connections.js";
import { eventStream } from "../../network/event-stream-response.js";
import { answerEvents } from "../api/answer-events.js";
import { answerName, existingConversation, openConversation } from "../api/conversations.js";
import type { RouteContext } from "../api/route.js";
import { wireExchange } from "../api/to-wire.js";
import type { WireCitation, WireEvent } from "../api/wire.js";
import { Refusal } from "../guard/refusal.js";
import {
  askOptionsFor,
  begun,
  endingOf,
  failed,
  type Finish,
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
 * `POST /v1/responses`: the last message is searched for and answered. Unless `store` is false, the answer is kept as one of a
 * conversation, which `previous_response_id` continues, or branches off where it had gone on. A request that carries the
 * messages before its question is answered without being kept: its client keeps them. One that refers to the last of them by
 * its id continues the conversation of that one.
 */
export async function serveResponse(body: unknown, context: RouteContext): Promise<Response> {
  const request = resolve("responses", OpenAiResponsesRequest, body as never);
  requireModel(request.model);
  requireAnswerable(request.text?.format?.type, mustCallTool(request.tool_choice));
  if (request.background === true) {
    throw new Refusal(400, "options", "background: answers are streamed or waited for; leave it out");
  }
  const { question, history, instructions, previous } = await inputOf(request, context);
  if (previous !== undefined && history.length > 0) {
    throw new Refusal(400, "options", "input: with previous_response_id, send the new question alone");
  }
  const wanted = {
    instructions: [request.instructions ?? "", ...instructions],
    temperature: request.temperature,
    maxTokens: request.max_output_tokens,
  };
  const isKept = previous !== undefined || (request.store !== false && history.length === 0);
  let id = responseIdOf(randomUUID(), 0);
  let events: AsyncGenerator<WireEvent>;
  if (isKept) {
    const { conversation, position } = await conversationFor(previous, context);
    context.audit({ event: "question", conversation: conversation.id, text: question });
    id = responseIdOf(conversation.id, position);
    const answer = context.answers.start(answerName(context, conversation.id), (signal) =>
      answerEvents(conversation.ask(question, { ...askOptionsFor(context, wanted), signal }), context),
    );
    // A request that its client has left is cancelled, as it is there.
    const { signal: left } = context.request;
    const stop = () => answer.stop();
    if (left.aborted) stop();
    left.addEventListener("abort", stop, { once: true });
    events = withoutNumbers(answer.follow());
  } else {
    context.audit({ event: "question", text: question });
    const asked = { question, history };
    const answering = { ...askOptionsFor(context, wanted), signal: context.request.signal };
    const made = answerEvents(context.documents.ask(asked, answering), context);
    events = releasing(made, context.answers.admit());
    if (request.store !== false) events = remembered(events, itemIdOf(id), context);
  }
  const writer = new ResponseWriter(responseShape({ id, model: modelId, store: isKept }, request), itemIdOf(id));
  const headers = ignoredHeaders(body as Readonly<Record<string, unknown>>);
  if (request.stream !== true) return Response.json(await wholeResponse(events, writer), { headers });
  const response = eventStream(frames(streamOf(await begun(events), writer)), keepAliveMs);
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

/** `GET /v1/responses/{id}`: an answer that was kept. @throws Refusal (404) for one that was not, or is somebody else's. */
export async function readResponse(id: string, context: RouteContext): Promise<Response> {
  const { which } = parsedId(id);
  const exchange = await keptExchange(id, context);
  const { answer } = exchange;
  const running = context.answers.get(answerName(context, which))?.isRunning ?? false;
  const status = answer ? (answer.stopped ? "cancelled" : "completed") : running ? "in_progress" : "failed";
  const shape = responseShape({ id, model: modelId, store: true }, {});
  if (!answer) return Response.json({ ...shape, status });
  const { text, citations } = wireExchange({ ...exchange, answer }).answer!;
  return Response.json({ ...shape, status, output: [messageItem(itemIdOf(id), text, placedByMarks(text, citations))] });
}

/** @throws Refusal (404) for an answer that was not kept, or is somebody else's. */
async function keptExchange(id: string, context: RouteContext) {
  const { which, position } = parsedId(id);
  const { conversation } = await keptIn(which, id, context);
  const exchange = (await conversation.exchanges()).find((found) => found.position === position);
  if (!exchange) throw unknownResponse(id);
  return exchange;
}

function mustCallTool(choice: OpenAiResponsesRequest["tool_choice"]): boolean {
  if (typeof choice === "object" && choice !== null)
    return choice.type !== "allowed_tools" || choice.mode === "required";
  return choice === "required";
}

interface Input {
  readonly question: string;
  readonly history: readonly Turn[];
  readonly instructions: readonly string[];
  /** Id of the response that it continues. */
  readonly previous?: string | undefined;
}

/** @throws Refusal (400) when the last message is no question in words, and (404) for a reference to an unknown item. */
async function inputOf({ input, previous_response_id }: OpenAiResponsesRequest, context: RouteContext): Promise<Input> {
  const previous = previous_response_id ?? undefined;
  if (typeof input === "string") return { question: input, history: [], instructions: [], previous };
  const last = input.at(-1);
  if (last?.role !== "user") throw new Refusal(400, "options", "input: the last message must be the user's question");
  const earlier = input.slice(0, -1);
  const instructions = earlier.filter(isMessage).filter(isInstruction).map(textOf);
  const said = earlier.filter((item) => item.type === "item_reference" || (isMessage(item) && !isInstruction(item)));
  const answered = said.at(-1);
  const kept = answered?.type === "item_reference" ? responseOfItem(answered.id as string) : undefined;
  // The conversation has everything that was said before it.
  if (kept !== undefined) return { question: textOf(last), history: [], instructions, previous: previous ?? kept };
  const history = await Promise.all(
    said.map(async (item): Promise<Turn> => {
      if (item.type === "item_reference")
        return { role: "assistant", text: await textOfItem(item.id as string, context) };
      const message = item as ResponsesMessage;
      return { role: message.role as "user" | "assistant", text: textOf(message) };
    }),
  );
  return { question: textOf(last), history, instructions, previous };
}

function isMessage(item: Exclude<OpenAiResponsesRequest["input"], string>[number]): item is ResponsesMessage {
  return item.role !== undefined;
}

function isInstruction({ role }: ResponsesMessage): boolean {
  return role === "system" || role === "developer";
}

/** Id of the response that a message belongs to, where a conversation keeps it. */
function responseOfItem(id: string): string | undefined {
  const response = id.replace(/^msg_/, "resp_");
  const { position } = idForm.exec(response)?.groups ?? {};
  return position === undefined || position === "0" ? undefined : response;
}

/** @throws Refusal (404) */
async function textOfItem(id: string, context: RouteContext): Promise<string> {
  const recent = context.recentAnswers.get(context.accessName, id);
  if (recent !== undefined) return recent;
  const response = responseOfItem(id);
  const answer = response && (await keptExchange(response, context)).answer;
  if (!answer) throw new Refusal(404, "not-found", `There is no item ${JSON.stringify(id)}: send the message itself`);
  return answer.text;
}

async function* remembered(
  events: AsyncIterable<WireEvent>,
  id: string,
  { recentAnswers, accessName }: RouteContext,
): AsyncGenerator<WireEvent> {
  for await (const event of events) {
    if (event.type === "finish") recentAnswers.add(accessName, id, event.text);
    yield event;
  }
}

function textOf({ content }: ResponsesMessage): string {
  if (typeof content === "string") return content;
  return content
    .map(({ type, text, refusal }) => {
      const said = text ?? refusal;
      if (said === undefined) throw new Refusal(400, "options", `input: a part ${type} is not looked at; send text`);
      return said;
    })
    .join("\n");
}

const idForm = /^resp_(?<which>[0-9a-f-]{36})_(?<position>\d{1,9})$/;

/** The id of an answer names its conversation and its place there, so that it needs no table of its own. */
function responseIdOf(conversationId: string, position: number): string {
  return `resp_${conversationId}_${position}`;
}

function parsedId(id: string): { readonly which: string; readonly position: number } {
  const { which, position } = idForm.exec(id)?.groups ?? {};
  if (which === undefined || position === "0") throw unknownResponse(id);
  return { which, position: Number(position) };
}

function unknownResponse(id: string): Refusal {
  const message = `There is no response ${JSON.stringify(id)}. One whose request had store: false, or carried its own messages, is not kept`;
  return new Refusal(404, "not-found", message);
}

/** @throws Refusal (404) for an answer that was not kept, or is somebody else's. */
async function keptIn(which: string, id: string, context: RouteContext) {
  try {
    return await existingConversation(context, which);
  } catch (error) {
    throw error instanceof Refusal ? unknownResponse(id) : error;
  }
}

/** @throws Refusal (404) for an answer that was not kept, or is somebody else's. */
async function conversationFor(
  previous: string | undefined,
  context: RouteContext,
): Promise<{ readonly conversation: Conversation; readonly position: number }> {
  if (previous === undefined) return { conversation: openConversation(context, randomUUID()), position: 1 };
  const { which, position } = parsedId(previous);
  const found = await keptIn(which, previous, context);
  if (position > found.info.exchanges) throw unknownResponse(previous);
  const isLast = position === found.info.exchanges;
  const conversation = isLast ? found.conversation : await found.conversation.branch(randomUUID(), position);
  return { conversation, position: position + 1 };
}

const usedFields: ReadonlySet<string> = new Set([
  ...Object.keys(OpenAiResponsesRequest.shape),
  // These are met anyway: callers are not told apart, and no tool of the client is called.
  ..."user safety_identifier prompt_cache_key include tools parallel_tool_calls stream_options truncation".split(" "),
]);

function ignoredHeaders(body: Readonly<Record<string, unknown>>): Record<string, string> {
  const ignored = Object.keys(body).filter((name) => !usedFields.has(name) && body[name] !== null);
  return ignored.length > 0 ? { [ignoredHeader]: ignored.join(", ") } : {};
}

type Annotation = UrlCitation & { readonly type: "url_citation" };

function annotationOf(citation: WireCitation, places: PlacedCitations): Annotation {
  return { type: "url_citation", ...places.place(citation) };
}

/** Places citations at their marks, in the order of the text. */
function placedByMarks(text: string, citations: readonly WireCitation[]): Annotation[] {
  const places = new PlacedCitations();
  let end = 0;
  return citations.flatMap((citation) => {
    const mark = `[${citation.number}]`;
    const start = text.indexOf(mark, end);
    if (start < 0) return [];
    places.text(text.slice(end, start));
    places.text(mark);
    end = start + mark.length;
    return [annotationOf(citation, places)];
  });
}

const itemIdOf = (id: string) => id.replace(/^resp_/, "msg_");

/** How the answer ends its response. */
function endingOfAnswer(finish: Finish): ResponseEnding {
  const tokens = tokensOf(finish);
  return {
    ...endOf(reasonOf(finish)),
    text: finish.text,
    usage: tokens
      ? {
          input_tokens: tokens.input,
          output_tokens: tokens.output,
          total_tokens: tokens.total,
          ...given({ input_tokens_details: tokens.inputDetails, output_tokens_details: tokens.outputDetails }),
        }
      : null,
  };
}

function endOf(reason: ReturnType<typeof reasonOf>): ResponseEnding {
  if (reason === "stop") return { status: "completed", incomplete_details: null };
  const why = reason === "length" ? "max_output_tokens" : "content_filter";
  return { status: "incomplete", incomplete_details: { reason: why } };
}

/** The response once its answer has ended. @throws Refusal for an answer that failed. */
async function wholeResponse(events: AsyncIterable<WireEvent>, writer: ResponseWriter): Promise<ResponseShape> {
  for await (const _ of streamOf(orThrow(events), writer));
  if (writer.response.status === "in_progress") throw new Refusal(499, "stopped", "The answer was stopped");
  return writer.response;
}

async function* orThrow(events: AsyncIterable<WireEvent>): AsyncGenerator<WireEvent> {
  for await (const event of events) {
    if (event.type === "error" && !endingOf(event)) throw failed(event);
    yield event;
  }
}

/** The events of a response: created, its one message with its text and annotations, and its end. */
async function* streamOf(events: AsyncIterable<WireEvent>, writer: ResponseWriter): AsyncGenerator<ResponseEvent> {
  const places = new PlacedCitations();
  yield* writer.begin();
  for await (const event of events) {
    if (event.type === "text-delta") {
      places.text(event.text);
      yield* writer.text(event.text);
    } else if (event.type === "citation") yield* writer.annotation(annotationOf(event.citation, places));
    else if (event.type === "finish") yield* writer.end(endingOfAnswer(event));
    else if (event.type === "error") {
      const reason = endingOf(event);
      const { code, message } = event.error;
      yield* writer.end(reason ? endOf(reason) : { status: "failed", error: { code, message } });
    }
  }
}

const encoder = new TextEncoder();

async function* frames(events: AsyncIterable<ResponseEvent>): AsyncGenerator<Uint8Array> {
  for await (const event of numberedEvents(events)) {
    yield encoder.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
}

async function* withoutNumbers(events: AsyncIterable<readonly [number, WireEvent]>): AsyncGenerator<WireEvent> {
  for await (const [, event] of events) yield event;
}
