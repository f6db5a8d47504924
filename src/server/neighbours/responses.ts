import { randomUUID } from "node:crypto";
import { OpenAiResponsesRequest, type ResponsesMessage } from "../../dialects/openai-responses.js";
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
 * messages before its question is answered without being kept: its client keeps them.
 */
export async function serveResponse(body: unknown, context: RouteContext): Promise<Response> {
  const request = resolve("responses", OpenAiResponsesRequest, body as never);
  requireModel(request.model);
  requireAnswerable(request.text?.format?.type, mustCallTool(request.tool_choice));
  if (request.background === true) {
    throw new Refusal(400, "options", "background: answers are streamed or waited for; leave it out");
  }
  const { question, history, instructions } = inputOf(request);
  const previous = request.previous_response_id ?? undefined;
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
  }
  const shape = shapeOf(id, request, isKept);
  const headers = ignoredHeaders(body as Readonly<Record<string, unknown>>);
  if (request.stream !== true) return Response.json(await wholeResponse(events, shape), { headers });
  const response = eventStream(frames(streamOf(await begun(events), shape)), keepAliveMs);
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

/** `GET /v1/responses/{id}`: an answer that was kept. @throws Refusal (404) for one that was not, or is somebody else's. */
export async function readResponse(id: string, context: RouteContext): Promise<Response> {
  const { which, position } = parsedId(id);
  const { conversation } = await keptIn(which, id, context);
  const exchange = (await conversation.exchanges()).find((found) => found.position === position);
  if (!exchange) throw unknownResponse(id);
  const { answer } = exchange;
  const running = context.answers.get(answerName(context, which))?.isRunning ?? false;
  const status = answer ? (answer.stopped ? "cancelled" : "completed") : running ? "in_progress" : "failed";
  const shape = shapeOf(id, {}, true);
  if (!answer) return Response.json({ ...shape, status });
  const { text, citations } = wireExchange({ ...exchange, answer }).answer!;
  return Response.json({ ...shape, status, output: [messageOf(id, text, placedByMarks(text, citations))] });
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
}

/** @throws Refusal (400) when the last message is no question in words. */
function inputOf({ input }: OpenAiResponsesRequest): Input {
  if (typeof input === "string") return { question: input, history: [], instructions: [] };
  const messages = input.filter((item): item is ResponsesMessage => item.role !== undefined);
  const last = messages.at(-1);
  if (last?.role !== "user") throw new Refusal(400, "options", "input: the last message must be the user's question");
  const earlier = messages.slice(0, -1);
  const isSaid = ({ role }: ResponsesMessage) => role === "user" || role === "assistant";
  return {
    question: textOf(last),
    history: earlier
      .filter(isSaid)
      .map((message) => ({ role: message.role as "user" | "assistant", text: textOf(message) })),
    instructions: earlier.filter((message) => !isSaid(message)).map(textOf),
  };
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

type Echoed = Partial<
  Pick<
    OpenAiResponsesRequest,
    "instructions" | "previous_response_id" | "temperature" | "max_output_tokens" | "metadata"
  >
>;

/** A response without its answer, with what the request said. */
function shapeOf(id: string, request: Echoed, store: boolean) {
  return {
    id,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status: "in_progress",
    error: null as object | null,
    incomplete_details: null as object | null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: request.metadata ?? {},
    model: modelId,
    output: [] as readonly object[],
    parallel_tool_calls: true,
    previous_response_id: request.previous_response_id ?? null,
    store,
    temperature: request.temperature ?? null,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: null,
    truncation: "disabled",
    usage: null as object | null,
  };
}
type Shape = ReturnType<typeof shapeOf>;

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
const textPart = (text: string, annotations: readonly Annotation[]) => ({
  type: "output_text",
  text,
  annotations,
  logprobs: [],
});

function messageOf(id: string, text: string, annotations: readonly Annotation[], status = "completed") {
  return {
    type: "message",
    id: itemIdOf(id),
    status,
    role: "assistant",
    content: [textPart(text, annotations)],
  };
}

/** The response when its answer has ended. */
function ended(shape: Shape, finish: Finish, annotations: readonly Annotation[]): Shape {
  const reason = reasonOf(finish);
  const tokens = tokensOf(finish);
  return {
    ...shape,
    ...endOf(reason),
    output: [messageOf(shape.id, finish.text, annotations, reason === "stop" ? "completed" : "incomplete")],
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

function endOf(reason: ReturnType<typeof reasonOf>): Pick<Shape, "status" | "incomplete_details"> {
  if (reason === "stop") return { status: "completed", incomplete_details: null };
  const why = reason === "length" ? "max_output_tokens" : "content_filter";
  return { status: "incomplete", incomplete_details: { reason: why } };
}

async function wholeResponse(events: AsyncIterable<WireEvent>, shape: Shape): Promise<Shape> {
  const places = new PlacedCitations();
  const annotations: Annotation[] = [];
  for await (const event of events) {
    if (event.type === "text-delta") places.text(event.text);
    if (event.type === "citation") annotations.push(annotationOf(event.citation, places));
    if (event.type === "finish") return ended(shape, event, annotations);
    if (event.type === "error") {
      const reason = endingOf(event);
      if (!reason) throw failed(event);
      return { ...shape, ...endOf(reason) };
    }
  }
  throw new Refusal(499, "stopped", "The answer was stopped");
}

type StreamEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The events of a response in their order: created, its one message with its text and annotations, and its end. */
async function* streamOf(events: AsyncIterable<WireEvent>, shape: Shape): AsyncGenerator<StreamEvent> {
  const item_id = itemIdOf(shape.id);
  const at = { item_id, output_index: 0, content_index: 0 };
  const places = new PlacedCitations();
  const annotations: Annotation[] = [];
  yield { type: "response.created", response: shape };
  yield { type: "response.in_progress", response: shape };
  const started = { ...messageOf(shape.id, "", []), status: "in_progress", content: [] };
  yield { type: "response.output_item.added", output_index: 0, item: started };
  yield { type: "response.content_part.added", ...at, part: textPart("", []) };
  for await (const event of events) {
    if (event.type === "text-delta") {
      places.text(event.text);
      yield { type: "response.output_text.delta", ...at, delta: event.text, logprobs: [] };
    } else if (event.type === "citation") {
      const annotation = annotationOf(event.citation, places);
      yield { type: "response.output_text.annotation.added", ...at, annotation_index: annotations.length, annotation };
      annotations.push(annotation);
    } else if (event.type === "finish") {
      const response = ended(shape, event, annotations);
      yield { type: "response.output_text.done", ...at, text: event.text, logprobs: [] };
      yield { type: "response.content_part.done", ...at, part: textPart(event.text, annotations) };
      yield { type: "response.output_item.done", output_index: 0, item: response.output[0] };
      yield { type: `response.${response.status}`, response };
    } else if (event.type === "error") {
      const reason = endingOf(event);
      const { code, message } = event.error;
      if (reason) yield { type: "response.incomplete", response: { ...shape, ...endOf(reason) } };
      else yield { type: "response.failed", response: { ...shape, status: "failed", error: { code, message } } };
    }
  }
}

const encoder = new TextEncoder();

async function* frames(events: AsyncIterable<StreamEvent>): AsyncGenerator<Uint8Array> {
  let sequence_number = 0;
  for await (const event of events) {
    yield encoder.encode(`event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`);
    sequence_number++;
  }
}

async function* withoutNumbers(events: AsyncIterable<readonly [number, WireEvent]>): AsyncGenerator<WireEvent> {
  for await (const [, event] of events) yield event;
}
