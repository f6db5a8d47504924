import { terms } from "../../text/terms.js";
import type { Definition } from "../definition.js";
import { likeShare } from "./alikeness.js";
import { beginsWithIdentifier, holdsIdentifier, identifiersIn } from "./names.js";
import { plainText } from "./plain-text.js";
import { asksForCode, bringsNews, namesVariable, wantedKinds } from "./question-kind.js";
import type { QuestionReading, ReadStatement } from "./question-reading.js";
import {
  announces,
  isCommand,
  isMostlySigns,
  isOption,
  isQuestion,
  leansBack,
  pointsElsewhere,
} from "./statement-traits.js";
import type { Statement } from "./statements.js";

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

/** A term in the headings or the sentence before counts for this share of one in the statement. */
const contextShare = 0.6;
/** A term elsewhere in the same source. */
const sourceShare = 0.25;
/** A term of a name of which the source holds only a part. */
const brokenNameShare = 0.2;
/** Words of the question that stand together in a statement, all of them. */
const phraseBonus = 0.35;
/** "What is X?" is answered by "X is …". */
const definitionBonus = 0.7;
/** … or by what stands first under the heading X. */
const entryBonus = 0.6;
/** The section is on what is asked. */
const headingBonus = 0.2;
/** The very identifier that is asked about; a statement on it begins with it. */
const identifierBonus = 0.25;
const identifierFirstBonus = 0.5;
/** An environment variable whose own name holds a telling word of the question. */
const variableBonus = 0.4;
/** "How do I …?" is answered by what leads up to code. */
const instructionBonus = 0.3;
/** Code is an answer to those who ask for it. */
const codePenalty = 0.15;
/** Too long to be read, or a question itself. */
const unfitPenalty = 0.2;
/** Points elsewhere. */
const referencePenalty = 0.25;
/** Leans on what stands before it. */
const dependentPenalty = 0.15;
/** More signs than words: a diagram, or code without a fence. */
const signsPenalty = 0.4;
/** An option of a list of options tells no way to do a thing. */
const optionPenalty = 0.25;
/** Sources come best first. */
const rankPenalty = 0.1;
/** What the question asks about stands together in one source: the share of it that does. */
const sourceBonus = 0.9;
/** The question's words beside its subject, which all sources are on. */
const specificBonus = 0.4;

/** All statements that may answer, best first. */
export function scoreStatements(reading: QuestionReading): readonly ScoredStatement[] {
  const { question, definition, asked, wording, weights, names, read } = reading;
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return [];
  const sources = termsBySource(read);
  const ranks = new Map([...sources.keys()].map((source, rank) => [source, rank] as const));
  const held = new Map([...sources].map(([source, known]) => [source, likeShare(weights, known)] as const));
  const specific = specificWeights(reading);
  const identifiers = identifiersIn(question);
  const wants = wantedKinds(question);
  const wantsCode = asksForCode(question);
  const scored: ScoredStatement[] = [];
  for (const [index, { statement, found }] of read.entries()) {
    if (statement.kind === "heading") continue;
    const plain = plainText(statement.text);
    const defines = definition === undefined ? 0 : defining(definition, statement, plain);
    if (defines === 0 && tellsNothing(found, weights)) continue;
    const ofSource = sources.get(statement.source) ?? new Set();
    const absent = names.filter((name) => name.terms.some((term) => !ofSource.has(term)));
    const broken = new Set(absent.flatMap((name) => name.terms));
    const before = read[index - 1];
    const near = new Set(terms(statement.context));
    if (announces(statement)) for (const term of read[index + 1]?.found ?? []) near.add(term);
    if (before?.statement.source === statement.source) for (const term of before.found) near.add(term);
    const after = read[index + 1]?.statement;
    const leads = after?.source === statement.source && after.kind === "code" && statement.kind === "prose";
    const reach = leads || announces(statement) ? `${statement.text}\n${after?.text ?? ""}` : statement.text;
    const fitting = wants.filter(({ has }) => has.test(reach));
    const matched = new Set<string>();
    let coverage = 0;
    for (const [term, weight] of weights) {
      const share = broken.has(term) ? brokenNameShare : 1;
      if (found.has(term)) {
        matched.add(term);
        coverage += share * weight;
      } else if (fitting.some(({ named }) => named.has(term))) coverage += weight;
      else if (near.has(term)) coverage += share * contextShare * weight;
      else if (ofSource.has(term)) coverage += share * sourceShare * weight;
    }
    const share = absent.reduce((left, { leftWithout }) => left * leftWithout, coverage / total);
    if (matched.size === 0 && fitting.length === 0 && defines === 0) continue;
    const score =
      share +
      sourceBonus * (held.get(statement.source) ?? 0) +
      specificBonus * coveredShare(specific, found) +
      bringsNews(question, asked, statement.text) +
      phraseBonus * phraseShare(wording, statement.text) +
      share * fitting.reduce((sum, { bonus }) => sum + bonus, 0) +
      defines +
      headingBonus * headingShare(statement.heading, weights, total) +
      identifierScore(identifiers, statement) +
      (namesVariable(question, reach) ? variableBonus : 0) +
      (wantsCode && (leads || announces(statement) || (statement.kind === "code" && isCommand(statement.text)))
        ? instructionBonus * share
        : 0) -
      (statement.kind === "code" && !wantsCode ? codePenalty : 0) -
      (statement.text.length > 600 || isQuestion(plain) ? unfitPenalty : 0) -
      (pointsElsewhere(plain) ? referencePenalty : 0) -
      (wantsCode && isOption(statement.text) ? optionPenalty : 0) -
      (leansBack(plain) ? dependentPenalty : 0) -
      (statement.kind === "prose" && isMostlySigns(statement.text) ? signsPenalty : 0) -
      rankPenalty * Math.min(10, ranks.get(statement.source) ?? 0);
    scored.push({
      statement,
      score,
      coverage: Math.max(share, Math.min(1, defines)),
      matched,
      defines: Math.min(1, defines / definitionBonus),
      index,
    });
  }
  return scored.toSorted((a, b) => b.score - a.score);
}

