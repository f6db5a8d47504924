import type { AnswerRemark } from "../../core/types.js";

/** The remarks of an answer as one sentence with their numbers, the most serious first. */
export function remarksSentence(remarks: readonly AnswerRemark[]): string {
  const count = (wanted: AnswerRemark["reason"]) => remarks.filter(({ reason }) => reason === wanted).length;
  const [missing, near, uncited] = [count("missing"), count("near"), count("uncited")];
  const parts = [
    ...(missing > 0
      ? [`${quotations(missing)} not in the source that ${missing === 1 ? "it names" : "they name"}`]
      : []),
    ...(near > 0 ? [`${quotations(near)} in the source in other words only`] : []),
    ...(uncited > 0 ? [`${uncited} ${uncited === 1 ? "sentence cites" : "sentences cite"} no source`] : []),
  ];
  return parts.join("; ");
}

function quotations(count: number): string {
  return count === 1 ? "1 quotation is" : `${count} quotations are`;
}
