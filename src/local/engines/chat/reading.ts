import { parseQuestion, parseSources, type PromptSource } from "../../../text/prompt/prompt.js";
import type { EngineMessage } from "../engines.js";
import { summaryOfText } from "./summary.js";

/** A passage that the messages hold. */
export type ReadSource = Pick<PromptSource, "number" | "title" | "text"> & Partial<Pick<PromptSource, "uri">>;

/** Citation style that the messages ask for: words with the number, the number alone, or none. */
export type CitationStyle = "quote" | "number" | "none";

/** The content of the messages. */
export interface Reading {
  /** The question, without the sources around it. */
  readonly question: string;
  readonly sources: readonly ReadSource[];
  readonly style: CitationStyle;
  /** Text of the messages before the one that asks, system messages apart, oldest first. */
  readonly earlier: readonly EngineMessage[];
  readonly instructions: string;
}

const toolResponse = /^\s*<tool_response>/;

/** Finds question and sources in messages of our own form and of others' forms. */
export function readMessages(messages: readonly EngineMessage[]): Reading {
  const asking = messages.findLastIndex(({ role, text }) => role === "user" && !toolResponse.test(text));
  const last = withoutManner(messages[asking]?.text ?? messages.at(-1)?.text ?? "");
  const instructions = messages
    .filter(({ role }) => role === "system")
    .map(({ text }) => text)
    .join("\n");
  const earlier = messages.slice(0, Math.max(0, asking)).filter(({ role }) => role !== "system");
  const own = summaryOfText(last);
  if (own !== undefined) {
    return { question: own.request, sources: [{ number: 1, text: own.text }], style: "none", earlier, instructions };
  }
  const found = sourcesIn([last, instructions, ...earlier.map(({ text }) => text).toReversed()]);
  return {
    question: withoutManner(parseQuestion(last)?.trim() ?? questionIn(last)),
    sources: found.sources,
    style: /\[\d{1,3}: ?"/.test(instructions) ? "quote" : found.numbered ? "number" : "none",
    earlier,
    instructions,
  };
}

/** A last sentence that says how to answer: "Answer briefly.", "请用 JSON 回答。" */
const manner =
  /(?<=[.?!？。！\n])\s*(?:(?:please )?(?:answer|reply|respond|be|keep it)\b[^.?!\n]{0,80}\b(?:brief|briefly|short|shortly|concise|concisely|json|markdown|words?|sentences?|lines?|detail|english|chinese)\b[^.?!\n]{0,40}[.!]?|请?(?:简要|简短|简洁|用[^。？\n]{1,12})地?(?:回答|作答)[^。？\n]{0,20}[。！]?)\s*$/iu;

/** A text without what it says about the manner of the answer, whose words no source holds. */
function withoutManner(text: string): string {
  const shorter = text.replace(manner, "");
  return shorter === text || shorter.trim() === "" ? text : withoutManner(shorter);
}

/** The sources of the first text that holds any: the newest sources are those that the question is about. */
function sourcesIn(texts: readonly string[]): { readonly sources: readonly ReadSource[]; readonly numbered: boolean } {
  for (const text of texts) {
    const tagged = parseSources(text);
    const sources = tagged.length > 0 ? tagged : numberedBlocks(text);
    if (sources.length > 0) return { sources, numbered: true };
    const plain = plainContext(text);
    if (plain !== undefined) return { sources: [{ number: 1, text: plain }], numbered: false };
  }
  return { sources: [], numbered: false };
}

/** Blocks that begin with `[1] …` at the start of a line; one ends where the next begins, or where a question is put. */
function numberedBlocks(text: string): readonly ReadSource[] {
  const body = text.replace(questionLine, "");
  const starts = [...body.matchAll(/^[ \t]*[[【](\d{1,3})[\]】][ \t:：]*/gm)];
  return starts.map((match, index) => ({
    number: Number(match[1]),
    text: body.slice(match.index + match[0].length, starts[index + 1]?.index ?? body.length).trim(),
  }));
}

const contextLabel =
  /^[ \t#*]*(?:context|sources?|passages?|documents?|references?|资料|上下文|参考(?:资料|内容)?|文档|已知信息)[ \t*]*[:：]/im;
const questionLine =
  /^[ \t#*]*(?:user )?(?:question|query|follow[- ]up(?: question)?|问题|提问)[ \t*]*[:：][ \t*]*([\s\S]*?)(?:\n[ \t]*(?:answer|回答|答案)[ \t*]*[:：]\s*)?$/im;

/** Text behind a word like `Context:`, or paragraphs before a last line that asks. */
function plainContext(text: string): string | undefined {
  const label = contextLabel.exec(text);
  const body = (label ? text.slice(label.index + label[0].length) : text).replace(questionLine, "").trim();
  if (label) return body === "" ? undefined : body;
  const paragraphs = body.split(/\n\s*\n/);
  const asked = questionLine.test(text);
  const context = (asked ? paragraphs : paragraphs.slice(0, -1)).join("\n\n").trim();
  return context.length >= minContextLength && /[.。!！]/.test(context) ? context : undefined;
}

const minContextLength = 80;

function questionIn(text: string): string {
  const labelled = questionLine.exec(text)?.[1]?.trim();
  if (labelled !== undefined && labelled !== "") return labelled;
  return (text.split(/\n\s*\n/).at(-1) ?? text).trim();
}
