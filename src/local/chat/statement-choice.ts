import { terms } from "../../text/terms.js";
import { rarity } from "../rarity.js";
import { asksForCode, definitionOf, namesVariable, wantedKinds } from "./question-kind.js";
import { plainText, type Statement } from "./statements.js";

export interface ScoredStatement {
  readonly statement: Statement;
  readonly score: number;
  /** Share of the question's weight that the statement and its surroundings hold, 0 to 1. */
  readonly coverage: number;
  /** Terms of the question in the statement itself. */
  readonly matched: ReadonlySet<string>;
}

/** A term in the headings or the sentence before counts for this share of one in the statement. */
const contextShare = 0.55;
/** A term elsewhere in the same source. */
const sourceShare = 0.25;
/** Words of the question that stand together in a statement, all of them. */
const phraseBonus = 0.35;
/** What is asked for is there: a number for "how many", a variable for "environment variable". */
const kindBonus = 0.3;
/** "What is X?" is answered by "X is …". */
const definitionBonus = 0.4;
/** An environment variable whose own name holds a telling word of the question. */
const variableBonus = 0.4;
/** Code is an answer to those who ask for it. */
const codePenalty = 0.15;
/** Sources come best first. */
const rankPenalty = 0.02;

/** All statements that share a term with the question, best first. */
export function scoreStatements(question: string, all: readonly Statement[]): readonly ScoredStatement[] {
  const asked = terms(question);
  const read = all.map((statement) => ({ statement, found: new Set(terms(statement.text)) }));
  const weights = termWeights(
    asked,
    read.map(({ found }) => found),
  );
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return [];
  const sources = new Map<number, Set<string>>();
  for (const { statement, found } of read) {
    const known = sources.get(statement.source) ?? new Set(terms(statement.context));
    for (const term of found) known.add(term);
    sources.set(statement.source, known);
  }
  const ranks = new Map([...sources.keys()].map((source, rank) => [source, rank] as const));
  const wants = wantedKinds(question);
  const definition = definitionOf(question);
  const scored: ScoredStatement[] = [];
  for (const [index, { statement, found }] of read.entries()) {
    if (statement.kind === "heading" || tellsNothing(found, weights)) continue;
    const before = read[index - 1];
    const near = new Set(terms(statement.context));
    if (before?.statement.source === statement.source) for (const term of before.found) near.add(term);
    const next = announces(statement) ? (read[index + 1]?.statement.text ?? "") : "";
    const fitting = wants.filter(({ has }) => has.test(`${statement.text}\n${next}`));
    const matched = new Set<string>();
    let coverage = 0;
    for (const [term, weight] of weights) {
      if (found.has(term)) {
        matched.add(term);
        coverage += weight;
      } else if (fitting.some(({ named }) => named.has(term))) coverage += weight;
      else if (near.has(term)) coverage += contextShare * weight;
      else if (sources.get(statement.source)?.has(term)) coverage += sourceShare * weight;
    }
    if (matched.size === 0 && fitting.length === 0) continue;
    const share = coverage / total;
    const fits = kindBonus * share * fitting.length;
    const defines = definition?.test(plainText(statement.text)) === true ? definitionBonus : 0;
    const names = namesVariable(question, statement.text) ? variableBonus : 0;
    const code = statement.kind === "code" && !asksForCode(question) ? codePenalty : 0;
    const length = statement.text.length > 600 || isQuestion(statement.text) ? -0.15 : 0;
    const rank = rankPenalty * Math.min(10, ranks.get(statement.source) ?? 0);
    const score =
      share + phraseBonus * phraseShare(asked, statement.text) + fits + defines + names - code + length - rank;
    scored.push({ statement, score, coverage: share, matched });
  }
  return scored.toSorted((a, b) => b.score - a.score);
}

/** A name or a title that the question holds, too, answers nothing. */
function tellsNothing(found: ReadonlySet<string>, asked: ReadonlyMap<string, number>): boolean {
  for (const term of found) if (!asked.has(term)) return false;
  return true;
}

/** Rarity of the words themselves, and of the words among the statements; a word of every statement tells little. */
function termWeights(asked: readonly string[], found: readonly ReadonlySet<string>[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const term of asked) {
    const holding = found.filter((one) => one.has(term)).length;
    const known = rarity(term);
    weights.set(term, known * known * Math.log(2 + (found.length + 10) / (holding + 3)));
  }
  return weights;
}

function phraseShare(asked: readonly string[], text: string): number {
  if (asked.length < 2) return 0;
  const found = terms(text);
  const neighbours = new Set(found.slice(1).map((term, index) => `${found[index]} ${term}`));
  const together = asked.slice(1).filter((term, index) => neighbours.has(`${asked[index]} ${term}`)).length;
  return together / (asked.length - 1);
}

function isQuestion(text: string): boolean {
  return /[?？]\s*$/.test(text);
}

/** Coverage below which the best statement is no answer. Measured by benchmarks/local.ts. */
const leastCoverage = 0.36;
/** A further statement must come this near to the best, and hold a telling word of the question that is not yet there. */
const nearBest = 0.72;
const tellingRarity = 0.7;
const mostStatements = 3;

/** The one to three statements that answer, in the order of the sources; none when the sources do not hold the answer. */
export function chooseStatements(question: string, all: readonly Statement[]): readonly ScoredStatement[] {
  const scored = scoreStatements(question, all);
  const best = scored[0];
  if (best === undefined || best.coverage < leastCoverage) return [];
  const chosen = [best];
  const follower = announced(best, all);
  if (follower !== undefined) chosen.push({ ...best, statement: follower, score: 0, matched: new Set() });
  const matched = new Set(best.matched);
  const said = new Set(chosen.map(({ statement }) => statement.text));
  for (const one of scored.slice(1)) {
    if (chosen.length >= mostStatements || one.score < nearBest * best.score) break;
    const adds = [...one.matched].some((term) => !matched.has(term) && rarity(term) >= tellingRarity);
    if (said.has(one.statement.text) || !adds) continue;
    chosen.push(one);
    said.add(one.statement.text);
    for (const term of one.matched) matched.add(term);
  }
  return chosen.toSorted((a, b) => a.statement.source - b.statement.source || a.statement.order - b.statement.order);
}

function announces({ text }: Statement): boolean {
  return /[:：]\s*$/.test(text);
}

/** What a statement that ends in a colon leads up to. */
function announced({ statement }: ScoredStatement, all: readonly Statement[]): Statement | undefined {
  if (!announces(statement)) return undefined;
  return all.find(({ source, order }) => source === statement.source && order === statement.order + 1);
}
