import { neighbours, pairCloseness, positionsOf } from "../../../../text/words/closeness.js";
import { terms } from "../../../../text/words/terms.js";
import { definitionOf, type Definition } from "../../definition.js";
import { plainText } from "../plain-text.js";
import { isChinese } from "../reading.js";
import {
  coveredShare,
  holdsAny,
  meantShare,
  plainTerms,
  synonymShare,
  type QuestionReading,
} from "../question/question-reading.js";
import {
  asksForCode,
  asksForList,
  asksForReason,
  beginsWithIdentifier,
  holdsIdentifier,
  identifiersIn,
  namesVariable,
  wantedKinds,
} from "../question/wanted.js";
import { announces, isItem, type Statement } from "./statements.js";

export interface ScoredStatement {
  readonly statement: Statement;
  readonly score: number;
  /** Share of the question's weight that the statement and its surroundings hold, 0 to 1. */
  readonly coverage: number;
  /** Terms of the question in the statement itself. */
  readonly matched: ReadonlySet<string>;
  /** Share of the question's weight that its source holds, 0 to 1. */
  readonly inSource: number;
  /** Whether it has what the question asks for, such as a default. */
  readonly fits: boolean;
  /** Whether it opens a section whose heading asks the same. */
  readonly isAsked: boolean;
  /** 1 when it defines outright what is to be defined, 0 when it does not. */
  readonly defines: number;
  /** Place among all statements. */
  readonly index: number;
}

