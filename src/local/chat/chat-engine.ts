import { abstentionFor } from "../../text/prompt.js";
import type { ChatDraft, ChatEngine, ChatPrompt } from "../engines.js";
import { answerText, quotable } from "./answer-text.js";
import { earlierQuestions, isRewriteRequest, standaloneQuestion } from "./follow-up.js";
import { isChinese, readMessages, type Reading } from "./reading.js";
import { chooseStatements } from "./statement-choice.js";
import { statements, type Statement } from "./statements.js";
import { answerSchema, structuredValue } from "./structured-value.js";
import { chooseTool } from "./tool-choice.js";
import { newestResults, sourcesIn, tellResults } from "./tool-results.js";

/** What is said, before it gets its form. */
interface Reply {
  readonly text: string;
  readonly thought: string;
  /** Key of the text in a JSON reply. */
  readonly key: "answer" | "question";
  readonly answered: boolean;
  readonly quoted: readonly Statement[];
  /** The answer as a value of the schema that the instructions name, when they name one. */
  readonly value?: unknown;
}

/**
 * Answers by quoting: it picks the sentences of the given sources that share the question's telling words, and makes up
 * nothing. The same messages always get the same answer.
 */
export function chatEngine(): ChatEngine {
  return {
    draft: async (prompt) => {
      const reading = readMessages(prompt.messages);
      const results = newestResults(prompt.messages);
      if (results.length === 0 && prompt.tools.length > 0 && !isRewriteRequest(reading.instructions)) {
        const call = chooseTool(reading.question, prompt.tools);
        if (call !== undefined) {
          const reasoning = prompt.thinks ? `The question asks for what ${call.name} tells, so I call it.` : "";
          return { reasoning, content: "", toolCalls: [call] };
        }
      }
      const brought = sourcesIn(results);
      if (brought.length > 0) {
        return inForm(replyTo(prompt, { ...reading, sources: [...reading.sources, ...brought] }), prompt);
      }
      const told = results.length > 0 ? tellResults(results, reading.question) : undefined;
      return inForm(told === undefined ? replyTo(prompt, reading) : toolReply(told), prompt);
    },
  };
}

function toolReply(text: string): Reply {
  return {
    text,
    thought: "The tools have answered; I pass on what they say.",
    key: "answer",
    answered: true,
    quoted: [],
  };
}

function replyTo({ messages, json }: ChatPrompt, reading: Reading): Reply {
  const asking = messages.findLast(({ role }) => role === "user")?.text ?? "";
  const { question, sources, style, earlier } = reading;
  if (isRewriteRequest(`${reading.instructions}\n${sources.length > 0 ? "" : asking}`)) {
    const text = standaloneQuestion(question, earlierQuestions(earlier, asking.replace(question, "")));
    const thought = "I name what the question points at, in the words of the turns before.";
    return { text, thought, key: "question", answered: true, quoted: [] };
  }
  if (sources.length === 0) return { ...without(question), key: "answer", answered: false, quoted: [] };
  const all = sources.flatMap(statements);
  const chosen = chooseStatements(question, all);
  if (chosen.length === 0) {
    const thought = `None of the ${sources.length} sources holds the question's telling words together.`;
    return { text: abstentionFor(question), thought, key: "answer", answered: false, quoted: [] };
  }
  const schema = json ? answerSchema(reading.instructions) : undefined;
  const value =
    schema &&
    structuredValue(
      schema,
      question,
      chosen.map(({ text }) => text),
    );
  if (schema !== undefined && value === undefined) {
    const thought = "The sources are near the question, but do not hold all that the schema of the answer requires.";
    return { text: abstentionFor(question), thought, key: "answer", answered: false, quoted: [] };
  }
  const numbers = [...new Set(chosen.map(({ source }) => source))].join(", ");
  return {
    // In JSON the citations stand beside the answer.
    text: answerText(chosen, json ? "none" : style),
    thought: `I looked for the question's words in ${sources.length} sources with ${all.length} statements. They stand closest together in source ${numbers}, which I quote.`,
    key: "answer",
    answered: true,
    quoted: chosen,
    ...(schema !== undefined && { value }),
  };
}

function without(question: string): { readonly text: string; readonly thought: string } {
  const text = isChinese(question)
    ? "我是本地的摘录引擎，只能引用消息里给出的资料来回答；这些消息里没有资料。"
    : "I am the local extractive engine: I answer by quoting sources given in the messages, and these messages hold none.";
  return { text, thought: "The messages hold no sources, so there is nothing to quote." };
}

function inForm(
  { text, thought, key, answered, quoted, value = text }: Reply,
  { json, thinks }: ChatPrompt,
): ChatDraft {
  const citations = quoted.map((statement) => ({ source: statement.source, quote: quotable(statement.text) }));
  const object = key === "question" ? { question: text } : { answer: value, answered, citations };
  return { reasoning: thinks ? thought : "", content: json ? JSON.stringify(object) : text, toolCalls: [] };
}
