import { randomUUID } from "node:crypto";
import type { OpenAiResponsesRequest } from "./openai-responses.js";

/** An event of a response's stream, without its number. */
export type ResponseEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The fields of a request that its response repeats. */
type Echoed = Partial<
  Pick<
    OpenAiResponsesRequest,
    "instructions" | "previous_response_id" | "temperature" | "max_output_tokens" | "metadata"
  >
>;

/** A response of OpenAI's Responses API. https://platform.openai.com/docs/api-reference/responses/object */
export type ResponseShape = ReturnType<typeof responseShape>;

/** A response without its answer, with what the request said. */
export function responseShape(
  { id, model, store }: { readonly id: string; readonly model: string; readonly store: boolean },
  request: Echoed,
) {
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
    model,
    output: [] as readonly ResponseItem[],
    parallel_tool_calls: true,
    previous_response_id: request.previous_response_id ?? null,
    store,
    temperature: request.temperature ?? null,
    text: { format: { type: "text" } } as object,
    tool_choice: "auto" as unknown,
    tools: [] as readonly object[],
    top_p: null as number | null,
    truncation: "disabled",
    usage: null as object | null,
  };
}

/** A message, a trace of thinking or a call of a function in a response's output. */
export type ResponseItem = { readonly type: string; readonly id: string } & Readonly<Record<string, unknown>>;

/** A message with its text and the annotations in it. */
export function messageItem(
  id: string,
  text: string,
  annotations: readonly object[],
  status: string = "completed",
): ResponseItem {
  return { type: "message", id, status, role: "assistant", content: [textPart(text, annotations)] };
}

function textPart(text: string, annotations: readonly object[]) {
  return { type: "output_text", text, annotations, logprobs: [] };
}

/** How a response ends. */
export interface ResponseEnding {
  readonly status: "completed" | "incomplete" | "failed";
  readonly incomplete_details?: object | null;
  readonly error?: object | null;
  readonly usage?: object | null;
  /** The whole text of the last message, where it differs from its pieces. */
  readonly text?: string;
}

interface OpenItem {
  readonly item: ResponseItem;
  readonly kind: "message" | "reasoning" | "function_call";
  readonly annotations: object[];
  text: string;
}

/** Writes the events of one response in their order, and the response that they amount to. */
export class ResponseWriter {
  #response: ResponseShape;
  readonly #messageId: string | undefined;
  #open: OpenItem | undefined;

  /** @param messageId id of its only message. Default: each has a random one. */
  constructor(shape: ResponseShape, messageId?: string) {
    this.#response = shape;
    this.#messageId = messageId;
  }

  /** The response as far as it is written. */
  get response(): ResponseShape {
    return this.#response;
  }

  *begin(): Generator<ResponseEvent> {
    yield { type: "response.created", response: this.#response };
    yield { type: "response.in_progress", response: this.#response };
  }

  *text(delta: string): Generator<ResponseEvent> {
    yield* this.#opened("message");
    this.#open!.text += delta;
    yield { type: "response.output_text.delta", ...this.#at(), delta, logprobs: [] };
  }

  /** Adds an annotation of the text so far. */
  *annotation(annotation: object): Generator<ResponseEvent> {
    yield* this.#opened("message");
    const { annotations } = this.#open!;
    const annotation_index = annotations.length;
    annotations.push(annotation);
    yield { type: "response.output_text.annotation.added", ...this.#at(), annotation_index, annotation };
  }

  /** Adds a piece of the model's thinking, as a summary, which clients show. */
  *reasoning(delta: string): Generator<ResponseEvent> {
    yield* this.#opened("reasoning");
    this.#open!.text += delta;
    yield { type: "response.reasoning_summary_text.delta", ...this.#summaryAt(), delta };
  }

  *beginCall(callId: string, name: string): Generator<ResponseEvent> {
    yield* this.#closed();
    yield* this.#opened("function_call", { call_id: callId, name, arguments: "" });
  }

  /** Adds a piece of the arguments of the call that was begun last. */
  *callArguments(delta: string): Generator<ResponseEvent> {
    this.#open!.text += delta;
    const { item_id, output_index } = this.#at();
    yield { type: "response.function_call_arguments.delta", item_id, output_index, delta };
  }

  *end({ text, ...ending }: ResponseEnding): Generator<ResponseEvent> {
    if (text !== undefined) {
      yield* this.#opened("message");
      this.#open!.text = text;
    }
    yield* this.#closed(ending.status === "incomplete" ? "incomplete" : "completed");
    this.#response = { ...this.#response, ...ending };
    yield { type: `response.${ending.status}`, response: this.#response };
  }

  #at() {
    return { item_id: this.#open!.item.id, output_index: this.#response.output.length, content_index: 0 };
  }

  #summaryAt() {
    const { item_id, output_index } = this.#at();
    return { item_id, output_index, summary_index: 0 };
  }

  *#opened(kind: OpenItem["kind"], more: object = {}): Generator<ResponseEvent> {
    if (this.#open?.kind === kind) return;
    yield* this.#closed();
    const prefix = { message: "msg", reasoning: "rs", function_call: "fc" }[kind];
    const id = (kind === "message" ? this.#messageId : undefined) ?? `${prefix}_${randomUUID().replaceAll("-", "")}`;
    const content = { message: { role: "assistant", content: [] }, reasoning: { summary: [] }, function_call: {} }[
      kind
    ];
    const item = { type: kind, id, status: "in_progress", ...content, ...more };
    this.#open = { item, kind, text: "", annotations: [] };
    yield { type: "response.output_item.added", output_index: this.#response.output.length, item };
    if (kind === "message") yield { type: "response.content_part.added", ...this.#at(), part: textPart("", []) };
    if (kind === "reasoning") {
      yield { type: "response.reasoning_summary_part.added", ...this.#summaryAt(), part: summaryPart("") };
    }
  }

  *#closed(status = "completed"): Generator<ResponseEvent> {
    if (!this.#open) return;
    const { item, kind, text, annotations } = this.#open;
    const place = this.#at();
    let whole: ResponseItem = { ...item, status, arguments: text };
    if (kind === "message") {
      yield { type: "response.output_text.done", ...place, text, logprobs: [] };
      yield { type: "response.content_part.done", ...place, part: textPart(text, annotations) };
      whole = messageItem(item.id, text, annotations, status);
    } else if (kind === "reasoning") {
      yield { type: "response.reasoning_summary_text.done", ...this.#summaryAt(), text };
      yield { type: "response.reasoning_summary_part.done", ...this.#summaryAt(), part: summaryPart(text) };
      whole = { ...item, status, summary: [summaryPart(text)] };
    } else {
      const { item_id, output_index } = place;
      const name = item["name"];
      yield { type: "response.function_call_arguments.done", item_id, output_index, name, arguments: text };
    }
    yield { type: "response.output_item.done", output_index: place.output_index, item: whole };
    this.#response = { ...this.#response, output: [...this.#response.output, whole] };
    this.#open = undefined;
  }
}

function summaryPart(text: string) {
  return { type: "summary_text", text };
}

/** The events with their numbers, from 0. */
export async function* numberedEvents(events: AsyncIterable<ResponseEvent>): AsyncGenerator<ResponseEvent> {
  let sequence_number = 0;
  for await (const event of events) {
    yield { ...event, sequence_number };
    sequence_number++;
  }
}