/** A term in the headings above counts for this share of one in the statement: whoever reads on there takes it as said. */
const headingShare = 0.9;
/** … one in the statements beside it. */
const besideShare = 0.6;
/** A term elsewhere in the same source. */
const sourceShare = 0.25;
/** All that the question asks about stands in one source: the share of it that does. */
const sourceBonus = 1;
/** "What is X?" is answered by "X is …". */
const definitionBonus = 0.7;
/** … or by the first statement under the heading X. */
const entryBonus = 0.5;
/** … and by both at once most surely. */
const definedEntryBonus = 0.9;
/** The very identifier that is asked about; a statement on it begins with it. */
const identifierBonus = 0.25;
const identifierFirstBonus = 0.5;
/** An environment variable whose own name holds a telling word of the question. */
const variableBonus = 0.4;
/** A heading that is the very identifier has the answer below it … */
const headedBonus = 0.5;
/** … and so has one that asks the very question. */
const askedBonus = 1.2;
/** The nearest heading asks the same, and nothing else. */
const headingBonus = 0.5;
const wholeHeading = 0.9;
/** … in the language of the question. */
const otherLanguagePenalty = 0.4;
/** "How do I serve …?" is answered by "To serve …". */
const sameActBonus = 0.4;
/** … or by "You can serve …". */
const actBonus = 0.2;
/** The words of the question stand in its order. */
const wordingBonus = 0.3;
/** … and the sentence begins with them: "What does X record?", "X records …". */
const openingBonus = 0.5;
/** "How do I …?" is answered by a sentence that leads up to code, "Which … are there?" by one that leads up to a list. */
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
  const { question, definition, weights, synonyms, read, sources } = reading;
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return [];
  const identifiers = identifiersIn(question);
  const wants = wantedKinds(question);
  const wantsCode = asksForCode(question);
  const wantsList = asksForList(question);
  const asked = new Set(plainTerms(question));
  const act = actIn(question);
  const asksForFact = act === undefined && !asksForReason(question);
  const inChinese = isChinese(question);
  const inSource = new Map([...sources].map(([source, { found }]) => [source, meantShare(reading, found)]));
  const scored: ScoredStatement[] = [];
  for (const [index, { statement, found }] of read.entries()) {
    if (statement.kind === "heading") continue;
    const plain = plainText(statement.text);
    const defines = definition === undefined ? 0 : defining(definition, statement, plain);
    const isAskedAbove = statement.opens && asksSame(asked, statement.heading);
    const headed = headingFit(reading, statement);
    const isAnswer = isAskedAbove || (statement.opens && definition === undefined && headed >= wholeHeading);
    // A name or a title that the question holds, too, answers nothing; a lead-in has its answer behind it.
    if (defines === 0 && !isAnswer && !announces(statement) && [...found].every((term) => weights.has(term))) continue;
    const source = sources.get(statement.source)!;
    const beside = (at: number) => (read[at]?.statement.source === statement.source ? read[at] : undefined);
    const [before, after] = [beside(index - 1), beside(index + 1)];
    const leadsToCode = statement.kind === "prose" && after?.statement.kind === "code";
    const leads = leadsToCode || announces(statement);
    const listed = announces(statement) ? after?.statement : undefined;
    const leadsToList = listed !== undefined && (listed.kind === "row" || isItem(listed));
    const above = new Set(plainTerms(statement.context));
    const near = new Set([...(before?.found ?? []), ...(announces(statement) ? (after?.found ?? []) : [])]);
    const reach = leadsToCode ? `${statement.text}\n${after?.statement.text ?? ""}` : statement.text;
    const fitting = wants.filter(({ has }) => has.test(reach));
    const matched = new Set([...weights.keys()].filter((term) => found.has(term)));
    const meant = new Set([...synonyms].flatMap(([term, others]) => (holdsAny(found, others) ? [term] : [])));
    if (matched.size + meant.size === 0 && fitting.length === 0 && defines === 0 && !isAnswer) continue;
    let covered = 0;
    for (const [term, weight] of weights) {
      if (matched.has(term) || fitting.some(({ named }) => named.has(term))) covered += weight;
      else if (meant.has(term)) covered += synonymShare * weight;
      else if (above.has(term)) covered += headingShare * weight;
      else if (near.has(term)) covered += besideShare * weight;
      else if (source.found.has(term)) covered += sourceShare * weight;
    }
    const share = covered / total;
    const instructs = leads || (statement.kind === "code" && isCommand(statement.text));
    const isUnfit = plain.length > maxReadableLength || /[?？]\s*$/.test(plain) || pointsElsewhere(plain);
    const score =
      share * (1 + fitting.reduce((sum, { bonus }) => sum + bonus, 0)) +
      sourceBonus * (inSource.get(statement.source) ?? 0) +
      defines +
      (fitting.length > 0 ? 2 : 1) * identifierScore(identifiers, statement) +
      (namesVariable(question, reach) ? variableBonus : 0) +
      (isAskedAbove ? askedBonus : 0) +
      headingBonus * headed +
      (act !== undefined && beginsWithAct(plain, act) ? (instructs ? sameActBonus : actBonus) : 0) +
      wordingBonus * wordingShare(reading, read[index]!.words) +
      (asksForFact ? openingBonus * openingShare(reading, read[index]!.words) : 0) +
      (wantsCode && instructs ? instructionBonus * share : 0) +
      (wantsList && leadsToList ? instructionBonus * share : 0) -
      (inChinese && statement.kind === "prose" && !isChinese(plain) ? otherLanguagePenalty : 0) -
      (!wantsCode && statement.kind === "code" ? codePenalty : 0) -
      (isUnfit ? unfitPenalty : 0) -
      rankPenalty * source.rank;
    const coverage = Math.max(share, Math.min(1, defines));
    const isFit = fitting.length > 0;
    const named = fitting.flatMap((kind) => [...kind.named]);
    scored.push({
      statement,
      score,
      coverage,
      matched,
      inSource: isFit ? meantShare(reading, new Set([...source.found, ...named])) : inSource.get(statement.source)!,
      fits: isFit,
      isAsked: isAnswer,
      defines: Math.min(1, defines / definitionBonus),
      index,
    });
  }
  return scored.toSorted((a, b) => b.score - a.score);
}

