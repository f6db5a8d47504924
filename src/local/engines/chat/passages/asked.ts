import { synonymsIn } from "../../../../text/words/synonyms.js";
import { terms } from "../../../../text/words/terms.js";
import { definitionOf, type Definition } from "../../../../text/words/definition.js";
import { isUnspaced, rarity } from "../../rarity.js";
import { plainForm, minSimilarity, similarity } from "../word-forms.js";
import { lowerWords } from "./written-words.js";
import { identifiersIn, kindsAsked, type AskedKind } from "./asked-kinds.js";

/** A question, read once for all units that may answer it. */
export interface Asked {
  readonly question: string;
  /** The terms that it is about, in plain form and in its order. */
  readonly terms: readonly string[];
  /** The word of the question that each term stands for. */
  readonly written: ReadonlyMap<string, string>;
  /** Whether a term is written as a name or number. */
  readonly isName: readonly boolean[];
  readonly definition: Definition | undefined;
  readonly kinds: readonly AskedKind[];
  /** Whether a term names the kind that is asked for, as `port` does. */
  readonly namesKind: readonly boolean[];
  /** Finds the terms of the question that a term of a text stands for, each with a strength of 0 to 1. */
  readonly meaningOf: (term: string) => readonly Meaning[];
}

export interface Meaning {
  /** Place among the terms of the question. */
  readonly index: number;
  readonly strength: number;
}

/** A synonym of a word counts for this share of the word itself. */
const synonymShare = 0.7;

/** Chinese words that ask, and what makes them a polite sentence: cut out before characters are paired across them. */
const askingWords =
  /请问|有什么作用|有何作用|分别|为什么|什么时候|什么|怎么样|怎么|怎样|如何|何时|何地|哪[一]?[个些里年天种位座]|哪|多少|多[长久高大远]|谁|是否|能否|吗|呢|(?:我|你|您)?(?:应该|可以|需要)?(?=[?？]?$)/gu;
/** Chinese words of grammar, and common verbs: what stands beside them makes no word with them. */
const grammarWords = /通过|使用|利用|进行|可以|需要|应该|能够|以及|或者/gu;
const commonVerbs = /设置|配置|安装|运行|创建|启用|禁用|部署|添加|更换|修改/gu;
/** Terms up to this rarity are grammar. */
export const grammarRarity = 0.15;

export function readQuestion(question: string): Asked {
  const definition = definitionOf(question);
  const subject = definition?.subject ?? question;
  const separated = subject.replace(askingWords, " ").replace(grammarWords, " ").replace(commonVerbs, " $& ");
  const written = terms(separated).filter((term) => rarity(term) > grammarRarity && !/^[是的]$/.test(term));
  const asked = [...new Set(written.map(plainForm))];
  const names = new Set(terms([...namesIn(question), ...identifiersIn(question)].join(" ")).map(plainForm));
  const synonyms = synonymIndex(subject, asked);
  const known = new Map<string, readonly Meaning[]>();
  const kinds = kindsAsked(question);
  const named = new Set(kinds.flatMap((kind) => terms(kind.named.replace(askingWords, " ")).map(plainForm)));
  return {
    question,
    terms: asked,
    written: new Map(
      lowerWords(question).flatMap((word) => terms(word).map((term) => [plainForm(term), word] as const)),
    ),
    isName: asked.map((term) => names.has(term)),
    definition,
    kinds,
    namesKind: asked.map((term) => named.has(term)),
    meaningOf: (term) => {
      const found = known.get(term) ?? meaningsOf(plainForm(term), asked, synonyms);
      known.set(term, found);
      return found;
    },
  };
}

function meaningsOf(
  term: string,
  asked: readonly string[],
  synonyms: ReadonlyMap<string, readonly number[]>,
): readonly Meaning[] {
  const found: Meaning[] = [];
  const meant = synonyms.get(term) ?? [];
  for (const [index, one] of asked.entries()) {
    const alike = similarity(one, term);
    const strength = Math.max(alike >= minSimilarity ? alike : 0, meant.includes(index) ? synonymShare : 0);
    if (strength > 0) found.push({ index, strength });
  }
  return found;
}

/** Maps a synonym to the indexes of the question's terms that it may stand for. */
function synonymIndex(subject: string, asked: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const [term, others] of synonymsIn(subject)) {
    const index = asked.indexOf(plainForm(term));
    if (index >= 0) for (const other of others) found.set(other, [...(found.get(other) ?? []), index]);
  }
  return found;
}

/** Words with a capital but the first, and numbers. */
function namesIn(question: string): readonly string[] {
  return (
    question.replace(/^\s*[\p{L}'’]+/u, "").match(/(?<![\p{L}\p{N}_.])(?:\p{Lu}[\p{L}'’-]+|\d+(?![\p{L}.]))/gu) ?? []
  );
}

/**
 * Weight of words within a word, such as `open` and `telemetry` in `OpenTelemetry`, which in full would make one name outweigh the
 * question, and of words that say where a thing belongs of which the definition is asked for.
 */
const partShare = 0.25;

/** The weight of each term, by how rare it is as written and among the texts, of which `holding` hold it. */
export function weightsOf(
  { terms: asked, definition }: Asked,
  texts: number,
  holding: readonly number[],
): readonly number[] {
  let whole = "";
  // Pages on OpenTelemetry define "a span in OpenTelemetry" without naming OpenTelemetry.
  const thing = definition && new Set(terms(definition.names.at(-1)!).map(plainForm));
  return asked.map((term, index) => {
    const isPart = whole.length > term.length && whole.includes(term);
    if (!isPart) whole = isUnspaced(term) ? "" : term;
    const isOutside = thing?.has(term) === false;
    return (
      (isPart ? partShare : 1) *
      (isOutside ? partShare : 1) *
      rarity(term) ** 1.5 *
      Math.log(2 + (texts + 10) / ((holding[index] ?? 0) + 3))
    );
  });
}
