import { seededRandom } from "../text/random.js";

export interface RandomisationOptions {
  /** Default: 10,000. */
  readonly trials?: number;
  /** Default: 1. The same seed gives the same result. */
  readonly seed?: number;
}

/**
 * How likely a mean difference at least as large, either way, is when the two systems are alike: each query's
 * difference then has either sign with equal chance. The paired randomisation test that Smucker, Allan and Carterette
 * recommend, "A Comparison of Statistical Significance Tests for Information Retrieval Evaluation", CIKM 2007.
 */
export function randomisationTest(differences: readonly number[], options: RandomisationOptions = {}): number {
  const { trials = 10_000, seed = 1 } = options;
  const random = seededRandom(seed);
  // A difference of nothing is nothing with either sign.
  const telling = differences.filter((difference) => difference !== 0);
  const observed = Math.abs(telling.reduce((sum, difference) => sum + difference, 0));
  // Sums of the same numbers in another order differ in the last bits.
  const asLarge = observed - 1e-9 * Math.max(1, observed);
  let reached = 0;
  for (let trial = 0; trial < trials; trial++) {
    let sum = 0;
    for (const difference of telling) sum += random() < 0.5 ? difference : -difference;
    if (Math.abs(sum) >= asLarge) reached++;
  }
  // What was observed is itself one of the possible outcomes, so that no p is 0.
  return (reached + 1) / (trials + 1);
}
