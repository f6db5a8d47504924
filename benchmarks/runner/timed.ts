import { readdirSync, readFileSync } from "node:fs";
import type { RunContext, Timed } from "./benchmark.js";

/** Adds up the time of all that is done through `timed`. */
export class Stopwatch {
  wallSeconds = 0;
  cpuSeconds = 0;

  readonly timed: RunContext<never>["timed"] = async <Result>(
    work: () => Result | Promise<Result>,
  ): Promise<Timed<Result>> => {
    const [startedAt, cpuBefore] = [performance.now(), cpuSeconds()];
    const result = await work();
    const wallSeconds = (performance.now() - startedAt) / 1000;
    const spent = cpuSeconds() - cpuBefore;
    this.wallSeconds += wallSeconds;
    this.cpuSeconds += spent;
    return { result, wallSeconds, cpuSeconds: spent };
  };
}

/** User and system time of this process with all of its threads, and of its children, ended or not. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + (process.platform === "linux" ? childSeconds(process.pid) : 0);
}

/** Linux counts in hundredths of a second (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html). */
const ticksPerSecond = 100;

function childSeconds(pid: number): number {
  try {
    const living = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
    const { childTicks } = ticksOf(pid);
    const seconds = living.map((child) => ticksOf(child).ownTicks / ticksPerSecond + childSeconds(child));
    return seconds.reduce((sum, each) => sum + each, childTicks / ticksPerSecond);
  } catch {
    // The process, or one of its threads, ended between the two looks.
    return 0;
  }
}

function ticksOf(pid: number): { readonly ownTicks: number; readonly childTicks: number } {
  // The name of the command, which stands in brackets before the numbers, can hold spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ").map(Number);
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
  return { ownTicks: user + system, childTicks: childUser + childSystem };
}
