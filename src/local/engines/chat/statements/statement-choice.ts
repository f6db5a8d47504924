import { rarity } from "../../rarity.js";
import { plainText } from "../plain-text.js";
import { scoreStatements, type ScoredStatement } from "./statement-score.js";
import { announces, isItem, type Statement } from "./statements.js";
import { bestPassage, type Passage } from "./passages.js";
import { coveredShare, readQuestion, type QuestionReading } from "../question/question-reading.js";
import { unheardShare } from "../question/unheard-words.js";
import { asksForCode, asksForList, asksForReason, beginsWithIdentifier, identifiersIn } from "../question/wanted.js";
import { comparedIn, questionParts } from "../question/question-parts.js";

/** Coverage below which the best statement is no answer. Higher, answers are missed; lower, other subjects are quoted. */
const minCoverage = 0.35;
/** Share of the question that the source of a definition, a row or code has to hold, which nothing else judges. */
const minInSource = 0.55;
/** A statement that holds this much of the question needs none beside it. */
const wholeCoverage = 0.95;
/** From here on a statement defines more than in passing. */
const minDefinition = 0.85;
/** A further statement must come this near to the best, and hold a telling word of the question that is not yet there. */
const minShareOfBest = 0.75;
const tellingRarity = 0.7;
/** … or come so near that which of the two answers is open: both are quoted. */
const closeShareOfBest = 0.85;
/** Two lead-ins with their code, or four sentences. */
const maxStatements = 4;
/** A list with its lead-in leaves as much room for others as a lead-in with its code does. */
const maxTaken = 2;
/** Items of a list that are quoted with the sentence that leads up to them. */
const maxItems = 6;
/** Share of the names in a question that the source has to hold. */
const minNames = 0.6;
/** Share of the question in words that no source holds, from which on documents with headings are on something else. */
const maxUnheard = 0.25;
/** Evidence from which one sentence of a passage may do. */
const sureEvidence = 4;
/** Statements of one source at most this far before code lead up to it. */
const maxLeadDistance = 2;

/** The one to four statements that answer, most direct first; none when the sources do not hold the answer. */
export function chooseStatements(question: string, all: readonly Statement[]): readonly Statement[] {
  const compared = comparedIn(question)?.map((subject) => definitionAmong(subject, all));
  if (compared?.every((found) => found !== undefined)) return compared;
  const parts = questionParts(question)?.map((part) => answerStatements(part, all));
  if (parts?.every((part) => part.length > 0)) return [...new Set(parts.flat())];
  return answerStatements(question, all);
}

function answerStatements(question: string, all: readonly Statement[]): readonly Statement[] {
  const reading = readQuestion(question, all);
  const scored = scoreStatements(reading);
  const best = scored[0];
  const tells = [...reading.weights.keys()].some((term) => rarity(term) >= tellingRarity);
  // A question such as "What time is it?" has only words that stand in texts on any subject.
  if (best === undefined || !(tells || best.defines > 0)) return [];
  const wantsCode = asksForCode(question);
  const wantsList = asksForList(question);
  const companions = ({ statement }: ScoredStatement) =>
    withCompanion(statement, all, scored, { wantsCode, wantsList });
  const isEntry = best.fits && identifiersIn(question).some((one) => beginsWithIdentifier(best.statement.text, one));
  const direct =
    best.defines > 0 || best.isAsked || isEntry || best.statement.kind !== "prose" || companions(best).length > 1;
  const passage = direct ? undefined : bestPassage(reading, scored);
  if (!best.isAsked && (isOnOther(reading, best, direct) || isUnheardOf(reading))) return [];
  if (passage !== undefined && passage.evidence < 0) return [];
  const chosen: Statement[] = [];
  const said = new Set<string>();
  const matched = new Set<string>();
  let taken = 0;
  const take = (together: readonly Statement[]) => {
    const fresh = together.filter(({ text }) => !said.has(wordsOf(text)));
    // A sentence that announces something is never quoted without it.
    if (chosen.length > 0 && taken + Math.min(fresh.length, maxTaken) > maxStatements) return;
    taken += Math.min(fresh.length, maxTaken);
    for (const statement of fresh) {
      said.add(wordsOf(statement.text));
      chosen.push(statement);
    }
    const texts = new Set(together.map(({ text }) => text));
    for (const one of scored) if (texts.has(one.statement.text)) for (const term of one.matched) matched.add(term);
  };
  if (best.isAsked) take(sectionFrom(all, best.index));
  take(passage === undefined ? companions(best) : quoted(passage, scored, asksForReason(question)));
  for (const one of scored) {
    if (taken >= maxStatements || one.score < minShareOfBest * best.score) break;
    const adds = [...one.matched].some((term) => !matched.has(term) && rarity(term) >= tellingRarity);
    if (adds || one.score >= closeShareOfBest * best.score) take(companions(one));
  }
  return chosen;
}

/** Whether the statement is on something else: a default of the Perl SDK is not that of another one. */
function isOnOther({ names, identifiers, sources }: QuestionReading, best: ScoredStatement, direct: boolean): boolean {
  const { statement, coverage, inSource } = best;
  const { found } = sources.get(statement.source)!;
  if (coveredShare(identifiers, found) < minNames) return true;
  return direct && (inSource < minInSource || coverage < minCoverage || coveredShare(names, found) < minNames);
}

