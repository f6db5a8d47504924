import { terms } from "../../text/terms.js";
import { definitionOf, type Definition } from "../definition.js";
import { questionTerms } from "../question-terms.js";
import { rarity } from "../rarity.js";
import { namesIn, type AskedName } from "./names.js";
import type { Statement } from "./statements.js";

/** A statement with its terms. */
export interface ReadStatement {
  readonly statement: Statement;
  /** In its order, with repetitions. */
  readonly words: readonly string[];
  readonly found: ReadonlySet<string>;
}

/** A question as it is held against statements. */
export interface QuestionReading {
  readonly question: string;
  readonly definition: Definition | undefined;
  /** What it is about. */
  readonly asked: readonly string[];
  /** All of its terms, or those of what is to be defined, in order. */
  readonly wording: readonly string[];
  /** What each of the asked terms counts for. */
  readonly weights: ReadonlyMap<string, number>;
  readonly names: readonly AskedName[];
  /** In the order of the statements. */
  readonly read: readonly ReadStatement[];
  /** Terms of the titles and headings of each source. */
  readonly headed: ReadonlyMap<number, ReadonlySet<string>>;
}

/** Reads a question and the statements that may answer it, once for all who judge them. */
export function readQuestion(question: string, all: readonly Statement[]): QuestionReading {
  const definition = definitionOf(question);
  const asked = questionTerms(definition?.subject ?? question);
  const read = all.map((statement) => {
    const words = terms(statement.text);
    return { statement, words, found: new Set(words) };
  });
  const headed = headingsBySource(all);
  return {
    question,
    definition,
    asked,
    wording: terms(definition?.subject ?? question),
    weights: termWeights(asked, read, headed),
    names: namesIn(question),
    read,
    headed,
  };
}

function headingsBySource(all: readonly Statement[]): ReadonlyMap<number, ReadonlySet<string>> {
  const headed = new Map<number, Set<string>>();
  let last: string | undefined;
  for (const { source, context } of all) {
    const known = headed.get(source) ?? new Set<string>();
    if (context !== last || known.size === 0) for (const term of terms(context)) known.add(term);
    headed.set(source, known);
    last = context;
  }
  return headed;
}

/** By how much more a term weighs that stands in the headings of all sources. */
const topicShare = 0.6;

/**
 * Rarity of the words themselves, and of the words among the statements; a word of every statement tells little. What
 * many of the sources are headed by is what the question is about.
 */
function termWeights(
  asked: readonly string[],
  read: readonly ReadStatement[],
  headed: QuestionReading["headed"],
): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const term of asked) {
    const holding = read.filter(({ found }) => found.has(term)).length;
    const known = rarity(term);
    const heading = [...headed.values()].filter((one) => one.has(term)).length / Math.max(1, headed.size);
    const topic = 1 + topicShare * heading;
    weights.set(term, topic * known ** 1.5 * Math.log(2 + (read.length + 10) / (holding + 3)));
  }
  return weights;
}
