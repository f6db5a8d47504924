import type { z } from "zod";
import { ChatChunk, type ChatReply, type ChatUsage } from "../../../contract/chat.js";
import { dateOf } from "../../../contract/reply-fields.js";
import { isRecord } from "../../../core/json.js";
import { errorIn } from "../../failures/error-body.js";
import { FailedAttempt, type Failure, badReply } from "../../failures/failure.js";
import { type ResponseHeaders, requestIdOf } from "../../failures/response-headers.js";
import { serviceFailure } from "../../failures/service-failure.js";
import type { ChatResult, ChatStreamEvent } from "../chat-result.js";
import { placeOf } from "../json-call.js";
import { chatShape } from "../../service-shape.js";
import { type ChunkChoice, ChoiceAssembler } from "./choice-assembler.js";

/** The facts about a reply before its first chunk. */
export interface ReplyHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The model that was asked for. */
  readonly model: string;
  /** Number of choices that were asked for. */
  readonly choices: number;
  /** Whether `<think>…</think>` in the text is reasoning. */
  readonly thinkTags: boolean;
}

type Chunk = z.output<typeof ChatChunk>;

/** Puts a reply together from its chunks, and reports what each adds. */
export class ChatAssembler {
  readonly #head: ReplyHead;
  readonly #requestId;
  /** Choices by index, from 0. */
  readonly #choices = new Map<number, ChoiceAssembler>();
  #id = "";
  #model = "";
  #created: number | undefined;
  #usage: z.output<typeof ChatUsage> | undefined;
  #raw: unknown;
  /** The first chunk without a choice that holds an error's text: the reason, if no choice comes at all. */
  #said: unknown;
  #done = false;

  constructor(head: ReplyHead) {
    const requestId = requestIdOf(head.headers);
    this.#head = head;
    this.#requestId = requestId === undefined ? {} : { requestId };
  }

  /** The first choice's text that had come before a failure. */
  get partialText(): string {
    return this.#choices.get(0)?.text ?? "";
  }

  /** Whether `[DONE]` was read; anything after it is ignored. */
  get done(): boolean {
    return this.#done;
  }

