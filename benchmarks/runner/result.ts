import { z } from "zod";
import type { Aim } from "./benchmark.js";

/** Schema of `benchmarks/results/NAME.json`. Ratios and medians are computed by its reader. */
export const resultSchema = z.strictObject({
  format: z.literal(1),
  benchmark: z.string(),
  question: z.string(),
  method: z.string(),
  /** The contender that ratios are made to. */
  beside: z.string(),
  measures: z.record(z.string(), z.strictObject({ unit: z.string(), better: z.enum(["lower", "higher"]) })),
  /** How large each contender is, where contenders are sizes. */
  scale: z.record(z.string(), z.number()).optional(),
  size: z.record(z.string(), z.number()),
  aims: z.array(
    z.strictObject({
      contender: z.string(),
      measure: z.union([z.string(), z.array(z.string()).readonly()]),
      beside: z.string().optional(),
      less: z.string().optional(),
      share: z.number().optional(),
      exponent: z.literal(true).optional(),
      atMost: z.number().optional(),
      atLeast: z.number().optional(),
    }),
  ),
  rows: z.array(
    z.strictObject({
      contender: z.string(),
      kind: z.enum(["citewell", "peer", "limit"]),
      /** Why it did not run, or what was wrong with its result. */
      skipped: z.string().optional(),
      failed: z.string().optional(),
      /** One entry for each round, with `wall` and `CPU` of what was timed. */
      runs: z.array(z.record(z.string(), z.number())),
    }),
  ),
  setting: z.strictObject({
    at: z.iso.datetime(),
    command: z.string(),
    commit: z.string(),
    /** Whether files differed from the commit. */
    dirty: z.boolean(),
    node: z.string(),
    machine: z.strictObject({
      cpu: z.string(),
      cores: z.int(),
      memoryBytes: z.int(),
      platform: z.string(),
      /** Processes that wanted a core when the benchmark started, over one minute. */
      load: z.number(),
    }),
    versions: z.record(z.string(), z.string()),
    corpus: z.string(),
  }),
});
export type Result = z.infer<typeof resultSchema>;
export type ResultRow = Result["rows"][number];

export function parseResult(json: string): Result {
  return resultSchema.parse(JSON.parse(json));
}

/** The time of what was timed, which every run has beside the benchmark's own measures. */
export const timeMeasures = {
  wall: { unit: "s", better: "lower" },
  CPU: { unit: "s", better: "lower" },
} as const;

/** The middle of the values, and the least and the greatest. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { median, least: sorted[0]!, most: sorted.at(-1)! };
}

export function valuesOf({ rows }: Result, contender: string, measure: string): readonly number[] {
  const runs = rows.find((row) => row.contender === contender)?.runs ?? [];
  return runs.flatMap((run) => run[measure] ?? []);
}

/** Ratios of the runs of the same round, which met the same load of the machine. */
export function ratiosOf(result: Result, contender: string, measure: string, beside: string): readonly number[] {
  return paired(result, contender, measure, beside).flatMap(([value, base]) => (base === 0 ? [] : value / base));
}

/** The values of two contenders in the same rounds. */
function paired(result: Result, contender: string, measure: string, other: string): readonly [number, number][] {
  const others = valuesOf(result, other, measure);
  return valuesOf(result, contender, measure).flatMap((value, round): [number, number][] =>
    others[round] === undefined ? [] : [[value, others[round]]],
  );
}

/**
 * The value that an aim is about: the median of the values, ratios or differences of the rounds; of several measures, the
 * worst of the best `share`. `undefined` where one was not measured.
 */
export function aimValue(result: Result, aim: Aim): number | undefined {
  const { contender, measure, beside, less, share = 1, exponent, atMost } = aim;
  const medians = [measure].flat().flatMap((each) => {
    if (exponent) return overallExponent(result, each, contender) ?? [];
    if (beside !== undefined) return spreadOf(ratiosOf(result, contender, each, beside))?.median ?? [];
    if (less === undefined) return spreadOf(valuesOf(result, contender, each))?.median ?? [];
    return spreadOf(paired(result, contender, each, less).map(([value, other]) => value - other))?.median ?? [];
  });
  if (medians.length < [measure].flat().length) return undefined;
  const best = medians.toSorted((one, other) => (atMost === undefined ? other - one : one - other));
  return best[Math.ceil(share * best.length) - 1];
}

export function isMet({ atMost, atLeast }: Aim, value: number): boolean {
  return (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast);
}

/** The powers of size by which a measure grows from each contender to the next larger one. */
export function exponentsOf(result: Result, measure: string): readonly number[] {
  const points = growthOf(result, measure);
  return points.slice(1).map((point, at) => slope([points[at]!, point]));
}

/** The power of size by which a measure grows over the sizes up to that of `last`: the line of least squares through logarithms. */
export function overallExponent(result: Result, measure: string, last?: string): number | undefined {
  const most = last === undefined ? Infinity : Math.log(result.scale?.[last] ?? 0);
  const points = growthOf(result, measure);
  const missing = last !== undefined && !points.some(({ size }) => size === most);
  const meant = points.filter(({ size }) => size <= most);
  return meant.length < 2 || missing ? undefined : slope(meant);
}

interface Point {
  readonly size: number;
  readonly cost: number;
}

/** The logarithms of size and cost. */
function growthOf(result: Result, measure: string): readonly Point[] {
  return Object.entries(result.scale ?? {}).flatMap(([contender, size]) => {
    const cost = spreadOf(valuesOf(result, contender, measure))?.median;
    return cost === undefined || cost <= 0 ? [] : [{ size: Math.log(size), cost: Math.log(cost) }];
  });
}

function slope(points: readonly Point[]): number {
  const mean = (of: keyof Point) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [size, cost] = [mean("size"), mean("cost")];
  const sum = (of: (point: Point) => number) => points.reduce((total, point) => total + of(point), 0);
  return sum((point) => (point.size - size) * (point.cost - cost)) / sum((point) => (point.size - size) ** 2);
}
