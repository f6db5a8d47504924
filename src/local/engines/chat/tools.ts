import { isRecord, parsedJson } from "../../../core/json.js";
import { parseSources } from "../../../text/prompt/prompt.js";
import { parseToolResponses } from "../../../text/prompt/tool-messages.js";
import { terms } from "../../../text/words/terms.js";
import type { ChatDraft, EngineMessage, EngineTool, ToolChoice } from "../engines.js";
import { rarity } from "../rarity.js";
import { isChinese } from "../../../text/words/chinese.js";
import type { Reading, ReadSource } from "./reading.js";
import { structuredAnswer } from "./structured-answer.js";
import { fillArguments } from "./values/schema-value.js";

/** Verbs that begin the names of tools on any subject. */
const verbs = new Set(
  terms(
    "get set fetch find list lookup look up search query create make run call do read load show tool function api data info current",
  ),
);

/** Verbs of tools that change something. */
const writingVerbs =
  "send|delete|remove|create|add|insert|update|edit|modify|set|write|publish|upload|save|buy|pay|cancel|close|move|rename|" +
  "reset|submit|execute|deploy|restart|approve|reject|assign|invite|refund|drop";
/** Verbs that are nouns in the names of tools that read: `order_status`, `post_count`. */
const ambiguousVerbs = "order|book|post|store|change|transfer|schedule";
/** One of them where a description says what the tool does: at its beginning, or where a further deed begins. */
const saysItWrites = new RegExp(
  `(?:^|[.;:,]\\s*|\\b(?:and|or|to|can|will|then)\\s+)(?:${writingVerbs}|${ambiguousVerbs})(?:e?s)?\\b|发送|删除|移除|创建|新建|添加|更新|修改|写入|发布|提交|取消|预订|支付|转账|执行`,
  "i",
);
const namesAWrite = new RegExp(`^(?:${writingVerbs})(?:[_-]|$)`, "i");

/** A tool that changes something is not called because a question shares words with it. */
function writes({ name, description }: EngineTool): boolean {
  return saysItWrites.test(description.trim()) || namesAWrite.test(name.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, "_"));
}

/** Share of a tool's own words that the question must hold. */
const clearShare = 0.5;

/**
 * The tool that the question clearly asks for: it names the tool, or the subject in the tool's name, or two telling words
 * of its description. `undefined` when none does, when it changes something without being named to be called, or when its
 * arguments are not in the question. A caller who requires a call gets the nearest one, with arguments from the sources if there are any.
 */
export function chooseTool(
  { question, sources }: Pick<Reading, "question" | "sources">,
  tools: readonly EngineTool[],
  choice?: ToolChoice,
): ChatDraft["toolCalls"][number] | undefined {
  const asked = new Set(terms(question));
  const forced = choice !== undefined && choice !== "none";
  const offered = typeof choice === "object" ? tools.filter(({ name }) => name === choice.name) : tools;
  const named = namedTool(question, offered);
  const ranked = (choice === "none" ? [] : offered)
    .map((tool) => ({ tool, score: question.includes(tool.name) ? 2 : clarity(tool, asked) }))
    .filter(({ tool, score }) => forced || tool === named || (score >= clearShare && !writes(tool)))
    .toSorted((a, b) => b.score - a.score);
  const [nearest] = ranked;
  if (forced && nearest !== undefined && sources.length > 0) return requiredCall(nearest.tool, question, sources);
  for (const { tool } of ranked) {
    const filled = fillArguments(tool.parameters, question);
    if (filled !== undefined) return { name: tool.name, arguments: filled };
  }
  return forced && nearest !== undefined ? requiredCall(nearest.tool, question, sources) : undefined;
}

/** The tool that a question tells to call by its name, in so many words: "call send_mail", "请调用 send_mail". */
export function namedTool(question: string, tools: readonly EngineTool[]): EngineTool | undefined {
  const told =
    /(?:\b(?:call|use|run|invoke|execute)|调用|使用|运行|执行)\s*(?:the\s+)?(?:(?:tool|function|工具|函数)\s*)?[`"'“「]?([\w-]+)/giu;
  const names = [...question.matchAll(told)].map(([, name]) => name);
  return tools.find(({ name }) => names.includes(name));
}

/** Required arguments of a tool that a question does not hold. */
export function missingArguments({ parameters }: EngineTool, question: string): readonly string[] {
  const { required = [] } = parameters as { readonly required?: readonly string[] };
  return required.filter((name) => fillArguments({ ...parameters, required: [name] }, question) === undefined);
}

function requiredCall({ name, parameters }: EngineTool, question: string, sources: readonly ReadSource[]) {
  const value = structuredAnswer({ type: "object", ...parameters }, question, sources);
  return { name, arguments: isRecord(value) ? value : {} };
}

function clarity({ name, description }: EngineTool, asked: ReadonlySet<string>): number {
  const subject = terms(name.replace(/[_-]/g, " ")).filter((term) => !verbs.has(term));
  const byName = subject.length === 0 ? 0 : subject.filter((term) => asked.has(term)).length / subject.length;
  const telling = [...new Set(terms(description))].filter((term) => rarity(term) >= 0.7 && !verbs.has(term));
  const named = telling.filter((term) => asked.has(term)).length;
  const byDescription = named >= 2 ? Math.min(1, named / 3) : 0;
  return Math.max(byName, byDescription);
}

type ToolResult = ReturnType<typeof parseToolResponses>[number];

/** Results that the last message brings; empty when it is no message of results. */
export function newestResults(messages: readonly EngineMessage[]): readonly ToolResult[] {
  const last = messages.at(-1);
  return last?.role === "user" && last.text.trimStart().startsWith("<tool_response>")
    ? parseToolResponses(last.text.trim())
    : [];
}

/** Numbered sources that a tool brought, to be answered from like those of the question. */
export function sourcesIn(results: readonly ToolResult[]): readonly ReadSource[] {
  return results.flatMap(({ result }) => ("content" in result ? parseSources(result.content) : []));
}

/** Repeats the results of tools, one sentence for each. */
export function repeatResults(results: readonly ToolResult[], question: string): string {
  const chinese = isChinese(question);
  return results
    .map(({ name, result }) => {
      if ("error" in result) {
        return chinese ? `${name} 失败：${result.error}` : `${name} failed: ${result.error}`;
      }
      const told = describeValue(parsedJson(result.content) ?? result.content);
      return chinese ? `${name} 返回：${told}` : `${name} says: ${told}`;
    })
    .join("\n");
}

/** `{"temperature":21,"unit":"C"}` as `temperature: 21, unit: C`; anything nested stays JSON. */
function describeValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (!isRecord(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([key, part]) => `${key}: ${typeof part === "string" ? part : JSON.stringify(part)}`)
    .join(", ");
}
