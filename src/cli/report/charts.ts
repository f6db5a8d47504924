import { quantile, type Interval } from "../../evaluate/statistics.js";
import { count, duration } from "../output/figures.js";
import type { Chart } from "./draw-chart.js";

/** A mean of scores from 0 to 1, with the interval in which it may lie. */
export interface IntervalRow {
  readonly name: string;
  readonly mean: number;
  readonly interval: Interval;
}

const rowHeight = 26;
const axisHeight = 46;

/** A dot for each mean, and a line for its interval. */
export function intervalChart(title: string, rows: readonly IntervalRow[]): Chart {
  const values = rows.map(({ name, mean, interval: [low, high] }) => {
    const description = `${name}: ${mean.toFixed(3)}, ${low.toFixed(3)} to ${high.toFixed(3)}`;
    return { name, mean, low, high, description };
  });
  const ends = rows.flatMap(({ interval }) => interval);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const room = Math.max(0.02, (most - least) * 0.05);
  const domain = [Math.max(0, least - room), Math.min(1, most + room)];
  const x = { type: "quantitative", scale: { domain, nice: false }, axis: { title: null, tickCount: 5 } };
  return {
    title,
    label: `${title} with 95 % intervals. ${values.map(({ description }) => description).join("; ")}.`,
    height: rows.length * rowHeight + axisHeight,
    spec: {
      data: { values },
      encoding: { y: rowsByName, description: { field: "description" } },
      layer: [
        {
          mark: { type: "rule", strokeWidth: 3, strokeCap: "round", color: "var(--series-1)", opacity: 0.55 },
          encoding: { x: { ...x, field: "low" }, x2: { field: "high" } },
        },
        {
          mark: { type: "point", filled: true, size: 90, opacity: 1, color: "var(--series-1)" },
          encoding: { x: { ...x, field: "mean" } },
        },
      ],
    },
  };
}

/** Rows in the order of the data. */
const rowsByName = {
  field: "name",
  type: "nominal",
  sort: null,
  axis: { title: null, ticks: false, domain: false, labelPadding: 10 },
};

/** The spread of durations, one row for each name: all but the slowest and fastest twentieth, the middle half, and the median. */
export function latencyChart(
  title: string,
  rows: readonly { readonly name: string; readonly durationsMs: readonly number[] }[],
): Chart {
  const values = rows
    .filter(({ durationsMs }) => durationsMs.length > 0)
    .map(({ name, durationsMs }) => {
      const sorted = durationsMs.toSorted((a, b) => a - b);
      const [p5, p25, p50, p75, p95] = [0.05, 0.25, 0.5, 0.75, 0.95].map((share) => quantile(sorted, share));
      const description =
        `${name}: median ${milliseconds(p50!)}, half of them ${milliseconds(p25!)} to ${milliseconds(p75!)}, ` +
        `95 % below ${milliseconds(p95!)}`;
      return { name, p5, p25, p50, p75, p95, description };
    });
  const x = {
    type: "quantitative",
    // Runs with a reranker or a remote model take many times as long as others.
    scale: { type: "log", nice: false, padding: 12 },
    axis: { title: "milliseconds, logarithmic", tickCount: 5, format: "~r" },
  };
  const from = (low: string, high: string) => ({ x: { ...x, field: low }, x2: { field: high } });
  return {
    title,
    label: `${title}. ${values.map(({ description }) => description).join("; ")}.`,
    height: values.length * rowHeight + axisHeight + 18,
    spec: {
      data: { values },
      encoding: { y: rowsByName, description: { field: "description" } },
      layer: [
        { mark: { type: "rule", strokeWidth: 1.5, color: "var(--soft)" }, encoding: from("p5", "p95") },
        { mark: { type: "bar", height: 12, color: "var(--series-1)", opacity: 0.55 }, encoding: from("p25", "p75") },
        {
          mark: { type: "tick", thickness: 3, size: 16, color: "var(--ink)" },
          encoding: { x: { ...x, field: "p50" } },
        },
      ],
    },
  };
}