/**
 * Whether the sources never say what the question asks about. Documents with headings are manuals and the like, which people
 * ask in words of the text; of an article without any they ask in words of their own, whose absence says little.
 */
function isUnheardOf(reading: QuestionReading): boolean {
  return reading.read.some(({ statement }) => statement.kind === "heading") && unheardShare(reading) >= maxUnheard;
}

/** The statement that defines a thing outright: what two things are tells them apart, where nothing says how they differ. */
function definitionAmong(subject: string, all: readonly Statement[]): Statement | undefined {
  const [best] = scoreStatements(readQuestion(`What is ${subject}?`, all));
  return best !== undefined && best.defines >= minDefinition ? best.statement : undefined;
}

/** The passage as one citation; where it surely answers, only the sentence that does, unless it points back or a reason is asked for. */
function quoted(
  { statements, next, evidence }: Passage,
  scored: readonly ScoredStatement[],
  keepsBoth: boolean,
): readonly Statement[] {
  const [first, second] = statements;
  if (first === undefined || second === undefined) return statements;
  const ofPassage = scored.filter(({ statement }) => statement === first || statement === second);
  const [lead, other] = ofPassage;
  const clear = lead !== undefined && (evidence >= sureEvidence || lead.coverage >= wholeCoverage);
  if (clear && !keepsBoth && !beginsWithPointer(lead.statement.text)) {
    const adds = [...(other?.matched ?? [])].some((term) => !lead.matched.has(term));
    if (!adds) return [lead.statement];
  }
  const together = next === undefined || evidence >= sureEvidence ? [first, second] : [first, second, next];
  const passage = together.map(({ text, joint = " " }, at) => (at === 0 ? text : `${joint}${text}`)).join("");
  return [{ ...first, passage }, ...together.slice(1)];
}

/** Whether a sentence begins with a word that points at what stands before it. */
function beginsWithPointer(text: string): boolean {
  return /^(?:(?:he|she|it|its|his|her|hers|they|their|this|these|those|that|such|both|there|here)\b|[他她它其这那该此])/i.test(
    text,
  );
}

/** The same for statements that differ in case and marks alone. */
function wordsOf(text: string): string {
  return plainText(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** A statement with the code it leads up to, or code with what leads up to it. */
function withCompanion(
  statement: Statement,
  all: readonly Statement[],
  scored: readonly ScoredStatement[],
  { wantsCode, wantsList }: { readonly wantsCode: boolean; readonly wantsList: boolean },
): readonly Statement[] {
  const at = all.indexOf(statement);
  if (statement.kind === "code") {
    const back = all.slice(Math.max(0, at - maxLeadDistance), at).findLast(({ kind }) => kind !== "code");
    const leads = back?.source === statement.source && back.kind === "prose" && announces(back);
    return leads ? [back, statement] : [statement];
  }
  const next = all[at + 1];
  if (next?.source !== statement.source || next.kind === "heading") return [statement];
  if (next.kind !== "code") {
    if (wantsList && beginsCount(next.text)) return all.slice(at, at + maxStatements);
    if (!announces(statement)) return [statement];
    const listed = itemsAfter(all, at);
    if (listed.length === 0) return [statement, next];
    const best = scored.find((one) => listed.includes(one.statement));
    const lead = scored.find((one) => one.statement === statement);
    // Where no item says more of what is asked than the lead-in does, all of them answer.
    const adds = [...(best?.matched ?? [])].some((term) => lead?.matched.has(term) !== true);
    const wantsAll = wantsList || (!adds && listed.length <= maxItems);
    return [statement, ...(wantsAll ? listed.slice(0, maxItems) : [best?.statement ?? next])];
  }
  if (!announces(statement) && !wantsCode) return [statement];
  const end = all.findIndex(({ kind, source }, index) => index > at && (kind !== "code" || source !== next.source));
  const block = new Set(all.slice(at + 1, end < 0 ? undefined : end));
  return [statement, scored.find((one) => block.has(one.statement))?.statement ?? next];
}

/** Whether a sentence is the first of several that count something up. */
function beginsCount(text: string): boolean {
  return /^(?:first(?:ly)?|the first(?: one)?|to begin with)\b|^(?:首先|第一)/i.test(text);
}

/** Prose from a place on to the end of its section, as far as an answer goes: below its own question all of it answers. */
function sectionFrom(all: readonly Statement[], from: number): readonly Statement[] {
  const { source, heading } = all[from]!;
  const section = all.slice(from, from + maxStatements);
  const end = section.findIndex((one) => one.kind !== "prose" || one.source !== source || one.heading !== heading);
  return end < 0 ? section : section.slice(0, end);
}

/** The items of the list, or the rows of the table, that a statement leads up to. */
function itemsAfter(all: readonly Statement[], at: number): readonly Statement[] {
  const after = all.slice(at + 1);
  const end = after.findIndex((one) => one.source !== all[at]!.source || !(one.kind === "row" || isItem(one)));
  return end < 0 ? after : after.slice(0, end);
}
