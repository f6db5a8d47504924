/** What speaks for a statement being an answer at all, rather than the nearest there is. */
export interface EvidenceFacts {
  /** Share of the question's weight that the statement's source holds, 0 to 1. */
  readonly inSource: number;
  /** Distinct terms of the question, and how many of them the statement lacks. */
  readonly asked: number;
  readonly missing: number;
  /** Share of the question's names that the source holds, 0 to 1. */
  readonly names: number;
  /** Place of the source among the sources, from 0. */
  readonly rank: number;
  /** Share of the question's near pairs of words that stand near each other in the statement, 0 to 1. */
  readonly pairs: number;
}

/**
 * Log-odds that the sources hold the answer, given the best statement. A logistic regression over 1,560 questions of
 * SQuAD 1.1, each with its paragraph among the sources and without it; the 500 questions that `citewell eval --answers`
 * asks of that collection with `--limit-queries 500` are not among them.
 *
 * @param lead By how much the statement's score passes that of the best statement of another source.
 */
export function evidence({ inSource, asked, missing, names, rank, pairs }: EvidenceFacts, lead: number): number {
  return 2.82 * inSource + 0.37 * asked - 0.42 * missing + names - 0.17 * rank + 3.12 * pairs + 0.9 * lead - 4.5;
}

/** Below these odds the statement is no answer. Higher, answers are missed; lower, other subjects are quoted. */
export const leastEvidence = -0.52;

/** Above these odds the statement is the answer in four of five cases. */
export const sureEvidence = 2;
