import { OptionsError } from "../../core/errors.js";
import { parsedJson } from "../../core/json.js";
import type { ChatMessage } from "../../core/ports.js";
import type { Prompt, PromptMessage } from "./specification.js";

type Part = Exclude<PromptMessage["content"], string>[number];
type ResultPart = Extract<Part, { readonly type: "tool-result" }>;

/** @throws OptionsError for a file, since chat models behind the port read text. */
export function messagesOf(prompt: Prompt): ChatMessage[] {
  return prompt.flatMap((message): ChatMessage[] => {
    const { role, content } = message;
    if (role === "system") return [{ role, content }];
    const parts: readonly Part[] = content;
    if (role === "tool") return parts.flatMap((part) => (part.type === "tool-result" ? [toolMessage(part)] : []));
    const texts = (type: "text" | "reasoning") =>
      parts
        .flatMap((part) => (part.type === type ? [part.text] : []))
        .join(type === "text" && role === "user" ? "\n" : "");
    const file = parts.find((part) => part.type === "file");
    if (file) {
      throw new OptionsError("options", `The prompt has a file of type ${file.mediaType}: this model reads text alone`);
    }
    const toolCalls = parts.flatMap((part) =>
      part.type === "tool-call" && !part.providerExecuted
        ? [{ id: part.toolCallId, name: part.toolName, arguments: JSON.stringify(part.input) }]
        : [],
    );
    const reasoning = texts("reasoning");
    const calling = { ...(toolCalls.length > 0 && { toolCalls }), ...(reasoning !== "" && { reasoning }) };
    return [{ role, content: texts("text"), ...calling }];
  });
}

function toolMessage({ toolCallId, output }: ResultPart): ChatMessage {
  return { role: "tool", toolCallId, content: outputText(output) };
}

function outputText(output: ResultPart["output"]): string {
  switch (output.type) {
    case "text":
      return output.value;
    case "json":
      return JSON.stringify(output.value);
    case "error-text":
      return `Error: ${output.value}`;
    case "error-json":
      return `Error: ${JSON.stringify(output.value)}`;
    case "execution-denied":
      return `Error: the user refused this call${output.reason === undefined ? "" : `: ${output.reason}`}`;
    case "content":
    // Version 4 of the specification has none but these, and version 2 fewer.
    default:
      return output.value.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join("\n");
  }
}

/** The same, in the other direction. A result names its tool here, which ours leave to the call. */
export function promptOf(messages: readonly ChatMessage[]): Prompt {
  const names = new Map(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id, name }) => [id, name])));
  return messages.map(({ role, content, reasoning = "", toolCalls = [], toolCallId = "" }): PromptMessage => {
    const text = content === "" ? [] : [{ type: "text" as const, text: content }];
    if (role === "system") return { role, content };
    if (role === "user") return { role, content: text };
    if (role === "tool") {
      const output = { type: "text" as const, value: content };
      return { role, content: [{ type: "tool-result", toolCallId, toolName: names.get(toolCallId) ?? "", output }] };
    }
    const calls = toolCalls.map(({ id, name, arguments: written }) => ({
      type: "tool-call" as const,
      toolCallId: id,
      toolName: name,
      input: parsedJson(written) ?? {},
    }));
    const thinking = reasoning === "" ? [] : [{ type: "reasoning" as const, text: reasoning }];
    return { role, content: [...thinking, ...text, ...calls] };
  });
}
