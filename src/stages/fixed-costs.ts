import type { TokenCounter, ToolDescription } from "../ports.js";
import { countMessageTokens, foldMessages, messageOverheadTokens } from "../text/fold-messages.js";
import { renderSourcedQuestion } from "../text/prompt.js";
import type { Turn } from "../types.js";
import type { FixedCosts } from "./answer-budget.js";

/** Around each description of a tool, chat templates put some words of their own. */
const toolOverheadTokens = 32;

export interface AskedParts {
  readonly system: string;
  readonly question: string;
  readonly history: readonly Turn[];
  /** All tools that may be offered. */
  readonly tools: readonly ToolDescription[];
  readonly tokens: TokenCounter;
}

/** Counts what a request holds beside sources and rounds of tools. */
export function fixedCosts({ system, question, history, tools, tokens }: AskedParts): FixedCosts {
  const asking = { role: "user", content: renderSourcedQuestion({ sources: [], question }) } as const;
  const systemTurns = history.filter(({ role }) => role === "system").map(({ text }) => text);
  const described = tools.map((tool) => tokens.count(JSON.stringify(tool)) + toolOverheadTokens);
  const inFull = foldMessages(
    { system: "", history: history.filter(({ role }) => role !== "system"), ask: "", rounds: [] },
    { maxMessages: Infinity, maxTokens: Infinity, tokens },
  );
  return {
    question: countMessageTokens([asking], tokens),
    instructions:
      tokens.count([system, ...systemTurns].join("\n\n")) +
      messageOverheadTokens +
      described.reduce((sum, count) => sum + count, 0),
    history: history.length === 0 ? 0 : countMessageTokens(inFull.messages, tokens),
    hasTools: tools.length > 0,
  };
}
