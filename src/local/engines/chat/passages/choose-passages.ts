import { plainText } from "../../../../text/blocks/plain-text.js";
import type { ReadSource } from "../reading.js";
import { readQuestion } from "./asked.js";
import { isAnswered } from "./evidence.js";
import { quotationAround, quotationText, type Quotation } from "./quotation.js";
import { scoreUnits, type ScoredUnit } from "./score.js";
import { textOf, unitsOf } from "./units.js";
import { lowerWords } from "./written-words.js";

const maxPassages = 3;
/** A further passage must come this near to the best. */
const minShareOfBest = 0.4;

/** The one to three passages that answer, best first; none when the sources do not hold the answer. */
export function choosePassages(question: string, sources: readonly ReadSource[]): readonly Quotation[] {
  const asked = readQuestion(question);
  const units = unitsOf(sources);
  const scores = scoreUnits(asked, units);
  const quotationOf = ({ unit, at }: ScoredUnit) => {
    // The sentences before a definition define it, too.
    const defines = unit.kind === "sentence" && (asked.definition?.strength(plainText(textOf(unit))) ?? 0) > 0;
    return quotationAround(units, at, !asked.isForWhole && !defines);
  };
  const [best] = scores.ranked;
  if (best === undefined || !isAnswered(asked, scores, units, quotationText(quotationOf(best)))) return [];
  const chosen: Quotation[] = [];
  const taken = new Set<unknown>();
  for (const scored of scores.ranked) {
    if (chosen.length === maxPassages || (chosen.length > 0 && scored.score < minShareOfBest * best.score)) break;
    if (taken.has(scored.unit)) continue;
    const quotation = quotationOf(scored);
    const text = `${quotation.units[0]!.head ?? ""}\n${quotationText(quotation)}`;
    const parts = [...quotation.units, lowerWords(text).join(" ")];
    if (parts.some((part) => taken.has(part)) || (asked.kind?.required && !asked.kind.isIn(text))) continue;
    chosen.push(quotation);
    for (const part of parts) taken.add(part);
  }
  return chosen;
}

/** A source that holds less of the subject is on something else. */
const minSubjectShare = 0.5;

/** The passages with which the sources on a subject begin, or with an empty one, all sources: a text says first what it is on. */
export function leadPassages(subject: string, sources: readonly ReadSource[]): readonly Quotation[] {
  const units = unitsOf(sources);
  const shares = new Map(
    [...scoreUnits(readQuestion(subject), units).inSources].map(([source, held]) => [
      source,
      subject === "" ? 1 : held.reduce((sum, strength) => sum + strength, 0) / held.length,
    ]),
  );
  const least = Math.max(minSubjectShare, ...shares.values());
  const begins = [...units.keys()].filter((at) => units[at - 1]?.source !== units[at]!.source);
  return begins
    .filter((at) => shares.get(units[at]!.source)! >= least)
    .slice(0, maxPassages)
    .map((at) => quotationAround(units, at, false));
}
