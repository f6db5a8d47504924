/** Writes what a benchmark measured as one page of charts, where its command line asks for that by `--report FILE`. */
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { latencyChart } from "../src/cli/report/charts.js";
import { reportPage, type ReportSection } from "../src/cli/report/page.js";

/** The words of the command line without `--report FILE`, and that file. */
export function readCommandLine(): { readonly words: readonly string[]; readonly file: string | undefined } {
  const words = process.argv.slice(2);
  const at = words.indexOf("--report");
  if (at < 0) return { words, file: undefined };
  const [, file] = words.splice(at, 2);
  if (file === undefined) throw new Error("--report needs the name of a file, such as report.html");
  return { words, file };
}

export async function writeReport(file: string | undefined, title: string, sections: readonly ReportSection[]) {
  if (file === undefined) return;
  const command = `node build/benchmarks/${process.argv[1]!.split("/").at(-1)} ${process.argv.slice(2).join(" ")}`;
  const text = `${command}, on ${cpus().length} x ${cpus()[0]?.model ?? "an unknown processor"}, Node ${process.version}`;
  await writeFile(file, await reportPage({ title, text, sections }));
  console.log(`\nReport: ${file}`);
}

/** How long things took, as a chart and a table. */
export function timesSection(
  heading: string,
  text: string,
  rows: readonly { readonly name: string; readonly durationsMs: readonly number[] }[],
): ReportSection {
  const at = (times: readonly number[], share: number) => {
    const sorted = times.toSorted((a, b) => a - b);
    return `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1)} ms`;
  };
  return {
    heading,
    text,
    charts: [latencyChart(heading, rows)],
    tables: [
      {
        head: ["", "median", "95 % below", "99 % below"],
        rows: rows.map(({ name, durationsMs }) => [name, ...[0.5, 0.95, 0.99].map((share) => at(durationsMs, share))]),
      },
    ],
  };
}
