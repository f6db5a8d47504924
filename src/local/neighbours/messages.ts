import type { z } from "zod";
import type { ModelInfo } from "../../contract/catalogue.js";
import type { Message } from "../../contract/chat.js";
import type { OpenAiMessage } from "../../dialects/openai-chat.js";
import type { Violation } from "../../contract/operation.js";
import { renderToolCall, renderToolResponse } from "../../text/prompt/tool-messages.js";
import { invalidFields } from "../failure/request-failure.js";

type ContractMessage = z.output<typeof Message>;
type Content = OpenAiMessage["content"];

/**
 * Messages of all roles in the three of the contract. Calls of tools and their results, for which it has no field, become
 * text in the form that the transport gives them too; results that follow each other are one message.
 */
export function contractMessages(messages: readonly OpenAiMessage[], model: ModelInfo): readonly ContractMessage[] {
  const written: ContractMessage[] = [];
  const toolNames = new Map<string, string>();
  const problems: Violation[] = [];
  let responses: string[] = [];
  const add = (role: ContractMessage["role"], content: ContractMessage["content"]) =>
    void written.push({ role, content });
  const addText = (role: ContractMessage["role"], text: string) =>
    add(role, model.type === "vlm" ? [{ type: "text", text }] : text);
  const flushResponses = () => {
    if (responses.length > 0) addText("user", responses.join("\n"));
    responses = [];
  };
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool" || message.role === "function") {
      const id = message.role === "tool" ? message.tool_call_id : message.name;
      const name = message.role === "tool" ? (toolNames.get(id) ?? id) : message.name;
      responses.push(renderToolResponse({ id, name, arguments: "{}", result: { content: textOf(message.content) } }));
      continue;
    }
    flushResponses();
    if (message.role === "assistant") {
      for (const { id, function: call } of message.tool_calls ?? []) toolNames.set(id, call.name);
      addText("assistant", assistantText(message));
      continue;
    }
    const role = message.role === "user" ? "user" : "system";
    if (typeof message.content !== "object" || message.content === null) addText(role, message.content ?? "");
    else if (model.type === "vlm") add(role, visionParts(message.content));
    else {
      if (message.content.some(({ type }) => type === "image_url")) {
        const text = `${model.id} reads text only. Send images to a vision model`;
        problems.push({ field: `messages.${index}.content`, message: text });
      }
      add(role, textOf(message.content));
    }
  }
  flushResponses();
  if (problems.length > 0) throw invalidFields(problems);
  return written;
}

function assistantText({ content, tool_calls, function_call }: Extract<OpenAiMessage, { role: "assistant" }>): string {
  const calls = [...(tool_calls ?? []).map((call) => call.function), ...(function_call ? [function_call] : [])];
  return [textOf(content), ...calls.map(renderToolCall)].filter((text) => text !== "").join("\n");
}

function textOf(content: Content): string {
  if (typeof content === "string") return content;
  const texts = (content ?? []).map((part) =>
    part.type === "text" ? part.text : part.type === "refusal" ? part.refusal : "",
  );
  return texts.filter((text) => text !== "").join("\n");
}

function visionParts(parts: Exclude<NonNullable<Content>, string>): ContractMessage["content"] {
  const written = parts.map((part) => {
    if (part.type === "image_url") {
      const { url, detail } = part.image_url;
      return { type: "image_url" as const, image_url: { url, ...(detail && { detail }) } };
    }
    return { type: "text" as const, text: part.type === "text" ? part.text : part.refusal };
  });
  return written.length > 0 ? written : [{ type: "text", text: "" }];
}
