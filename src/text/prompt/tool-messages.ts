import { createHash } from "node:crypto";
import { z } from "zod";
import { OptionsError } from "../../core/errors.js";
import { isRecord, parsedJson } from "../../core/json.js";
import type { ChatMessage } from "../../core/ports.js";
import type { ToolExchange } from "../../core/types.js";
import { escapeToolTags, tagFreeJson } from "./prompt-tags.js";

/** A call that a model wrote into its text. */
export interface WrittenToolCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/**
 * A call as text in an assistant message, for services whose messages have no field for it: a JSON object in
 * `<tool_call>`, the form that open models were trained on.
 */
export function renderToolCall({ name, arguments: written }: WrittenToolCall): string {
  return `<tool_call>\n${tagFreeJson({ name, arguments: parsedOrText(written) })}\n</tool_call>`;
}

/** A result as text in a user message, in the form that the chat templates of open models give to tool results. */
export function renderToolResponse({ id, name, result }: ToolExchange): string {
  return `<tool_response>\n${tagFreeJson({ tool_call_id: id, name, ...result })}\n</tool_response>`;
}

const CallBody = z.object({ name: z.string().min(1), arguments: z.unknown() });

/** Parses the JSON between `<tool_call>` and `</tool_call>`; `undefined` if it is not a call. */
export function parseToolCall(body: string): WrittenToolCall | undefined {
  const call = CallBody.safeParse(parsedOrText(body.trim()));
  if (!call.success) return undefined;
  const { name, arguments: given } = call.data;
  return { name, arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}) };
}

const ResponseBody = z.union([
  z.object({ tool_call_id: z.string(), name: z.string(), content: z.string() }),
  z.object({ tool_call_id: z.string(), name: z.string(), error: z.string() }),
]);

/** Parses a message of `renderToolResponse`s into its results, in order; skips blocks of another form. */
export function parseToolResponses(message: string): readonly Omit<ToolExchange, "arguments">[] {
  const found: Omit<ToolExchange, "arguments">[] = [];
  for (const [, body = ""] of message.matchAll(/<tool_response>\n(.*)\n<\/tool_response>/gu)) {
    const response = ResponseBody.safeParse(parsedOrText(body));
    if (!response.success) continue;
    const { tool_call_id: id, name, ...result } = response.data;
    found.push({ id, name, result });
  }
  return found;
}

function parsedOrText(json: string): unknown {
  const value = parsedJson(json);
  return value === undefined ? json : value;
}

/** One round of a tool loop: what the model said and thought before its calls, and the calls with their results. */
export interface ToolRound {
  readonly text: string;
  /** The reasoning, for models that want it back. */
  readonly reasoning?: string;
  readonly tools: readonly ToolExchange[];
}

/**
 * A round for services that know the role `tool`: the assistant's message with all calls, then one message a result, in
 * the order of the calls. Templates put results between tags of their own, which no result may close.
 */
export function roleToolMessages({ text, reasoning, tools }: ToolRound): ChatMessage[] {
  return [
    {
      role: "assistant",
      content: escapeToolTags(text),
      toolCalls: tools.map(({ id, name, arguments: written, extraContent }) => ({
        id,
        name,
        arguments: objectOrEmpty(written),
        ...(extraContent && { extraContent }),
      })),
      ...(reasoning !== undefined && { reasoning }),
    },
    ...tools.map(({ id, result }): ChatMessage => ({
      role: "tool",
      toolCallId: id,
      content: escapeToolTags("error" in result ? `Error: ${result.error}` : result.content),
    })),
  ];
}

/** Templates parse the arguments of a call; if they are no JSON object, the result of the call says so. */
function objectOrEmpty(json: string): string {
  return isRecord(parsedJson(json)) ? json : "{}";
}

const maxNameLength = 64;
const validName = /^[A-Za-z0-9_-]{1,64}$/u;

/**
 * Tool names that services accept (letters, digits, `_`, `-`, at most 64), each mapped to the original. A valid name
 * stays; in others each invalid character becomes `_`, and a hash is added to names that would become equal.
 *
 * @throws OptionsError when two names are equal.
 */
export function toolNames(names: readonly string[]): ReadonlyMap<string, string> {
  const twin = names.find((name, index) => names.indexOf(name) !== index);
  if (twin !== undefined) {
    throw new OptionsError("options", `tools: two tools are named ${JSON.stringify(twin)}. Rename one of them`);
  }
  const plain = names.map((name) => name.replace(/[^A-Za-z0-9_-]/gu, "_").slice(0, maxNameLength));
  return new Map(
    names.map((name, index) => {
      const changed = plain[index] ?? "";
      const clashes = plain.some((other, position) => position !== index && other === changed);
      return [validName.test(name) || !clashes ? changed : withHash(changed, name), name];
    }),
  );
}

function withHash(plain: string, name: string): string {
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 12);
  return `${plain.slice(0, maxNameLength - hash.length - 1)}_${hash}`;
}