/** Share of the weight whose terms a text holds; 1 when nothing weighs. */
function coveredShare(weights: ReadonlyMap<string, number>, held: ReadonlySet<string>): number {
  let covered = 0;
  let total = 0;
  for (const [term, weight] of weights) {
    total += weight;
    if (held.has(term)) covered += weight;
  }
  return total === 0 ? 1 : covered / total;
}

/** The weights without the subject: what at least half of the sources are headed by. */
function specificWeights({ weights, headed }: QuestionReading): ReadonlyMap<string, number> {
  return new Map(
    [...weights].filter(([term]) => [...headed.values()].filter((of) => of.has(term)).length < headed.size / 2),
  );
}

function defining(definition: Definition, statement: Statement, plain: string): number {
  const outright = definitionBonus * definition.strength(plain);
  const entry =
    statement.opens && sameWords(statement.heading, definition.subject) && !announces(statement) ? entryBonus : 0;
  return Math.max(outright, entry) + 0.3 * Math.min(outright, entry);
}

function sameWords(one: string, other: string): boolean {
  const [a, b] = [new Set(terms(one.replace(/^[\p{L} ]{1,20}: |[(（].*$/gu, ""))), new Set(terms(other))];
  return a.size > 0 && a.size === b.size && [...a].every((term) => b.has(term));
}

function identifierScore(identifiers: readonly string[], { text, context }: Statement): number {
  if (identifiers.some((one) => beginsWithIdentifier(text, one))) return identifierFirstBonus;
  return identifiers.some((one) => holdsIdentifier(text, one) || holdsIdentifier(context, one)) ? identifierBonus : 0;
}

function headingShare(heading: string, weights: ReadonlyMap<string, number>, total: number): number {
  const found = new Set(terms(heading));
  if (found.size === 0) return 0;
  const shared = [...found].filter((term) => weights.has(term));
  const covered = shared.reduce((sum, term) => sum + (weights.get(term) ?? 0), 0) / total;
  return covered * (shared.length / found.size);
}

function termsBySource(read: readonly ReadStatement[]): ReadonlyMap<number, ReadonlySet<string>> {
  const sources = new Map<number, Set<string>>();
  for (const { statement, found } of read) {
    const known = sources.get(statement.source) ?? new Set(terms(statement.context));
    for (const term of found) known.add(term);
    sources.set(statement.source, known);
  }
  return sources;
}

/** A name or a title that the question holds, too, answers nothing. */
function tellsNothing(found: ReadonlySet<string>, asked: ReadonlyMap<string, number>): boolean {
  for (const term of found) if (!asked.has(term)) return false;
  return true;
}

function phraseShare(asked: readonly string[], text: string): number {
  if (asked.length < 2) return 0;
  const found = terms(text);
  const neighbours = new Set(found.slice(1).map((term, index) => `${found[index]} ${term}`));
  const together = asked.slice(1).filter((term, index) => neighbours.has(`${asked[index]} ${term}`)).length;
  return together / (asked.length - 1);
}
