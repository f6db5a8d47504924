import { terms } from "../../text/terms.js";
import { rarity } from "../rarity.js";
import { bringsNews } from "./question-kind.js";
import type { Statement } from "./statements.js";

/** Two sentences up to this length are still a citation, in UTF-16 units. */
const longestPair = 700;
const tellingRarity = 0.7;

const leansOnPrevious =
  /^(?:he|she|it|its|his|her|hers|they|their|this|these|those|that|such|both|there|here)\b|^[他她它其这那该此]/i;

/**
 * The statement, or it and a neighbour: the one before when it begins with a word that points there, else the one beside
 * it that holds a telling word of the question, or the kind of thing that is asked for, which the statement lacks, else
 * the next one when it is unsure whether the statement answers. The citation of the first of two holds both.
 */
export function widened(
  statement: Statement,
  question: string,
  asked: readonly string[],
  { all, unsure }: { readonly all: readonly Statement[]; readonly unsure: boolean },
): readonly Statement[] {
  if (statement.kind !== "prose") return [statement];
  const at = all.indexOf(statement);
  const before = statement.follows ? all[at - 1] : undefined;
  const after = all[at + 1]?.follows === true ? all[at + 1] : undefined;
  const fits = (other: Statement | undefined): other is Statement =>
    other?.kind === "prose" &&
    other.source === statement.source &&
    other.text.length + statement.text.length <= longestPair;
  const held = new Set([...terms(statement.text), ...terms(statement.context)]);
  const missing = asked.filter((term) => !held.has(term) && rarity(term) >= tellingRarity);
  const adds = (other: Statement) => {
    const its = new Set(terms(other.text));
    const kind = bringsNews(question, asked, other.text) > 0 && bringsNews(question, asked, statement.text) < 0;
    return missing.filter((term) => its.has(term)).length + (kind ? 1 : 0);
  };
  if (fits(before) && leansOnPrevious.test(statement.text)) return pair(before, statement);
  const gains = { before: fits(before) ? adds(before) : 0, after: fits(after) ? adds(after) : 0 };
  if (gains.after > 0 && gains.after >= gains.before) return pair(statement, after!);
  if (gains.before === 0 && unsure && !statement.text.includes("`")) {
    if (fits(after)) return pair(statement, after);
    if (fits(before)) return pair(before, statement);
  }
  return gains.before > 0 ? pair(before!, statement) : [statement];
}

function pair(first: Statement, second: Statement): readonly Statement[] {
  return [{ ...first, passage: `${first.text} ${second.text}` }, second];
}