  /** Adds the events of one `data:` line. @throws FailedAttempt when the line is an error, or not a chunk. */
  take(event: string, data: string, events: ChatStreamEvent[]): void {
    if (this.#done) return;
    if (data.trim() === "[DONE]") {
      this.#done = true;
      return;
    }
    let raw: unknown;
    try {
      raw = JSON.parse(data);
    } catch (cause) {
      if (event === "error") throw this.#errorOf(data);
      throw badReply("a line of the stream is not JSON", this.#partial({ cause }));
    }
    if (event === "error" || isError(raw)) throw this.#errorOf(raw);
    this.#add(isPlainChunk(raw) ? raw : this.#checked(raw), raw, events);
  }

  /** Returns the events of a whole reply. */
  takeWhole({ choices, ...reply }: z.output<typeof ChatReply>, raw: unknown): ChatStreamEvent[] {
    const events: ChatStreamEvent[] = [];
    const ordered = choices.toSorted((one, other) => (one.index ?? 0) - (other.index ?? 0));
    this.#add(
      {
        ...reply,
        choices: ordered.map(({ message, finish_reason: finish, ...rest }, index) => ({
          ...rest,
          index,
          delta: message,
          // Nothing of a whole reply can be missing.
          finish_reason: finish ?? "stop",
        })),
      },
      raw,
      events,
    );
    this.#done = true;
    return events;
  }

  /** Returns the tool calls and the end. @throws FailedAttempt when the stream broke off. */
  end(cause?: unknown): readonly ChatStreamEvent[] {
    const choices = [...this.#choices].toSorted(([one], [other]) => one - other).map(([, choice]) => choice);
    const [first] = choices;
    // An unrequested choice does not delay the end, if the service says that it is done.
    const isFinished = choices.every(
      ({ finish }, place) => finish !== undefined || (this.#done && place >= this.#head.choices),
    );
    // Gateways write [DONE] also when the service behind them broke off.
    if (!(first ? isFinished : this.#done)) {
      throw this.#broken("truncated", "the stream ended before it said that it was finished", cause);
    }
    if (!first) throw this.#said ? this.#errorOf(this.#said) : badReply("the reply has no choice", this.#partial({}));
    const events: ChatStreamEvent[] = [];
    const createdAt = dateOf(this.#created);
    const done = choices.map((choice) => choice.end(events));
    const result: ChatResult = {
      ...done[0]!,
      choices: done,
      usage: chatShape.usage(this.#usage),
      model: this.#model === "" ? this.#head.model : this.#model,
      id: this.#id,
      ...(createdAt && { createdAt }),
      ...this.#requestId,
      raw: this.#raw,
    };
    events.push({ type: "finish", result });
    return events;
  }

  /** Adds what had come to a failure of the connection or of the time. */
  withPartial(failure: Failure): FailedAttempt {
    return new FailedAttempt({ ...failure, ...this.#partial({}) });
  }

  #add({ id, model, created, choices, usage }: Chunk, raw: unknown, events: ChatStreamEvent[]): void {
    this.#raw = raw;
    this.#id ||= id ?? "";
    this.#model ||= model ?? "";
    this.#created ??= created ?? undefined;
    // Services that report usage with every chunk report the sum so far.
    if (usage) this.#usage = usage;
    if (!choices?.length) this.#said ??= errorIn(raw) && raw;
    else for (const choice of choices) this.#take(choice, events);
  }

  #take(choice: ChunkChoice, events: ChatStreamEvent[]): void {
    const index = choice.index ?? 0;
    let assembler = this.#choices.get(index);
    if (!assembler) this.#choices.set(index, (assembler = new ChoiceAssembler(index, this.#head.thinkTags)));
    assembler.take(choice, events);
    const { finish_reason: finish } = choice;
    if (finish === "insufficient_system_resource" || finish === "error") {
      throw this.#broken("upstream", `the service broke off: ${finish}`);
    }
  }

  #checked(raw: unknown): Chunk {
    const parsed = ChatChunk.safeParse(raw);
    if (parsed.success) return parsed.data;
    throw badReply(`a chunk of the stream does not follow the contract${placeOf(parsed.error)}`, {
      ...this.#partial({ cause: parsed.error }),
    });
  }

  #broken(code: "upstream" | "truncated", message: string, cause?: unknown): FailedAttempt {
    return this.withPartial({ code, message, retryable: true, undelivered: false, cause });
  }

  #errorOf(body: unknown): FailedAttempt {
    const { status, headers } = this.#head;
    const said = errorIn(body) ?? { message: "the service reported an error in the stream" };
    return this.withPartial(serviceFailure({ operation: "chat", status, headers, body: said, nowMs: Date.now() }));
  }

  #partial(details: { readonly cause?: unknown }): Partial<Failure> {
    return { partialText: this.partialText, status: this.#head.status, ...this.#requestId, ...details };
  }
}

/** Recognises the shapes in which services report an error in the middle of a stream. */
function isError(chunk: unknown): boolean {
  if (!isRecord(chunk)) return typeof chunk === "string" || errorIn(chunk) !== undefined;
  const { error, object, code, message, choices } = chunk;
  if (!isNothing(error) || object === "error") return true;
  return choices === undefined && typeof message === "string" && !isNothing(code);
}

/**
 * Whether a parsed line is an ordinary chunk, text or thinking and nothing else, as almost all are. True only for chunks
 * that satisfy the schema; the schema itself checks all others, because it takes longer than parsing the JSON does.
 */
export function isPlainChunk(raw: unknown): raw is z.output<typeof ChatChunk> {
  if (!isRecord(raw)) return false;
  const { id, model, created, choices, usage } = raw;
  if (!isText(id) || !isText(model) || !isNothing(usage) || !Array.isArray(choices)) return false;
  if (!isNothing(created) && !Number.isFinite(created)) return false;
  for (const choice of choices as readonly unknown[]) if (!isPlainChoice(choice)) return false;
  return true;
}

function isPlainChoice(choice: unknown): boolean {
  if (!isRecord(choice)) return false;
  const { index, delta, finish_reason } = choice;
  if (!isText(finish_reason) || !isRecord(delta)) return false;
  if (!isNothing(index) && !(Number.isSafeInteger(index) && (index as number) >= 0)) return false;
  const { role, content, reasoning_content, reasoning, refusal, tool_calls } = delta;
  const isWritten = isText(content) && isText(reasoning_content) && isText(refusal) && isNothing(reasoning);
  return isText(role) && isWritten && isNothing(tool_calls);
}

function isText(value: unknown): boolean {
  return typeof value === "string" || isNothing(value);
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}
