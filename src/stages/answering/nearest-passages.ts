import type { Hit, NearestPassages, Retrieved } from "../../core/types.js";
import { asksForNothing } from "../../text/words/small-talk.js";

const maxPassages = 3;
const maxHeadings = 3;

/** Passages to read or ask about instead, when the sources do not hold the answer. None for a greeting, or without hits. */
export function nearestPassages(
  { question, asked = question }: Pick<Retrieved, "question" | "asked">,
  hits: readonly Hit[],
): NearestPassages | undefined {
  if (hits.length === 0 || asksForNothing(asked)) return undefined;
  const headings = hits.map(({ chunk, title = "" }) =>
    (chunk.context === "" ? title : chunk.context).split(" > ").at(-1)!.trim(),
  );
  return {
    hits: hits.slice(0, maxPassages),
    headings: [...new Set(headings.filter((heading) => heading !== ""))].slice(0, maxHeadings),
  };
}
