import { synonymsIn } from "../../../../text/words/synonyms.js";
import { terms } from "../../../../text/words/terms.js";
import { definitionOf, type Definition } from "../../definition.js";
import { isUnspaced, rarity } from "../../rarity.js";
import type { Statement } from "../statements/statements.js";
import { identifiersIn } from "./wanted.js";
import { termSimilarity, plainForm } from "./word-forms.js";

/** A statement with its terms, forms of one word as one. */
export interface ReadStatement {
  readonly statement: Statement;
  /** In its order, with repetitions. */
  readonly words: readonly string[];
  readonly found: ReadonlySet<string>;
}

/** A question and the statements that may answer it. Terms are plain forms throughout. */
export interface QuestionReading {
  readonly question: string;
  readonly definition: Definition | undefined;
  /** All terms of the question, or those of the thing to be defined, in order. */
  readonly wording: readonly string[];
  /** The weight of each term that the question is about. */
  readonly weights: ReadonlyMap<string, number>;
  /** The weights of names and numbers alone. */
  readonly names: ReadonlyMap<string, number>;
  /** The weights of what is written like code alone. */
  readonly identifiers: ReadonlyMap<string, number>;
  /** Other terms for its terms. */
  readonly synonyms: ReadonlyMap<string, ReadonlySet<string>>;
  /** In the order of the statements. */
  readonly read: readonly ReadStatement[];
  readonly sources: ReadonlyMap<number, SourceTerms>;
}

export interface SourceTerms {
  /** Terms of its title and headings. */
  readonly headed: ReadonlySet<string>;
  /** All its terms. */
  readonly found: ReadonlySet<string>;
  /** Place among the sources, which come best first. */
  readonly rank: number;
}

/** Reads a question and the statements that may answer it, once for all who judge them. */
export function readQuestion(question: string, all: readonly Statement[]): QuestionReading {
  const definition = definitionOf(question);
  const subject = definition?.subject ?? question;
  const read = all.map((statement) => {
    const words = plainTerms(statement.text);
    return { statement, words, found: new Set(words) };
  });
  const weights = termWeights(questionTerms(subject), read);
  const only = (words: readonly string[]) => {
    const wanted = new Set(plainTerms(words.join(" ")));
    return new Map([...weights].filter(([term]) => wanted.has(term)));
  };
  return {
    question,
    definition,
    wording: plainTerms(subject),
    weights,
    names: only(namesIn(question)),
    identifiers: only(identifiersIn(question)),
    synonyms: new Map([...synonymsIn(subject)].map(([term, others]) => [plainForm(term), others])),
    read,
    sources: sourceTerms(read),
  };
}

export function plainTerms(text: string): readonly string[] {
  return terms(text).map(plainForm);
}

/** Share of the weight whose terms a text holds, words of the same beginning in part; 1 when nothing weighs. */
export function coveredShare(weights: ReadonlyMap<string, number>, held: ReadonlySet<string>): number {
  return weightedShare(weights, (term) => termSimilarity(term, held));
}

/** A synonym of a word counts for this share of the word itself. */
export const synonymShare = 0.7;

/** The same share, where synonyms count as well. */
export function meantShare({ weights, synonyms }: QuestionReading, held: ReadonlySet<string>): number {
  return weightedShare(weights, (term) =>
    Math.max(termSimilarity(term, held), holdsAny(held, synonyms.get(term)) ? synonymShare : 0),
  );
}

export function holdsAny(held: ReadonlySet<string>, wanted: ReadonlySet<string> = noTerms): boolean {
  for (const term of wanted) if (held.has(term)) return true;
  return false;
}

const noTerms: ReadonlySet<string> = new Set();

/** Share of the weight, each part of it counted as far as `counts` says, 0 to 1; 1 when nothing weighs. */
export function weightedShare(weights: ReadonlyMap<string, number>, counts: (term: string) => number): number {
  let counted = 0;
  let total = 0;
  for (const [term, weight] of weights) {
    total += weight;
    counted += weight * counts(term);
  }
  return total === 0 ? 1 : counted / total;
}

/** Words with a capital but the first, and numbers. */
function namesIn(question: string): readonly string[] {
  return (
    question.replace(/^\s*[\p{L}'’]+/u, "").match(/(?<![\p{L}\p{N}_.])(?:\p{Lu}[\p{L}'’-]+|\d+(?![\p{L}.]))/gu) ?? []
  );
}

/** Chinese words that ask, and what makes them a polite sentence: cut out before characters are paired across them. */
const askingWords =
  /请问|有什么作用|有何作用|分别|为什么|什么时候|什么|怎么样|怎么|怎样|如何|何时|何地|哪[一]?[个些里年天种位座]|哪|多少|多[长久高大远]|谁|是否|能否|吗|呢|(?:我|你|您)?(?:应该|可以|需要)?(?=[?？]?$)/gu;

/** Chinese words of grammar, and common verbs: what stands beside them makes no word with them. */
const grammarWords = /通过|使用|利用|进行|可以|需要|应该|能够|以及|或者/gu;
const commonVerbs = /设置|配置|安装|运行|创建|启用|禁用|部署|添加|更换|修改/gu;

/** Terms up to this rarity are grammar. */
const grammarRarity = 0.15;

/** Terms of what a question is about: without the words that only make it a question. */
function questionTerms(question: string): readonly string[] {
  return terms(question.replace(askingWords, " ").replace(grammarWords, " ").replace(commonVerbs, " $& ")).filter(
    (term) => rarity(term) > grammarRarity && !/^[是的]$/.test(term),
  );
}

function sourceTerms(read: readonly ReadStatement[]): ReadonlyMap<number, SourceTerms> {
  const sources = new Map<number, { headed: Set<string>; found: Set<string>; rank: number }>();
  let lastContext: string | undefined;
  for (const { statement, found } of read) {
    const known = sources.get(statement.source) ?? { headed: new Set(), found: new Set(), rank: sources.size };
    if (statement.context !== lastContext || known.headed.size === 0) {
      for (const term of plainTerms(statement.context)) known.headed.add(term);
    }
    lastContext = statement.context;
    for (const term of [...found, ...known.headed]) known.found.add(term);
    sources.set(statement.source, known);
  }
  return sources;
}

/** Words within a word, such as `open` and `telemetry` in `OpenTelemetry`: in full they would make one name outweigh the question. */
const partShare = 0.25;

/** Rarity of the words as they are written and among the statements; a word of every statement tells little. */
function termWeights(asked: readonly string[], read: readonly ReadStatement[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  let whole = "";
  for (const written of asked) {
    const term = plainForm(written);
    const isPart = whole.length > written.length && whole.includes(written);
    if (!isPart) whole = isUnspaced(written) ? "" : written;
    const holding = read.filter(({ found }) => found.has(term)).length;
    const weight = (isPart ? partShare : 1) * rarity(written) ** 1.5 * Math.log(2 + (read.length + 10) / (holding + 3));
    weights.set(term, Math.max(weights.get(term) ?? 0, weight));
  }
  return weights;
}
