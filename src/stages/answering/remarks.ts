import type { AnswerRemark } from "../../core/types.js";
import { isChinese } from "../../text/words/chinese.js";

/** The remarks of an answer as one sentence with their numbers, the most serious first, in the language of the question. */
export function remarksSentence(remarks: readonly AnswerRemark[], question: string): string {
  const count = (wanted: AnswerRemark["reason"]) => remarks.filter(({ reason }) => reason === wanted).length;
  const counts: Counts = [count("missing"), count("near"), count("uncited")];
  const chinese = isChinese(question);
  const parts = chinese ? inChinese(counts) : inEnglish(counts);
  return parts.filter((_, index) => counts[index]! > 0).join(chinese ? "；" : "; ");
}

/** Quotations that are not in their sources, those that are nearly, and sentences without a source. */
type Counts = readonly [missing: number, near: number, uncited: number];

function inEnglish([missing, near, uncited]: Counts): readonly string[] {
  return [
    `${quotations(missing)} not in the source that ${missing === 1 ? "it names" : "they name"}`,
    `${quotations(near)} in the source in other words only`,
    `${uncited} ${uncited === 1 ? "sentence cites" : "sentences cite"} no source`,
  ];
}

function quotations(count: number): string {
  return count === 1 ? "1 quotation is" : `${count} quotations are`;
}

function inChinese([missing, near, uncited]: Counts): readonly string[] {
  return [`${missing} 处引文不在所引的原文中`, `${near} 处引文在原文中说法不同`, `${uncited} 句话没有注明来源`];
}
