import { parseSources } from "../../text/prompt.js";
import { parseToolResponses } from "../../text/tool-messages.js";
import type { EngineMessage } from "../engines.js";
import { isChinese, type ReadSource } from "./reading.js";

export type ToolResult = ReturnType<typeof parseToolResponses>[number];

/** Results that the last message brings; empty when it is no message of results. */
export function newestResults(messages: readonly EngineMessage[]): readonly ToolResult[] {
  const last = messages.at(-1);
  return last?.role === "user" && last.text.trimStart().startsWith("<tool_response>")
    ? parseToolResponses(last.text.trim())
    : [];
}

/** Numbered sources that a tool brought, to be answered from like those of the question. */
export function sourcesIn(results: readonly ToolResult[]): readonly ReadSource[] {
  const contents = results.flatMap(({ result }) => ("content" in result ? [result.content] : []));
  return contents.flatMap(parseSources).map(({ number, title = "", text }) => ({ number, title, text }));
}

/** What tools answered, in a sentence each. */
export function tellResults(results: readonly ToolResult[], question: string): string {
  const chinese = isChinese(question);
  return results
    .map(({ name, result }) => {
      if ("error" in result) {
        return chinese ? `${name} 失败：${result.error}` : `${name} failed: ${result.error}`;
      }
      const told = tellValue(parsed(result.content));
      return chinese ? `${name} 返回：${told}` : `${name} says: ${told}`;
    })
    .join("\n");
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}

/** `{"temperature":21,"unit":"C"}` as `temperature: 21, unit: C`; anything nested stays JSON. */
function tellValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([key, part]) => `${key}: ${typeof part === "string" ? part : JSON.stringify(part)}`)
    .join(", ");
}
