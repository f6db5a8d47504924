import type { Chart } from "../../src/cli/report/draw-chart.js";
import { reportPage, type ReportSection } from "../../src/cli/report/page.js";
import { aimValue, isMet, ratiosOf, type Result, spreadOf, timeMeasures, valuesOf } from "./result.js";
import { described, formatted } from "./tables.js";

/** One self-contained page: for each benchmark its question, a chart for each measure, and the numbers as a table. */
export async function resultsReport(results: readonly Result[]): Promise<string> {
  const { setting } = results[0]!;
  const { cpu, cores } = setting.machine;
  const text = `Commit ${setting.commit}, Node ${setting.node}, ${cores} × ${cpu}, ${setting.at.slice(0, 10)}.`;
  return reportPage({ title: "Benchmarks of citewell", text, sections: results.map(sectionOf) });
}

function sectionOf(result: Result): ReportSection {
  const { benchmark, question, method, setting, rows, aims } = result;
  const measures = Object.entries({ ...result.measures, ...timeMeasures });
  const left = rows.flatMap(({ contender, skipped, failed }) =>
    (failed ?? skipped) === undefined ? [] : [`${contender}: ${failed ?? skipped}.`],
  );
  const judged = aims.flatMap((aim) => {
    const value = aimValue(result, aim);
    return value === undefined
      ? []
      : [`${described(aim)}: ${formatted(value)}, ${isMet(aim, value) ? "met" : "missed"}.`];
  });
  return {
    heading: `${benchmark}: ${question}`,
    text: [method, ...judged, ...left, `${setting.command}; corpus: ${setting.corpus}.`].join(" "),
    charts: measures.flatMap(([name, { unit }]) =>
      result.scale ? growthChart(result, name, unit) : measureChart(result, name, unit),
    ),
    tables: [
      {
        head: ["", ...measures.map(([name, { unit }]) => `${name}, ${unit}`)],
        rows: rows.map(({ contender }) => [contender, ...measures.map(([name]) => shown(result, contender, name))]),
      },
    ],
    folded: true,
  };
}

function shown(result: Result, contender: string, measure: string): string {
  const spread = spreadOf(valuesOf(result, contender, measure));
  const ratio = spreadOf(ratiosOf(result, contender, measure, result.beside));
  return spread === undefined ? "–" : `${formatted(spread.median)}${ratio ? ` (${formatted(ratio.median)} ×)` : ""}`;
}

/** A bar for each contender, and a line from the least to the greatest run. */
function measureChart(result: Result, measure: string, unit: string): readonly Chart[] {
  const values = result.rows.flatMap(({ contender: name }) => {
    const spread = spreadOf(valuesOf(result, name, measure));
    return spread === undefined
      ? []
      : [{ name, ...spread, description: `${name}: ${formatted(spread.median)} ${unit}` }];
  });
  if (values.length === 0) return [];
  const x = { type: "quantitative", axis: { title: unit, tickCount: 5 } };
  return [
    {
      title: measure,
      label: `${measure}. ${values.map(({ description }) => description).join("; ")}.`,
      height: values.length * 26 + 46,
      spec: {
        data: { values },
        encoding: {
          y: { field: "name", type: "nominal", sort: null, axis: { title: null, ticks: false, domain: false } },
          description: { field: "description" },
        },
        layer: [
          {
            mark: { type: "bar", height: 14, color: "var(--series-1)", opacity: 0.7 },
            encoding: { x: { ...x, field: "median" } },
          },
          {
            mark: { type: "rule", strokeWidth: 2, color: "var(--ink)" },
            encoding: { x: { ...x, field: "least" }, x2: { field: "most" } },
          },
        ],
      },
    },
  ];
}

/** Cost against size, both logarithmic: a straight line is a power, and its slope the exponent. */
function growthChart(result: Result, measure: string, unit: string): readonly Chart[] {
  const values = Object.entries(result.scale!).flatMap(([contender, size]) => {
    const cost = spreadOf(valuesOf(result, contender, measure))?.median ?? 0;
    return cost > 0 ? [{ size, cost, description: `${contender}: ${formatted(cost)} ${unit}` }] : [];
  });
  if (values.length === 0) return [];
  const scale = { type: "log", nice: false, padding: 12 };
  return [
    {
      title: measure,
      label: `${measure}. ${values.map(({ description }) => description).join("; ")}.`,
      height: 220,
      spec: {
        data: { values },
        mark: { type: "line", point: { size: 60 }, color: "var(--series-1)" },
        encoding: {
          x: { field: "size", type: "quantitative", scale, axis: { title: "chunks", format: "~s", tickCount: 4 } },
          y: { field: "cost", type: "quantitative", scale, axis: { title: unit, format: "~s", tickCount: 4 } },
          description: { field: "description" },
        },
      },
    },
  ];
}
