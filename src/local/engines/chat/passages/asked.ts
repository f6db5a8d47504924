import { definitionOf, type Definition } from "../../../../text/words/definition.js";
import { synonymsIn } from "../../../../text/words/synonyms.js";
import { subjectTerms, terms } from "../../../../text/words/terms.js";
import { isFunctionWord } from "../../../../text/words/function-words.js";
import { isChinese } from "../../../../text/words/chinese.js";
import { similarity } from "../word-forms.js";
import { asksForWhole, kindAsked, type AskedKind } from "./asked-kinds.js";
import { lowerWords, unusualness } from "./written-words.js";

/** A question, read once for all sources. */
export interface Asked {
  readonly question: string;
  /** The terms that it is about, in its order. */
  readonly terms: readonly string[];
  /** Whether each names the kind that is asked for, as `port` does, so that what is of the kind need not say it. */
  readonly namesKind: readonly boolean[];
  /** Whether each is written as a name, a number or code. */
  readonly isName: readonly boolean[];
  /** How unusual the word of each term is; see `unusualness`. */
  readonly unusual: readonly number[];
  readonly definition: Definition | undefined;
  readonly kind: AskedKind | undefined;
  /** Whether all of a passage answers, such as code or a list, rather than one sentence. */
  readonly isForWhole: boolean;
  /** Finds the terms of the question that a term of a text stands for, each with a strength of 0 to 1. */
  readonly meaningOf: (term: string) => readonly Meaning[];
}

export interface Meaning {
  /** Place among the terms of the question. */
  readonly index: number;
  readonly strength: number;
}

/** Code, numbers, and words with a capital but the first. */
const nameOrNumber = /`[^`]+`|(?<!^\s*)(?<![\p{L}\p{N}_.])(?:\p{Lu}[\p{L}'’-]+|\d+(?![\p{L}.]))/gu;

/** A synonym of a word counts for this share of the word itself. */
const synonymShare = 0.5;

export function readQuestion(question: string): Asked {
  const definition = definitionOf(question);
  const language = isChinese(question) ? "chinese" : undefined;
  const subject = subjectTerms(definition?.subject ?? question).filter((term) => !isFunctionWord(term, language));
  const asked = [...new Set(subject)];
  const kind = kindAsked(question);
  const names = new Set(terms(question.match(nameOrNumber)?.join(" ") ?? ""));
  const written = new Map(lowerWords(question).flatMap((word) => terms(word).map((term) => [term, word] as const)));
  const known = new Map<string, readonly Meaning[]>();
  const synonyms = synonymsIn(definition?.subject ?? question);
  const strengthOf = (one: string, term: string) =>
    Math.max(similarity(one, term), synonyms.get(one)?.has(term) === true ? synonymShare : 0);
  const meaningsOf = (term: string) =>
    asked
      .map((one, index): Meaning => ({ index, strength: strengthOf(one, term) }))
      .filter(({ strength }) => strength > 0);
  return {
    question,
    terms: asked,
    namesKind: asked.map((term) => kind?.named.includes(term) === true),
    isName: asked.map((term) => names.has(term)),
    unusual: asked.map((term) => unusualness(written.get(term) ?? term)),
    definition,
    kind,
    isForWhole: asksForWhole(question),
    meaningOf: (term) => {
      const found = known.get(term) ?? meaningsOf(term);
      known.set(term, found);
      return found;
    },
  };
}
