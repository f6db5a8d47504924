import { terms } from "../../text/terms.js";
import type { EngineTool } from "../engines.js";
import { rarity } from "../rarity.js";
import { fillArguments } from "./schema-arguments.js";

export interface ChosenTool {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Verbs that begin the names of tools on any subject. */
const verbs = new Set(
  terms(
    "get set fetch find list lookup look up search query create make run call do read load show tool function api data info current",
  ),
);

/** Share of a tool's own words that the question must hold. */
const clearShare = 0.5;

/**
 * The tool that the question clearly asks for: it names the tool, or the subject in the tool's name, or two telling words
 * of its description. `undefined` when none does, or when its arguments are not in the question.
 */
export function chooseTool(question: string, tools: readonly EngineTool[]): ChosenTool | undefined {
  const asked = new Set(terms(question));
  const ranked = tools
    .map((tool) => ({ tool, score: question.includes(tool.name) ? 2 : clarity(tool, asked) }))
    .filter(({ score }) => score >= clearShare)
    .toSorted((a, b) => b.score - a.score);
  for (const { tool } of ranked) {
    const filled = fillArguments(tool.parameters, question);
    if (filled !== undefined) return { name: tool.name, arguments: filled };
  }
  return undefined;
}

function clarity({ name, description }: EngineTool, asked: ReadonlySet<string>): number {
  const subject = terms(name.replace(/[_-]/g, " ")).filter((term) => !verbs.has(term));
  const byName = subject.length === 0 ? 0 : subject.filter((term) => asked.has(term)).length / subject.length;
  const telling = [...new Set(terms(description))].filter((term) => rarity(term) >= 0.7 && !verbs.has(term));
  const named = telling.filter((term) => asked.has(term)).length;
  const byDescription = named >= 2 ? Math.min(1, named / 3) : 0;
  return Math.max(byName, byDescription);
}
