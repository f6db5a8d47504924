import { plainText } from "../../../../text/blocks/plain-text.js";
import type { ReadSource } from "../reading.js";
import { asksForList, asksHow } from "./asked-kinds.js";
import { readQuestion } from "./asked.js";
import { isAnswered } from "./evidence.js";
import { quotationAround, quotationText, type Quotation } from "./quotation.js";
import { scoreUnits, weightedShare, type ScoredUnit } from "./score.js";
import { textOf, unitsOf, type Unit } from "./units.js";

const maxPassages = 3;
/** A further passage must come this near to the best. */
const minShareOfBest = 0.4;

/** The one to three passages that answer, best first; none when the sources do not hold the answer. */
export function choosePassages(question: string, sources: readonly ReadSource[]): readonly Quotation[] {
  const asked = readQuestion(question);
  const units = unitsOf(sources);
  const scores = scoreUnits(asked, units);
  const { ranked } = scores;
  const factFirst =
    !asksHow(question) && !asksForList(question) && !/\bdifferen|\bdiffer\b|\bversus\b|区别|差[别异]/i.test(question);
  const quotationOf = ({ unit, at }: ScoredUnit) => {
    // The sentences before a definition define it, too.
    const defines = unit.kind === "sentence" && (asked.definition?.strength(plainText(textOf(unit))) ?? 0) > 0;
    return quotationAround(units, at, factFirst && !defines);
  };
  const [best] = ranked;
  if (best === undefined || !isAnswered(asked, scores, units, quotationText(quotationOf(best)))) return [];
  const chosen: Quotation[] = [];
  const taken = new Set<Unit>();
  for (const scored of ranked) {
    if (chosen.length === maxPassages) break;
    if (chosen.length > 0 && scored.score < minShareOfBest * best.score) break;
    if (taken.has(scored.unit)) continue;
    const quotation = quotationOf(scored);
    if (quotation.units.some((one) => taken.has(one))) continue;
    const text = quotationText(quotation);
    if (chosen.some((other) => sameWords(quotationText(other), text))) continue;
    if (asked.kinds.some(({ required, isIn }) => required && !isIn(`${quotation.units[0]!.head ?? ""}\n${text}`)))
      continue;
    chosen.push(quotation);
    for (const one of quotation.units) taken.add(one);
  }
  return chosen;
}

/** A source that holds less of the subject is on something else. */
const minSubjectShare = 0.5;

/** The passages with which the sources on a subject begin, or with an empty one, all sources: a text says first what it is on. */
export function leadPassages(subject: string, sources: readonly ReadSource[]): readonly Quotation[] {
  const units = unitsOf(sources);
  const { weights, inSources } = scoreUnits(readQuestion(subject), units);
  const shareOf = (source: object) => (subject === "" ? 1 : weightedShare(weights, inSources.get(source)!));
  const best = Math.max(0, ...[...inSources.keys()].map(shareOf));
  const isFirst = (unit: Unit, offset: number) => units[offset - 1]?.source !== unit.source;
  return units
    .map((unit, index) => ({ unit, at: index }))
    .filter(({ unit, at }) => isFirst(unit, at) && shareOf(unit.source) >= Math.max(minSubjectShare, best))
    .slice(0, maxPassages)
    .map(({ at }) => quotationAround(units, at, false));
}

function sameWords(one: string, other: string): boolean {
  const words = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim();
  return words(one) === words(other);
}
