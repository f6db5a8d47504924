import type { z } from "zod";
import { ChatChunk, type ChatReply, type ChatUsage } from "../contract/chat.js";
import { type ChatResult, type ChatStreamEvent, finishReason, usageOf } from "./chat-result.js";
import { errorIn, isRecord } from "./error-body.js";
import { FailedAttempt, type Failure, badReply } from "./failure.js";
import { isPlainChunk } from "./plain-chunk.js";
import { refusal } from "./refusal.js";
import { type Split, ThinkTagSplitter } from "./think-tags.js";
import { ToolCallAssembler } from "./tool-call-assembler.js";
import type { Headers } from "./wait-headers.js";

/** What is known of a reply before its first chunk. */
export interface ReplyHead {
  readonly status: number;
  readonly headers: Headers;
  readonly requestId?: string;
  /** As it was asked for. */
  readonly model: string;
  /** Whether `<think>…</think>` in the text is reasoning. */
  readonly thinkTags?: boolean;
}

type Delta = NonNullable<NonNullable<z.output<typeof ChatChunk>["choices"]>[number]["delta"]>;

/** Puts a reply together from its chunks, and tells what each adds. Only the first choice is read. */
export class ChatAssembler {
  readonly #head: ReplyHead;
  readonly #tools = new ToolCallAssembler();
  readonly #thinking: ThinkTagSplitter | undefined;
  #text = "";
  #reasoning = "";
  #id = "";
  #model = "";
  #finish: string | undefined;
  #usage: z.output<typeof ChatUsage> | undefined;
  #raw: unknown;
  #chunks = 0;
  #done = false;

  constructor(head: ReplyHead) {
    this.#head = head;
    this.#thinking = head.thinkTags ? new ThinkTagSplitter() : undefined;
  }

  /** What had come before a failure. */
  get partialText(): string {
    return this.#text;
  }

  /** `[DONE]` was read: what follows is nothing to us. */
  get done(): boolean {
    return this.#done;
  }

  /** Adds the events of one `data:` line. @throws FailedAttempt when the line is an error, or no chunk. */
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
      throw event === "error"
        ? this.#errorOf(data)
        : badReply("a line of the stream is not JSON", this.#partial({ cause }));
    }
    if (event === "error" || isError(raw)) throw this.#errorOf(raw);
    const { id, model, choices, usage } = isPlainChunk(raw) ? raw : this.#checked(raw);
    this.#raw = raw;
    this.#id ||= id ?? "";
    this.#model ||= model ?? "";
    // Services that report usage with every chunk report the sum so far.
    if (usage) this.#usage = usage;
    const choice = choices?.find(({ index }) => (index ?? 0) === 0);
    if (!choice) return;
    this.#chunks++;
    if (choice.delta) this.#delta(choice.delta, events);
    this.#finished(choice.finish_reason);
  }

  /** Events of a whole reply. */
  takeWhole({ id, model, choices, usage }: z.output<typeof ChatReply>, raw: unknown): ChatStreamEvent[] {
    const events: ChatStreamEvent[] = [];
    this.#done = true;
    this.#raw = raw;
    this.#id = id ?? "";
    this.#model = model ?? "";
    this.#usage = usage ?? undefined;
    const choice = choices.find(({ index }) => (index ?? 0) === 0) ?? choices[0];
    if (choice) {
      this.#chunks++;
      this.#delta(choice.message, events);
      this.#finished(choice.finish_reason);
    }
    return events;
  }

  /** The calls and the end. @throws FailedAttempt when the stream broke off. */
  end(cause?: unknown): readonly ChatStreamEvent[] {
    if (this.#finish === undefined && !this.#done) {
      throw new FailedAttempt({
        code: "truncated",
        message: "the stream ended before it said that it was finished",
        retryable: true,
        undelivered: false,
        ...this.#partial({ cause }),
      });
    }
    if (this.#chunks === 0) throw badReply("the reply has no choice", this.#partial({}));
    const events: ChatStreamEvent[] = [];
    if (this.#thinking) this.#add(this.#thinking.end(), events);
    const toolCalls = this.#tools.calls();
    const result: ChatResult = {
      text: this.#text,
      reasoning: this.#reasoning,
      toolCalls,
      finishReason: finishReason(this.#finish, toolCalls.length > 0),
      usage: usageOf(this.#usage),
      model: this.#model === "" ? this.#head.model : this.#model,
      id: this.#id,
      ...(this.#head.requestId !== undefined && { requestId: this.#head.requestId }),
      raw: this.#raw,
    };
    for (const call of toolCalls) events.push({ type: "tool-call", ...call });
    events.push({ type: "finish", result });
    return events;
  }

  /** A failure of the connection or of the time, with what had come. */
  withPartial(failure: Failure): FailedAttempt {
    return new FailedAttempt({ ...failure, ...this.#partial({}) });
  }

  #checked(raw: unknown): z.output<typeof ChatChunk> {
    const parsed = ChatChunk.safeParse(raw);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const where = issue === undefined ? "" : `: ${issue.path.join(".")}: ${issue.message}`;
      throw badReply(
        `a chunk of the stream is not what the contract says${where}`,
        this.#partial({ cause: parsed.error }),
      );
    }
    return parsed.data;
  }

  #delta({ reasoning_content: reasoning, content, tool_calls: calls }: Delta, events: ChatStreamEvent[]): void {
    if (reasoning) this.#add({ reasoning, text: "" }, events);
    if (content) this.#add(this.#thinking?.push(content) ?? { reasoning: "", text: content }, events);
    for (const call of calls ?? []) events.push({ type: "tool-call-delta", ...this.#tools.take(call) });
  }

  #add({ reasoning, text }: Split, events: ChatStreamEvent[]): void {
    if (reasoning !== "") {
      this.#reasoning += reasoning;
      events.push({ type: "reasoning-delta", text: reasoning });
    }
    if (text !== "") {
      this.#text += text;
      events.push({ type: "text-delta", text });
    }
  }

  #finished(written: string | null | undefined): void {
    if (written === undefined || written === null || written === "") return;
    if (written === "insufficient_system_resource" || written === "error") {
      throw new FailedAttempt({
        code: "upstream",
        message: `the service broke off: ${written}`,
        retryable: true,
        undelivered: false,
        ...this.#partial({}),
      });
    }
    this.#finish = written;
  }

  #errorOf(body: unknown): FailedAttempt {
    const { status, headers } = this.#head;
    const said = errorIn(body) ?? { message: "the service reported an error in the stream" };
    const failure = refusal({ operation: "chat", status, headers, body: said, nowMs: Date.now() });
    return new FailedAttempt({ ...failure, ...this.#partial({}) });
  }

  #partial(details: { readonly cause?: unknown }): Partial<Failure> {
    const { status, requestId } = this.#head;
    return {
      partialText: this.#text,
      status,
      ...(requestId !== undefined && { requestId }),
      ...(details.cause !== undefined && { cause: details.cause }),
    };
  }
}

/** The shapes in which services report an error in the middle of a stream. */
function isError(chunk: unknown): boolean {
  if (!isRecord(chunk)) return typeof chunk === "string";
  const { error, object, code, message, choices } = chunk;
  if (error !== undefined && error !== null) return true;
  if (object === "error") return true;
  return choices === undefined && typeof message === "string" && code !== undefined && code !== null;
}
