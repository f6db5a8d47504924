import type { Aim } from "./benchmark.js";
import {
  aimValue,
  exponentsOf,
  isMet,
  overallExponent,
  ratiosOf,
  type Result,
  spreadOf,
  timeMeasures,
  valuesOf,
} from "./result.js";

/** A result as Markdown: what was asked, how it was measured, a table, and what was aimed at. */
export function resultMarkdown(result: Result): string {
  const { question, method, setting, size, rows, beside } = result;
  const rounds = Math.max(0, ...rows.map(({ runs }) => runs.length));
  const sizes = Object.entries(size).map(([name, value]) => `${name} ${formatted(value)}`);
  const { cpu, cores, memoryBytes, load } = setting.machine;
  const repeated = rounds > 1 ? `Medians of ${rounds} rounds, and the range of the ratios.` : "One round.";
  const where =
    `\`${setting.command}\` at ${setting.commit}${setting.dirty ? " with changes" : ""}, ${setting.at.slice(0, 10)}, ` +
    `Node ${setting.node}, ${cores} × ${cpu}, ${Math.round(memoryBytes / 1e9)} GB, load ${formatted(load)}; ` +
    [`corpus: ${setting.corpus}`, ...sizes].join(", ");
  return [
    `**${question}** ${method}`,
    `${where}. ${repeated} Ratios (×) are to _${beside}_.`,
    table(result),
    ...exponentLines(result),
    ...aimLines(result),
    ...versionsLine(result),
  ].join("\n\n");
}

function table(result: Result): string {
  const measures = { ...result.measures, ...timeMeasures };
  const used = Object.entries(measures).filter(([name]) =>
    result.rows.some(({ runs }) => runs.some((run) => name in run)),
  );
  const head = ["", ...used.map(([name, { unit }]) => `${name}, ${unit}`)];
  const ran = result.rows.filter(
    ({ runs, skipped, failed }) =>
      [skipped, failed].some((problem) => problem !== undefined) || runs.some((run) => Object.keys(run).length > 0),
  );
  const rows = ran.map(({ contender, skipped, failed }) => {
    const problem = failed === undefined ? skipped : `**failed**: ${failed}`;
    const cells = used.map(([name]) => cell(result, contender, name));
    return [contender, ...(problem === undefined ? cells : [oneLine(problem), ...cells.slice(1).map(() => "")])];
  });
  return markdownTable(head, rows);
}

/** A table whose first column holds names, and the others numbers. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

function cell(result: Result, contender: string, measure: string): string {
  const spread = spreadOf(valuesOf(result, contender, measure));
  if (spread === undefined) return "–";
  const ratio = contender === result.beside ? undefined : spreadOf(ratiosOf(result, contender, measure, result.beside));
  if (ratio === undefined) return formatted(spread.median);
  const range = ratio.least === ratio.most ? "" : `, ${formatted(ratio.least)}–${formatted(ratio.most)}`;
  return `${formatted(spread.median)} (${formatted(ratio.median)} ×${range})`;
}

function exponentLines(result: Result): readonly string[] {
  const measures = Object.keys({ ...result.measures, ...timeMeasures });
  const exponents = measures.flatMap((name) => {
    const [overall, ...steps] = [overallExponent(result, name), ...exponentsOf(result, name)];
    return overall === undefined ? [] : [`${name} ${formatted(overall)} (${steps.map(formatted).join(", ")})`];
  });
  return exponents.length === 0
    ? []
    : [`Exponents over all sizes, and in brackets from each size to the next: ${exponents.join("; ")}.`];
}

function aimLines(result: Result): readonly string[] {
  const lines = result.aims.map((aim) => {
    const value = aimValue(result, aim);
    if (value === undefined) return `- ${described(aim)}: not measured`;
    return `- ${described(aim)}: ${isMet(aim, value) ? formatted(value) : `**${formatted(value)}**, missed`}`;
  });
  return lines.length === 0 ? [] : [`Aims:\n\n${lines.join("\n")}`];
}

/** An aim in words, such as `p50 of citewell, × bare SQL, ≤ 1.3`. */
export function described({ contender, measure, beside, less, share = 1, exponent, atMost, atLeast }: Aim): string {
  const measures = [measure].flat();
  const what = measures.length > 4 ? `all ${measures.length} measures` : measures.join(", ");
  return [
    exponent ? `exponent of ${what} over the sizes up to ${contender}` : `${what} of ${contender}`,
    ...(beside === undefined ? [] : [`× ${beside}`]),
    ...(less === undefined ? [] : [`− ${less}`]),
    ...(share === 1 ? [] : [`on ${share * 100} % of them`]),
    atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`,
  ].join(", ");
}

function versionsLine({ setting: { versions } }: Result): readonly string[] {
  return [
    `Versions: ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", ")}.`,
  ];
}

/** Three digits that count, as people write them. */
export function formatted(value: number): string {
  if (value === 0 || Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("|", "\\|");
}
