import type { z } from "zod";
import { type ChatRequest, maxMessages, type Message } from "../../contract/chat.js";
import type { ChatWishes } from "../http/chat-route.js";

type Request = z.output<typeof ChatRequest>;
type ContractMessage = z.output<typeof Message>;

/**
 * A chat for a service that keeps to the contract: at most ten messages, and in words what the contract has no field for. A model
 * may not follow words as an engine follows fields.
 */
export function forwardedChat(request: Request, { toolChoice, schema }: ChatWishes): Request {
  const named = typeof toolChoice === "object" ? toolChoice.name : undefined;
  const { tools: offered, ...rest } = request;
  const tools = toolChoice === "none" ? [] : offered?.filter(({ function: { name } }) => !named || name === named);
  const wishes = [
    ...(toolChoice === "required" ? ["Call one of the functions."] : []),
    ...(named === undefined ? [] : [`Call the function ${named}.`]),
    ...(schema
      ? [`Reply with one JSON object and nothing else. It fits this JSON Schema: ${JSON.stringify(schema)}`]
      : []),
  ];
  return {
    ...rest,
    ...(tools && tools.length > 0 && { tools }),
    messages: [...fewMessages(withInstructions(request.messages, wishes))],
  };
}

function withInstructions(messages: readonly ContractMessage[], wishes: readonly string[]): readonly ContractMessage[] {
  if (wishes.length === 0) return messages;
  const text = wishes.join("\n");
  const inParts = typeof messages[0]?.content === "object";
  return [{ role: "system", content: inParts ? [{ type: "text", text }] : text }, ...messages];
}

/** System messages become one, and the oldest of the others a history, so that the contract's number holds. */
function fewMessages(messages: readonly ContractMessage[]): readonly ContractMessage[] {
  if (messages.length <= maxMessages) return messages;
  const system = messages.filter(({ role }) => role === "system");
  const others = messages.filter(({ role }) => role !== "system");
  const kept = others.slice(2 - maxMessages);
  const older = others.slice(0, others.length - kept.length);
  const told = older.map((message) => `${message.role}: ${textOf(message)}`).join("\n");
  const inParts = typeof messages[0]?.content === "object";
  const written = (role: ContractMessage["role"], text: string): ContractMessage[] =>
    text === "" ? [] : [{ role, content: inParts ? [{ type: "text", text }] : text }];
  return [
    ...written("system", system.map(textOf).join("\n\n")),
    ...written("user", told === "" ? "" : `<conversation_history>\n${told}\n</conversation_history>`),
    ...kept,
  ];
}

function textOf({ content }: ContractMessage): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? (part.text ?? "") : `(image ${part.image_url.url.slice(0, 100)})`))
    .join("\n");
}