function defining(definition: Definition, statement: Statement, plain: string): number {
  const strength = definition.strength(plain);
  const heading = definitionOf(statement.heading)?.subject ?? statement.heading;
  const isEntry = !announces(statement) && sameWords(heading, definition.subject);
  // Below its own heading, a looser form is a definition too.
  if (isEntry && strength > 0) return definedEntryBonus;
  return Math.max(definitionBonus * strength, isEntry && statement.opens ? entryBonus : 0);
}

/**
 * How far the section is on what is asked: the share of the question in the headings above, if the nearest of them says
 * nothing else.
 */
function headingFit({ weights }: QuestionReading, { heading, context }: Statement): number {
  const words = new Set(plainTerms(heading));
  const shared = [...words].filter((word) => weights.has(word)).length;
  if (shared === 0) return 0;
  const above = new Set(plainTerms(context));
  return (shared / words.size) ** 2 * coveredShare(weights, above);
}

/** Share of the words of a question that a heading needs, and the other way round, to ask the same. */
const sameQuestion = 0.8;

function asksSame(asked: ReadonlySet<string>, heading: string): boolean {
  const words = new Set(plainTerms(heading));
  const shared = [...words].filter((word) => asked.has(word)).length;
  return words.size >= 2 && shared >= sameQuestion * Math.max(words.size, asked.size);
}

/** A pair of the question's words counts for this much beside their weights, so that grammar is not without any. */
const pairBase = 0.05;
/** Closeness in a question without two neighbouring words. */
const closenessOfOne = 0.3;

/** How close together the question's neighbouring words stand in a text, 0 to 1. */
export function wordingShare({ wording, weights }: QuestionReading, words: readonly string[]): number {
  const pairs = neighbours(wording);
  if (pairs.length === 0) return closenessOfOne;
  const meant = new Map(wording.map((term) => [term, [term]]));
  const weighed = new Map(wording.map((term) => [term, pairBase + (weights.get(term) ?? 0)]));
  return pairCloseness(pairs, positionsOf(words, meant), weighed);
}

/** Share of the question's words with which a text begins, in their order; 0 for less than two. */
function openingShare({ wording, weights }: QuestionReading, words: readonly string[]): number {
  const asked = wording.filter((term) => weights.has(term));
  const differs = asked.findIndex((term, at) => words[at] !== term);
  const shared = differs < 0 ? asked.length : differs;
  return shared < 2 ? 0 : shared / asked.length;
}

/** The act of a question that asks how to do something, as a term. */
function actIn(question: string): string | undefined {
  const [, act] = /\bhow (?:do|can|should|to|could) (?:(?:i|we|you|one) )?(\p{L}+)/iu.exec(question) ?? [];
  return act && plainTerms(act)[0];
}

function beginsWithAct(plain: string, act: string): boolean {
  const [, verb] = /^(?:(?:in order )?to |you (?:can|may|could) |then |first, )?(\p{L}+)/iu.exec(plain) ?? [];
  return verb !== undefined && plainTerms(verb)[0] === act;
}

function sameWords(one: string, other: string): boolean {
  const [a, b] = [new Set(terms(one.replace(/^[\p{L} ]{1,20}: |[(（].*$/gu, ""))), new Set(terms(other))];
  return a.size > 0 && a.size === b.size && [...a].every((term) => b.has(term));
}

function identifierScore(identifiers: readonly string[], { text, context, heading }: Statement): number {
  if (identifiers.some((one) => isIdentifier(heading, one))) return headedBonus;
  if (identifiers.some((one) => beginsWithIdentifier(text, one))) return identifierFirstBonus;
  return identifiers.some((one) => holdsIdentifier(text, one) || holdsIdentifier(context, one)) ? identifierBonus : 0;
}

function isIdentifier(heading: string, identifier: string): boolean {
  return heading.replace(/[`\s]/g, "").toLowerCase() === identifier.toLowerCase();
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
