/**
 * The process of one run of one contender: `node one-run.js <module of the benchmark> <contender>`. It gets what the run
 * needs by a message and answers with what was measured.
 */
import { once } from "node:events";
import type { Benchmark, Measures, Size } from "./benchmark.js";
import { Stopwatch } from "./timed.js";

export interface RunRequest {
  readonly size: Size;
  readonly corpus: string;
  readonly given: unknown;
}
export type RunReply = { readonly measures: Measures } | { readonly failed: string };

const [module, name] = process.argv.slice(2) as [string, string];
const [[request], { benchmark }] = (await Promise.all([once(process, "message"), import(module)])) as [
  [RunRequest],
  { readonly benchmark: Benchmark<unknown, unknown> },
];
process.send!(await run(request), () => process.exit());

async function run({ size, corpus, given }: RunRequest): Promise<RunReply> {
  const stopwatch = new Stopwatch();
  try {
    const subject = await benchmark.contenders.find((contender) => contender.name === name)!.load();
    const measures = await benchmark.measure(subject, { size, corpus, given, timed: stopwatch.timed });
    const { wallSeconds: wall, cpuSeconds: CPU } = stopwatch;
    return { measures: wall === 0 ? measures : { ...measures, wall, CPU } };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}
