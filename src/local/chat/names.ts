import { terms } from "../../text/terms.js";

/** Words of a question that are written like code: between backticks, with an underscore, or with a capital inside. */
export function identifiersIn(question: string): readonly string[] {
  const quoted = [...question.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  const shaped = question.match(/[A-Za-z$][\w$]*(?:_[\w$]+|[a-z\d][A-Z][\w$]*)(?:\.[\w$]+)*/g) ?? [];
  return [...new Set([...quoted, ...shaped])];
}

/** Whether a text holds an identifier itself, not merely a longer one that it is part of. */
export function holdsIdentifier(text: string, identifier: string): boolean {
  return position(text, identifier) !== undefined;
}

/** Whether a text is on an identifier: it begins with it. */
export function beginsWithIdentifier(text: string, identifier: string): boolean {
  const at = position(text, identifier);
  return at !== undefined && !/[\p{L}\p{N}]/u.test(text.slice(0, at));
}

function position(text: string, identifier: string): number | undefined {
  const [lower, wanted] = [text.toLowerCase(), identifier.toLowerCase()];
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1)) {
    if (!/[\w$]/.test(lower.charAt(at - 1)) && !/[\w$]/.test(lower.charAt(at + wanted.length))) return at;
  }
  return undefined;
}

/** A name or a year in a question, as its terms. */
export interface AskedName {
  readonly terms: readonly string[];
  /** What is left of a statement's coverage when its source does not hold all of the name, 0 to 1. */
  readonly leftWithout: number;
}

/** Another year is another thing. */
const leftWithoutYear = 0.4;
/** A word with a capital may be a name. */
const leftWithoutWord = 0.7;
/** Of the longer names, texts often give a part. */
const leftWithoutWords = 0.85;

/** Names and years that a question asks about: what is asked of the Eiffel Tower is not answered by any tower. */
export function namesIn(question: string): readonly AskedName[] {
  const sentence = question.replace(/^\s*[\p{L}'’]+/u, "");
  const written = sentence.match(/(?<![\p{L}\p{N}_.])\p{Lu}[\p{L}\p{N}'’-]*(?:[ \t]+\p{Lu}[\p{L}\p{N}'’-]*)*/gu) ?? [];
  const years = question.match(/(?<![\p{L}\p{N}.])[12]\d{3}(?![\p{L}\p{N}.])/gu) ?? [];
  const names = written.map((name) => ({
    terms: [...new Set(terms(name))],
    leftWithout: /\s/.test(name) ? leftWithoutWords : leftWithoutWord,
  }));
  return [...names, ...years.map((year) => ({ terms: terms(year), leftWithout: leftWithoutYear }))].filter(
    (name) => name.terms.length > 0,
  );
}
