import { isChinese } from "../reading.js";

/** A name written like code, or a number of several digits. */
const name = /`[^`]+`|[@A-Za-z$][\w$]*(?:[_.][\w$]+|[a-z\d][A-Z][\w$]*)+|\d{2,}/.source;
/** Between Chinese words, any word in Latin letters is a name. */
const nameAmongChinese = `${name}|[A-Za-z][\\w.+-]*`;

const differs = [
  /\bdifferences? between (?:an? |the )?(.{1,60}?) and (?:an? |the )?([^?,]{1,60}?)\s*\??\s*$/i,
  /\bhow (?:do|does|is|are) (?:an? |the )?(.{1,40}?) (?:differ|different) from (?:an? |the )?([^?,]{1,40}?)\s*\??\s*$/i,
  /^(?:请问)?\s*(?:[^?？]{1,20}[中里]的?\s*)?(.{1,20}?)\s*[和与跟]\s*(.{1,20}?)\s*(?:之间)?(?:有什么|有何|的)(?:区别|不同|差别|差异)/,
];

/** The two things that a question asks to tell apart; `undefined` when it asks for something else. */
export function comparedIn(question: string): readonly [string, string] | undefined {
  for (const form of differs) {
    const [, one, other] = form.exec(question) ?? [];
    if (one !== undefined && other !== undefined) return [one.trim(), other.trim()];
  }
  return undefined;
}

/**
 * A question about two things by name as two questions, each about one: "the defaults of A_B and C_D", "A 和 B 分别是什么".
 * Returns `undefined` for a question about one thing, or about what two have in common or to do with each other.
 */
export function questionParts(question: string): readonly [string, string] | undefined {
  const names = isChinese(question) ? nameAmongChinese : name;
  const pair = new RegExp(String.raw`(${names})(?:\s+\p{L}+)?\s*(?:\band\b|[和与及、])\s*(?:the\s+)?(${names})`, "u");
  const found = pair.exec(question);
  if (found === null || asksForBoth.test(question)) return undefined;
  const [both, first = "", second = ""] = found;
  const about = (one: string) => question.replace(both, one).replace("分别", "");
  return [about(first), about(second)];
}

const asksForBoth = /\bboth\b|\bbetween\b|\btogether\b|\bprecedence\b|\bor\b|之间|同时|一起|优先|还是/i;
