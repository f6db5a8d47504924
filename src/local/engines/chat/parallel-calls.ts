import type { ChatDraft, EngineTool, ToolChoice } from "../engines.js";
import type { Reading } from "./reading.js";
import { chooseTool } from "./tools.js";

type Call = ChatDraft["toolCalls"][number];

/** Calls in one reply: a model asks for few things at once. */
const maxCalls = 4;

/** Ends of a clause that may ask for something of its own. */
const clauseEnd =
  /[?？;；。!！\n]+|\.(?=\s|$)|[,，]?\s+(?:and|as well as|and also)\s+(?=\p{L})|[,，]\s*(?:还有|以及|并且|另外)?|(?:还有|以及|并且)/iu;

const named = String.raw`"[^"]+"|\p{Lu}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*)*|\d+(?:\.\d+)?`;
/** Things that stand in one place of a question: "Oslo, Rome and New York", "北京和上海". */
const listed = new RegExp(
  String.raw`(?:${named})(?:\s*,\s*(?:${named}))*,?\s+and\s+(?:(?:in|of|for|at|to|from)\s+)?(?:${named})`,
  "u",
);
const listedInChinese = /\p{sc=Han}{2}(?:、\p{sc=Han}{2})*[和与及、]\p{sc=Han}{2}/u;

/**
 * The calls that a question asks for: those of its clauses, if several ask for something, or one tool once for each of the things that
 * it lists, unless one call takes them all. Otherwise the one call that the question as a whole asks for, or none.
 */
export function chooseCalls(
  reading: Pick<Reading, "question" | "sources">,
  tools: readonly EngineTool[],
  { choice, parallel = true }: { readonly choice?: ToolChoice | undefined; readonly parallel?: boolean | undefined },
): readonly Call[] {
  const choose = (question: string) => chooseTool({ ...reading, question }, tools, choice);
  const whole = choose(reading.question);
  const single = whole === undefined ? [] : [whole];
  if (!parallel || reading.sources.length > 0) return single;
  const each = callsForEach(reading.question, whole, choose);
  if (each.length > 1) return each;
  const clauses = reading.question.split(clauseEnd).filter((clause) => clause.trim() !== "");
  // A caller who requires a call would get one for every clause, asked for or not.
  const ofClauses = distinct(clauses.map((clause) => chooseTool({ ...reading, question: clause }, tools)));
  const isAllowed = typeof choice !== "object" || ofClauses.every(({ name }) => name === choice.name);
  return choice !== "none" && isAllowed && ofClauses.length > 1 ? ofClauses : single;
}

/** One call of the same tool for each thing that the question lists; empty when it lists none, or one call takes them all. */
function callsForEach(
  question: string,
  whole: Call | undefined,
  choose: (question: string) => Call | undefined,
): readonly Call[] {
  const [list] = listed.exec(question) ?? listedInChinese.exec(question) ?? [];
  if (list === undefined) return [];
  const things = list
    .split(/\s*,?\s+and\s+(?:(?:in|of|for|at|to|from)\s+)?|\s*,\s*|[和与及、]/u)
    .map((thing) => thing.replaceAll('"', ""));
  const written = (call: Call | undefined) => JSON.stringify(call?.arguments ?? {});
  if (things.every((thing) => written(whole).includes(thing))) return [];
  const calls = things.map((thing) => choose(question.replace(list, () => thing)));
  const isEach = calls.every((call, place) => call?.name === calls[0]?.name && written(call).includes(things[place]!));
  return isEach ? distinct(calls) : [];
}

function distinct(calls: readonly (Call | undefined)[]): readonly Call[] {
  const known = calls.filter((call) => call !== undefined);
  return [...new Map(known.map((call) => [JSON.stringify(call), call])).values()].slice(0, maxCalls);
}
