import { evidence, leastEvidence, sureEvidence } from "./evidence.js";
import { asksForCode } from "./question-kind.js";
import { questionTerms } from "../question-terms.js";
import { rarity } from "../rarity.js";
import { plainText } from "./plain-text.js";
import { announces, scoreStatements, type ScoredStatement } from "./statement-score.js";
import type { Statement } from "./statements.js";
import { widened } from "./widened.js";

/** Coverage below which the best statement is no answer. Higher, answers are missed; lower, other subjects are quoted. */
const leastCoverage = 0.36;
/** A further statement must come this near to the best, and hold a telling word of the question that is not yet there. */
const nearBest = 0.76;
const tellingRarity = 0.7;
const mostStatements = 3;
/** Statements of one source at most this far before code lead up to it. */
const leadingStatements = 2;

/** The one to three statements that answer, most direct first; none when the sources do not hold the answer. */
export function chooseStatements(question: string, all: readonly Statement[]): readonly Statement[] {
  const scored = scoreStatements(question, all);
  const best = scored[0];
  if (best === undefined || best.coverage < leastCoverage || odds(best, scored) < leastEvidence) return [];
  const unsure = odds(best, scored) < sureEvidence;
  const asked = questionTerms(question);
  const chosen: Statement[] = [];
  const said = new Set<string>();
  const matched = new Set<string>();
  const take = (one: ScoredStatement) => {
    const led = withCompanion(one.statement, all, scored, asksForCode(question));
    const together = led.length > 1 ? led : widened(one.statement, question, asked, { all, unsure });
    const fresh = together.filter(({ text }) => !said.has(wordsOf(text)));
    // What leads up to something is not left hanging.
    if (chosen.length + fresh.length > mostStatements) return;
    for (const statement of fresh) {
      said.add(wordsOf(statement.text));
      chosen.push(statement);
    }
    for (const term of one.matched) matched.add(term);
  };
  take(best);
  for (const one of scored.slice(1)) {
    if (chosen.length >= mostStatements || one.score < nearBest * best.score) break;
    const adds = [...one.matched].some((term) => !matched.has(term) && rarity(term) >= tellingRarity);
    if (adds) take(one);
  }
  return chosen;
}

/** Log-odds that the best statement answers. They are those of sentences; an outright definition needs none. */
function odds(best: ScoredStatement, scored: readonly ScoredStatement[]): number {
  if (best.defines > 0 || best.statement.kind !== "prose") return Infinity;
  const rival = scored.find(({ statement }) => statement.source !== best.statement.source);
  return evidence(best.evidence, best.score - Math.max(0, rival?.score ?? 0));
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
  wantsCode: boolean,
): readonly Statement[] {
  const at = all.indexOf(statement);
  if (statement.kind === "code") {
    const back = all.slice(Math.max(0, at - leadingStatements), at).findLast(({ kind }) => kind !== "code");
    const leads = back?.source === statement.source && back.kind === "prose" && announces(back);
    return leads ? [back, statement] : [statement];
  }
  const next = all[at + 1];
  if (next?.source !== statement.source || next.kind === "heading") return [statement];
  if (next.kind !== "code") return announces(statement) ? [statement, next] : [statement];
  if (!announces(statement) && !wantsCode) return [statement];
  const end = all.findIndex(({ kind, source }, index) => index > at && (kind !== "code" || source !== next.source));
  const block = new Set(all.slice(at + 1, end < 0 ? undefined : end));
  return [statement, scored.find((one) => block.has(one.statement))?.statement ?? next];
}
