import { compareMetrics, type MetricChange, significance } from "../evaluate/compare.js";
import { mean } from "../evaluate/statistics.js";
import { BudgetReached } from "./chat-budget.js";

/** Questions of the first round: with fewer, good settings are lost by chance. */
const firstQuestions = 32;

/** One round: the settings in it by index, with their means over so many questions. */
export interface TuningRound {
  /** Number of questions. */
  readonly questions: number;
  /** Index of the settings and mean gain, best first. */
  readonly means: readonly { readonly settings: number; readonly mean: number }[];
}

export interface Choice {
  readonly rounds: readonly TuningRound[];
  /** The best settings of the last round that was measured whole, or the defaults where these are not clearly worse. */
  readonly winner: number;
  /** The winner beside the first settings on the questions held back; `undefined` where they are the same, or were not measured. */
  readonly change: MetricChange | undefined;
  /** Means of both on the questions held back. */
  readonly heldBack: { readonly winner: number; readonly present: number } | undefined;
  /** Why it ended before its time. */
  readonly stopped: string | undefined;
}

/** Gains of settings on questions, in the order of the questions; throws BudgetReached where the budget ends. */
type Measure = (settings: number, questions: readonly number[]) => Promise<readonly number[]>;

/**
 * Successive halving (Jamieson and Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter Optimization", 2016): all settings
 * on few questions, the better half on twice as many, and so on. Settings 0 are those in use, and stay to the end. The questions
 * held back choose nothing, so that they can tell whether the choice is better.
 *
 * @param defaults index of the library's defaults, which stay to the end, too. They were chosen over many collections, so the best
 *   of a hundred questions takes their place only where it is clearly better: among many settings one is ahead by chance.
 */
export async function successiveHalving(
  count: number,
  choosing: readonly number[],
  heldBack: readonly number[],
  measure: Measure,
  defaults?: number,
): Promise<Choice> {
  const rounds: TuningRound[] = [];
  let alive = Array.from({ length: count }, (_, index) => index);
  let winner = 0;
  try {
    for (
      let questions = Math.min(firstQuestions, choosing.length);
      ;
      questions = Math.min(2 * questions, choosing.length)
    ) {
      const asked = choosing.slice(0, questions);
      const gains = new Map<number, readonly number[]>();
      for (const settings of alive) gains.set(settings, await measure(settings, asked));
      const means = [...gains].map(([settings, ofEach]) => ({ settings, mean: mean(ofEach) }));
      const ranked = means.toSorted((a, b) => b.mean - a.mean || a.settings - b.settings);
      rounds.push({ questions, means: ranked });
      winner = ranked[0]!.settings;
      const ofDefaults = defaults === undefined ? undefined : gains.get(defaults);
      if (ofDefaults && winner !== 0 && !isAhead(gains.get(winner)!, ofDefaults, gains.size)) winner = defaults!;
      if (questions === choosing.length || (alive.length === 1 && winner === 0)) break;
      const better = ranked.slice(0, Math.ceil(ranked.length / 2)).map(({ settings }) => settings);
      alive = [...new Set([0, ...(defaults === undefined ? [] : [defaults]), ...better])];
    }
    if (winner === 0) return { rounds, winner, change: undefined, heldBack: undefined, stopped: undefined };
    const now = await measure(winner, heldBack);
    const before = await measure(0, heldBack);
    const change = changeOf(now, before);
    return { rounds, winner, change, heldBack: { winner: mean(now), present: mean(before) }, stopped: undefined };
  } catch (error) {
    if (!(error instanceof BudgetReached)) throw error;
    return { rounds, winner, change: undefined, heldBack: undefined, stopped: error.message };
  }
}

/** Whether the best of so many settings is ahead by more than it would be by chance, if all were alike (Bonferroni). */
function isAhead(best: readonly number[], ofDefaults: readonly number[], count: number): boolean {
  const { difference, p } = changeOf(best, ofDefaults);
  return difference > 0 && count * p < significance;
}

function changeOf(now: readonly number[], before: readonly number[]): MetricChange {
  const pairs = now.map((gain, index) => ({ now: { gain }, before: { gain: before[index]! } }));
  return compareMetrics(["gain"], pairs).gain;
}
