import { z } from "zod";
import type { ToolExchange } from "../types.js";
import { tagFreeJson } from "./prompt-tags.js";

/** A call that a model wrote into its text. */
export interface WrittenToolCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/**
 * A call as text in an assistant message, for services whose messages have no field for it. The form is the one that
 * open models were trained on: a JSON object in `<tool_call>`.
 */
export function renderToolCall({ name, arguments: written }: WrittenToolCall): string {
  return `<tool_call>\n${tagFreeJson({ name, arguments: parsedOrText(written) })}\n</tool_call>`;
}

/** A result as text in a user message; the chat templates of open models render their own tool results just so. */
export function renderToolResponse({ id, name, result }: ToolExchange): string {
  return `<tool_response>\n${tagFreeJson({ tool_call_id: id, name, ...result })}\n</tool_response>`;
}

const CallBody = z.object({ name: z.string().min(1), arguments: z.unknown() });

/** The call in the JSON between `<tool_call>` and `</tool_call>`; `undefined` when it is something else. */
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

/** The results in a message of `renderToolResponse`s, in order; blocks of another form are passed over. */
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
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
