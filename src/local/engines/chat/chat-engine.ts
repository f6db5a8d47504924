import { abstentionFor } from "../../../text/prompt/prompt.js";
import type { ChatDraft, ChatEngine, ChatPrompt, EngineTool } from "../engines.js";
import { answerText, briefText, quotable, tellingTexts } from "./answer-text.js";
import { earlierQuestions, isRewriteRequest, standaloneQuestion } from "./follow-up.js";
import { isChinese } from "../../../text/words/chinese.js";
import { readMessages, type Reading } from "./reading.js";
import { conversationalReply } from "./conversation.js";
import { chooseCalls } from "./parallel-calls.js";
import { structuredAnswer } from "./structured-answer.js";
import { summarySubject } from "./summary.js";
import { choosePassages, leadPassages } from "./passages/choose-passages.js";
import type { Quotation } from "./passages/quotation.js";
import { textOf } from "./passages/units.js";
import { answerSchema } from "./values/json-schema.js";
import { structuredValue } from "./values/schema-value.js";
import { missingArguments, namedTool, newestResults, repeatResults, sourcesIn } from "./tools.js";

/** A reply before it is written as text or JSON. */
interface Reply {
  readonly text: string;
  readonly thought: string;
  /** Kind of reply. Default: an answer. */
  readonly is?: "answer" | "refusal" | "question";
  readonly quoted?: readonly Quotation[];
  /** The answer as a value of the schema that the instructions name, when they name one. */
  readonly value?: unknown;
}

/**
 * Answers by quoting: it picks the passages of the given sources that share the question's telling words, and makes up
 * nothing. The same messages always get the same answer.
 */
export function chatEngine(): ChatEngine {
  return {
    draft: async (prompt) => {
      const reading = readMessages(prompt.messages);
      const results = newestResults(prompt.messages);
      const { toolChoice = "auto", schema } = prompt;
      const mayCall = results.length === 0 && !isRewriteRequest(reading.instructions);
      if (mayCall || (toolChoice !== "auto" && toolChoice !== "none")) {
        const parallel = prompt.parallelToolCalls;
        const toolCalls = chooseCalls(reading, prompt.tools, { choice: prompt.toolChoice, parallel });
        if (toolCalls.length > 0) {
          const names = [...new Set(toolCalls.map(({ name }) => name))].join(" and ");
          const reasoning = prompt.thinks ? `The question asks for what ${names} can tell, so I call.` : "";
          return { reasoning, content: "", toolCalls };
        }
        const named = toolChoice === "auto" ? namedTool(reading.question, prompt.tools) : undefined;
        if (named !== undefined) return inForm(lacksArguments(named, reading.question), prompt);
      }
      const brought = sourcesIn(results);
      if (schema !== undefined) {
        const told = results.length > 0 ? [repeatResults(results, reading.question)] : [];
        const value = structuredAnswer(schema, reading.question, [...reading.sources, ...brought], told);
        return { reasoning: "", content: JSON.stringify(value), toolCalls: [] };
      }
      if (brought.length > 0) {
        return inForm(replyTo(prompt, { ...reading, sources: [...reading.sources, ...brought] }), prompt);
      }
      if (results.length === 0) return inForm(replyTo(prompt, reading), prompt);
      const thought = "The tools have answered; I pass on what they say.";
      return inForm({ text: repeatResults(results, reading.question), thought }, prompt);
    },
  };
}

function replyTo({ messages, json }: ChatPrompt, reading: Reading): Reply {
  const asking = messages.findLast(({ role }) => role === "user")?.text ?? "";
  const { question, sources, style, earlier } = reading;
  if (isRewriteRequest(`${reading.instructions}\n${sources.length > 0 ? "" : asking}`)) {
    const text = standaloneQuestion(question, earlierQuestions(earlier, asking.replace(question, "")));
    const thought = "I name what the question points at, in the words of the turns before.";
    return { text, thought, is: "question" };
  }
  const polite = conversationalReply(question);
  if (polite !== undefined) return { text: polite, thought: "Nothing is asked of the sources.", is: "refusal" };
  if (sources.length === 0) return withoutSources(question);
  const subject = summarySubject(question);
  const chosen = subject === undefined ? choosePassages(question, sources) : leadPassages(subject, sources);
  if (chosen.length === 0) {
    const thought = `None of the ${sources.length} sources holds the question's telling words together.`;
    return { text: abstentionFor(question), thought, is: "refusal" };
  }
  const schema = json ? answerSchema(reading.instructions) : undefined;
  const best = textOf(chosen[0]!.telling);
  const value =
    schema &&
    (structuredValue(schema, question, [best]) ?? structuredValue(schema, question, chosen.flatMap(tellingTexts)));
  if (schema !== undefined && value === undefined) {
    const thought = "The sources are near the question, but do not hold all that the schema of the answer requires.";
    return { text: abstentionFor(question), thought, is: "refusal" };
  }
  const numbers = [...new Set(chosen.map(({ telling }) => telling.source.number))].join(", ");
  return {
    // JSON has the citations beside the answer.
    text: json ? briefText(chosen[0]!) : answerText(chosen, question, style),
    thought: `I looked for the question's words in ${sources.length} sources. They stand closest together in source ${numbers}, which I quote.`,
    quoted: chosen,
    ...(schema !== undefined && { value }),
  };
}

/** The reply to a question that names a tool to be called, and not what the tool needs. */
function lacksArguments(tool: EngineTool, question: string): Reply {
  const missing = missingArguments(tool, question);
  const names = missing.join(isChinese(question) ? "、" : ", ");
  const text = isChinese(question)
    ? `要调用 ${tool.name}，还缺少：${names || "有效的参数"}。`
    : `To call ${tool.name}, I need: ${names || "valid arguments"}.`;
  return { text, thought: `The question names ${tool.name}, and not what it needs.`, is: "refusal" };
}

function withoutSources(question: string): Reply {
  const text = isChinese(question)
    ? "我是本地的摘录引擎，只能引用消息里给出的资料来回答；这些消息里没有资料。"
    : "I am the local extractive engine: I answer by quoting sources given in the messages, and these messages hold none.";
  return { text, thought: "The messages hold no sources, so there is nothing to quote.", is: "refusal" };
}

function inForm(
  { text, thought, is = "answer", quoted = [], value = text }: Reply,
  { json, thinks }: ChatPrompt,
): ChatDraft {
  const citations = quoted.map((quotation) => ({
    source: quotation.telling.source.number,
    quote: quotable(quotation),
  }));
  const object = is === "question" ? { question: text } : { answer: value, answered: is === "answer", citations };
  return { reasoning: thinks ? thought : "", content: json ? JSON.stringify(object) : text, toolCalls: [] };
}
