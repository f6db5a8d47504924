import fc from "fast-check";
import { expect, test } from "vitest";
import { histogramChart, histogramOf, intervalChart, mapChart } from "../../src/cli/report/charts.js";
import { reportPage, type ReportSection } from "../../src/cli/report/page.js";
import { runWithPackages } from "../support/bare-install.js";

const hostile = `</title><script>alert(1)</script>"><img src=x onerror='alert(2)'>&`;

const page = (...sections: ReportSection[]) => reportPage({ title: hostile, text: hostile, sections });

test("no text of a document, wherever it is shown, becomes markup", async () => {
  const html = await page({
    heading: hostile,
    text: hostile,
    charts: [
      intervalChart(hostile, [{ name: hostile, mean: 0.5, interval: [0.4, 0.6] }]),
      mapChart(hostile, hostile, [{ x: 0, y: 1, label: hostile, colour: "var(--series-1)" }]),
    ],
    legend: [{ label: hostile, colour: "var(--series-1)" }],
    tables: [{ head: [hostile], rows: [[hostile]] }],
  });
  const tags = new Set([...html.matchAll(/<([a-z]+)/g)].map(([, tag]) => tag));
  expect([...tags].filter((tag) => ["script", "img"].includes(tag!))).toEqual([]);
  expect(html.replace(/"[^"]*"/g, "")).not.toMatch(/<[^>]*onerror/);
  expect(html.match(/&lt;script&gt;alert\(1\)/g)!.length).toBeGreaterThan(8);
});

test("a page needs nothing but itself, and each drawing has a name and each mark a title", async () => {
  const chart = histogramChart("Chunks by length", histogramOf([1, 2, 2, 30]), { x: "tokens", y: "chunks" });
  const html = await reportPage({ title: "Lengths", text: "", sections: [{ heading: "Lengths", charts: [chart] }] });
  expect([...html.matchAll(/(?:src|href|url)\s*[=(]\s*\S+|@import/g)].map(([found]) => found)).toEqual([]);
  expect(
    html.match(/<svg [^>]*role="img" aria-label="Chunks by length: most often 2 to 3 tokens, 2 chunks\."/g),
  ).toHaveLength(2);
  expect(html).toContain("<title>2 to 3 tokens: 2 chunks</title>");
});

test("a chart for narrow screens is drawn anew, so that its words keep their size", async () => {
  const html = await page({
    heading: "Scores",
    charts: [intervalChart("nDCG", [{ name: "a", mean: 0.5, interval: [0.4, 0.6] }])],
  });
  const sizes = [...html.matchAll(/<svg class="([\w-]+)" viewBox="0 0 (\d+)/g)].map(([, name, width]) => [
    name,
    Number(width),
  ]);
  expect(sizes).toEqual([
    ["wide-only", 540],
    ["narrow", 350],
  ]);
  expect(html).toMatch(/@media \(max-width: 40rem\) \{ svg\.wide-only \{ display: none \}/);
});

test("the axis of scores ends where scores can end", async () => {
  const rows = [
    { name: "none", mean: 0, interval: [0, 0] as const },
    { name: "all, with a name that takes much of a narrow screen", mean: 0.9, interval: [0.8, 1] as const },
  ];
  const html = await page({ heading: "Scores", charts: [intervalChart("Scores", rows)] });
  const ticks = [...html.matchAll(/>(−?\d\.\d+)<\/text>/g)].map(([, tick]) => Number(tick!.replace("−", "-")));
  expect([Math.min(...ticks), Math.max(...ticks)]).toEqual([0, 1]);
});

test("where the charting packages are not installed, the error says what to install", async () => {
  const script = `import { loadVega } from "./dist/cli/report/draw-chart.js";
    console.log(await loadVega().catch(({ code, message }) => code + " " + message));`;
  expect(await runWithPackages(["hono"], script)).toMatch(/^missing-package .*npm install vega vega-lite$/);
});

test("every value is counted in the bin that holds it, and bins are round and at most 24", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100_000), { minLength: 1, maxLength: 200 }), (values) => {
      const bins = histogramOf(values);
      expect(bins.length).toBeLessThanOrEqual(24);
      expect(String(bins[0]!.to)).toMatch(/^[125]0*$/);
      for (const { from, to, count } of bins) {
        expect(count).toBe(values.filter((value) => value >= from && value < to).length);
      }
      expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
    }),
  );
});
