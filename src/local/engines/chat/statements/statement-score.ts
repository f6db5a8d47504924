import { terms } from "../../../../text/words/terms.js";
import type { Definition } from "../../definition.js";
import { plainText } from "../plain-text.js";
import { coveredShare, plainTerms, type QuestionReading } from "../question/question-reading.js";
import {
  asksForCode,
  beginsWithIdentifier,
  holdsIdentifier,
  identifiersIn,
  namesVariable,
  wantedKinds,
} from "../question/wanted.js";
import { announces, type Statement } from "./statements.js";

export interface ScoredStatement {
  readonly statement: Statement;
  readonly score: number;
  /** Share of the question's weight that the statement and its surroundings hold, 0 to 1. */
  readonly coverage: number;
  /** Terms of the question in the statement itself. */
  readonly matched: ReadonlySet<string>;
  /** 1 when it defines outright what is to be defined, 0 when it does not. */
  readonly defines: number;
  /** Place among all statements. */
  readonly index: number;
}

/** A term in the headings or beside the statement counts for this share of one in the statement. */
const contextShare = 0.6;
/** A term elsewhere in the same source. */
const sourceShare = 0.25;
/** All that the question asks about stands in one source: the share of it that does. */
const sourceBonus = 1;
/** "What is X?" is answered by "X is …". */
const definitionBonus = 0.7;
/** … or by the first statement under the heading X. */
const entryBonus = 0.6;
/** The very identifier that is asked about; a statement on it begins with it. */
const identifierBonus = 0.25;
const identifierFirstBonus = 0.5;
/** An environment variable whose own name holds a telling word of the question. */
const variableBonus = 0.4;
/** "How do I …?" is answered by a sentence that leads up to code. */
const instructionBonus = 0.3;
/** Code is an answer to those who ask for it. */
const codePenalty = 0.15;
/** A statement that is too long to be read, a question itself, or points elsewhere. */
const unfitPenalty = 0.2;
const maxReadableLength = 600;
/** Sources come best first. */
const rankPenalty = 0.1;

/** All statements that may answer, best first. */
export function scoreStatements(reading: QuestionReading): readonly ScoredStatement[] {
  const { question, definition, weights, read, sources } = reading;
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return [];
  const identifiers = identifiersIn(question);
  const wants = wantedKinds(question);
  const wantsCode = asksForCode(question);
  const inSource = new Map([...sources].map(([source, { found }]) => [source, coveredShare(weights, found)]));
  const scored: ScoredStatement[] = [];
  for (const [index, { statement, found }] of read.entries()) {
    if (statement.kind === "heading") continue;
    const plain = plainText(statement.text);
    const defines = definition === undefined ? 0 : defining(definition, statement, plain);
    // A name or a title that the question holds, too, answers nothing.
    if (defines === 0 && [...found].every((term) => weights.has(term))) continue;
    const source = sources.get(statement.source)!;
    const beside = (at: number) => (read[at]?.statement.source === statement.source ? read[at] : undefined);
    const [before, after] = [beside(index - 1), beside(index + 1)];
    const leadsToCode = statement.kind === "prose" && after?.statement.kind === "code";
    const leads = leadsToCode || announces(statement);
    const near = new Set([
      ...plainTerms(statement.context),
      ...(before?.found ?? []),
      ...(announces(statement) ? (after?.found ?? []) : []),
    ]);
    const reach = leads ? `${statement.text}\n${after?.statement.text ?? ""}` : statement.text;
    const fitting = wants.filter(({ has }) => has.test(reach));
    const matched = new Set([...weights.keys()].filter((term) => found.has(term)));
    if (matched.size === 0 && fitting.length === 0 && defines === 0) continue;
    let covered = 0;
    for (const [term, weight] of weights) {
      if (matched.has(term) || fitting.some(({ named }) => named.has(term))) covered += weight;
      else if (near.has(term)) covered += contextShare * weight;
      else if (source.found.has(term)) covered += sourceShare * weight;
    }
    const share = covered / total;
    const instructs = leads || (statement.kind === "code" && isCommand(statement.text));
    const isUnfit = statement.text.length > maxReadableLength || /[?？]\s*$/.test(plain) || pointsElsewhere(plain);
    const score =
      share * (1 + fitting.reduce((sum, { bonus }) => sum + bonus, 0)) +
      sourceBonus * (inSource.get(statement.source) ?? 0) +
      defines +
      identifierScore(identifiers, statement) +
      (namesVariable(question, reach) ? variableBonus : 0) +
      (wantsCode && instructs ? instructionBonus * share : 0) -
      (!wantsCode && statement.kind === "code" ? codePenalty : 0) -
      (isUnfit ? unfitPenalty : 0) -
      rankPenalty * source.rank;
    const coverage = Math.max(share, Math.min(1, defines));
    scored.push({ statement, score, coverage, matched, defines: Math.min(1, defines / definitionBonus), index });
  }
  return scored.toSorted((a, b) => b.score - a.score);
}

function defining(definition: Definition, statement: Statement, plain: string): number {
  const outright = definitionBonus * definition.strength(plain);
  const isEntry = statement.opens && sameWords(statement.heading, definition.subject) && !announces(statement);
  return Math.max(outright, isEntry ? entryBonus : 0);
}

function sameWords(one: string, other: string): boolean {
  const [a, b] = [new Set(terms(one.replace(/^[\p{L} ]{1,20}: |[(（].*$/gu, ""))), new Set(terms(other))];
  return a.size > 0 && a.size === b.size && [...a].every((term) => b.has(term));
}

function identifierScore(identifiers: readonly string[], { text, context }: Statement): number {
  if (identifiers.some((one) => beginsWithIdentifier(text, one))) return identifierFirstBonus;
  return identifiers.some((one) => holdsIdentifier(text, one) || holdsIdentifier(context, one)) ? identifierBonus : 0;
}

/** Whether a sentence only says where to read on. */
function pointsElsewhere(plain: string): boolean {
  return /^(?:for (?:more|further|details)|to learn|learn more|see\b|read more|refer to|有关|要了解|了解更多|更多|请?参[见阅考]|详见)/i.test(
    plain,
  );
}

function isCommand(text: string): boolean {
  return /^(?:\$ )?[a-z][\w.-]* +(?:-|[a-z./@])/.test(text) && !/[;{(]$|=>| = /.test(text);
}