function milliseconds(value: number): string {
  return value < 1000 ? `${Number(value.toPrecision(3))} ms` : duration(value / 1000);
}

/** Number of values from `from` to below `to`. */
export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

const maxBins = 24;

/** Counts whole numbers, 0 or more, in at most 24 bins from 0 on, each a round number wide. */
export function histogramOf(values: readonly number[]): readonly Bin[] {
  const max = values.reduce((most, value) => Math.max(most, value), 0);
  const width = roundWidth((max + 1) / maxBins);
  const bins = Array.from({ length: Math.ceil((max + 1) / width) }, (_, index) => ({
    from: index * width,
    to: (index + 1) * width,
    count: 0,
  }));
  for (const value of values) bins[Math.floor(value / width)]!.count++;
  return bins;
}

/** The next number of 1, 2, 5, 10, 20, 50, … */
function roundWidth(least: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(least)));
  return [1, 2, 5, 10].map((step) => step * power).find((width) => width >= least)!;
}

export function histogramChart(
  title: string,
  bins: readonly Bin[],
  axis: { readonly x: string; readonly y: string },
): Chart {
  const values = bins.map((bin) => ({
    ...bin,
    description: `${bin.from} to ${bin.to - 1} ${axis.x}: ${count(bin.count)} ${axis.y}`,
  }));
  const most = bins.reduce(
    (best, bin) => (bin.count > best.count ? bin : best),
    bins[0] ?? { from: 0, to: 1, count: 0 },
  );
  return {
    title,
    label: `${title}: most often ${most.from} to ${most.to - 1} ${axis.x}, ${count(most.count)} ${axis.y}.`,
    height: 260,
    spec: {
      data: { values },
      mark: { type: "bar", color: "var(--series-1)" },
      encoding: {
        x: {
          field: "from",
          type: "quantitative",
          bin: { binned: true, step: bins[0]?.to ?? 1 },
          axis: { title: axis.x, grid: false, tickCount: 6 },
        },
        x2: { field: "to" },
        y: { field: "count", type: "quantitative", axis: { title: axis.y, tickCount: 5 } },
        description: { field: "description" },
      },
    },
  };
}

/** A line that rises with every step. */
export function growthChart(
  title: string,
  points: readonly { readonly x: number; readonly y: number }[],
  axis: { readonly x: string; readonly y: string },
): Chart {
  const last = points.at(-1) ?? { x: 0, y: 0 };
  return {
    title,
    label: `${title}: rises to ${count(last.y)} ${axis.y} at ${count(last.x)} ${axis.x}.`,
    height: 260,
    spec: {
      data: { values: points },
      mark: {
        type: "area",
        interpolate: "step-after",
        color: "var(--series-1)",
        fillOpacity: 0.18,
        line: { color: "var(--series-1)" },
      },
      encoding: {
        x: {
          field: "x",
          type: "quantitative",
          axis: { title: axis.x, grid: false, tickCount: 6 },
          scale: { nice: false },
        },
        y: { field: "y", type: "quantitative", axis: { title: axis.y, tickCount: 5 } },
      },
    },
  };
}

export interface MapPoint {
  readonly x: number;
  readonly y: number;
  /** Tooltip of the point. */
  readonly label: string;
  /** One of the page's colours, such as `var(--series-1)`. */
  readonly colour: string;
}

/** Points of a plane whose directions have no unit. */
export function mapChart(title: string, label: string, points: readonly MapPoint[]): Chart {
  const place = (field: "x" | "y") => ({ field, type: "quantitative", axis: null, scale: { zero: false } });
  return {
    title,
    label,
    height: 420,
    scales: true,
    spec: {
      data: { values: points },
      mark: { type: "circle", size: 34, opacity: 0.7 },
      encoding: {
        x: place("x"),
        y: place("y"),
        color: { field: "colour", type: "nominal", scale: null },
        description: { field: "label" },
      },
    },
  };
}
