import { html, raw } from "hono/html";
import { drawChart, type Chart } from "./draw-chart.js";

/** Markup in which every text was escaped. */
export type Html = ReturnType<typeof html>;

/** A cell of a table. Texts and numbers are escaped and lined up; `html` may hold markup. */
export type Cell = string | number | Html;

export interface Table {
  /** Headings of the columns. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export interface ReportSection {
  readonly heading: string;
  /** Explains the charts and how their data were measured. */
  readonly text?: Cell;
  /** Charts, drawn side by side when there is room. */
  readonly charts?: readonly Chart[];
  /** Explains the colours of the charts, by the names of `seriesColour`. */
  readonly legend?: readonly { readonly label: string; readonly colour: string }[];
  /** Numbers of the charts, for people who do not see them and for copying. */
  readonly tables?: readonly Table[];
  /** Whether the tables are collapsed until clicked, because the charts suffice. Default: false. */
  readonly folded?: boolean;
}

export interface Report {
  readonly title: string;
  readonly text: string;
  readonly sections: readonly ReportSection[];
}

/**
 * One self-contained page, without scripts, fonts or network, for light and dark screens of any width.
 *
 * @throws OptionsError `missing-package` when there are charts, and what draws them is not installed.
 */
export async function reportPage({ title, text, sections }: Report): Promise<string> {
  const drawn: Html[] = [];
  for (const section of sections) drawn.push(await drawSection(section));
  const page = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${raw(style)}
        </style>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          <p>${text}</p>
          ${drawn}
        </main>
      </body>
    </html> `;
  return String(page);
}

async function drawSection({
  heading,
  text,
  charts = [],
  legend = [],
  tables = [],
  folded = false,
}: ReportSection): Promise<Html> {
  const figures: Html[] = [];
  for (const chart of charts) {
    figures.push(
      html`<figure>
        <figcaption>${chart.title}</figcaption>
        ${await drawChart(chart)}
      </figure> `,
    );
  }
  const drawn = tables.map((table) => drawTable(heading, table));
  return html`<section>
    <h2>${heading}</h2>
    ${text === undefined ? "" : html`<p>${text}</p>`}
    ${figures.length > 0 ? html`<div class="charts">${figures}</div>` : ""}
    ${
      legend.length > 0
        ? html`<ul class="legend">
            ${legend.map(({ label, colour }) => html`<li><span style="background:${colour}"></span>${label}</li>`)}
          </ul>`
        : ""
    }
    ${
      folded
        ? html`<details>
            <summary>As a table</summary>
            ${drawn}
          </details>`
        : drawn
    }
  </section>`;
}

function drawTable(caption: string, { head, rows }: Table): Html {
  const row = (cells: readonly Cell[]) =>
    html`<tr>
      ${cells.map((cell, column) => (column === 0 ? html`<th scope="row">${cell}</th>` : html`<td>${cell}</td>`))}
    </tr> `;
  return html`<div class="wide" tabindex="0" role="region" aria-label="${`Table: ${caption}`}">
    <table>
      <thead>
        <tr>
          ${head.map((cell) => html`<th scope="col">${cell}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(row)}
      </tbody>
    </table>
  </div>`;
}

// The series' colours are those of Okabe and Ito, which people who see few colours can tell apart
// (https://jfly.uni-koeln.de/color/), lighter on a dark page.
const style = `
:root { color-scheme: light dark; --ink: #1b1b1f; --soft: #5c5c66; --line: #d9d9de; --page: #fff; --better: #146c2e; --worse: #b3261e;
  --series-1: #0072b2; --series-2: #d55e00; --series-3: #009e73; --series-4: #cc79a7; --series-5: #b58900; --series-6: #56b4e9; --other: #8d8d96 }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e4e9; --soft: #a5a5b0; --line: #3a3a42; --page: #17171a; --better: #7bd88f; --worse: #ff8a80;
  --series-1: #58a9e6; --series-2: #ff9357; --series-3: #3ccf9f; --series-4: #e9a3c9; --series-5: #e8bd3c; --series-6: #9ad5f7; --other: #85858f } }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; color: var(--ink); background: var(--page) }
main { max-width: 64rem; margin: 0 auto; padding: 1rem 1rem 3rem }
h1 { font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere } h2 { font-size: 1.2rem; margin: 2.4rem 0 .4rem } p { max-width: 48rem }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 1rem 2rem }
figure { margin: .5rem 0 } figcaption { font-weight: 600 } svg { display: block; width: 100%; max-width: 42rem; height: auto; overflow: visible } summary { color: var(--soft); cursor: pointer; margin-top: .6rem } svg.narrow { display: none }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; overflow-wrap: anywhere }
.legend span { display: inline-block; width: .75em; height: .75em; border-radius: 50%; margin-right: .45em }
.wide { overflow-x: auto; margin-top: .8rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .95rem }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line); vertical-align: top }
thead th { white-space: nowrap; color: var(--soft); font-weight: 600 } tbody th { font-weight: 400; overflow-wrap: anywhere; min-width: 7rem }
th:first-child { text-align: left; padding-left: 0 }
small { color: var(--soft); white-space: nowrap } .better { color: var(--better) } .worse { color: var(--worse) }
@media (max-width: 40rem) { svg.wide-only { display: none } svg.narrow { display: block } th, td { padding: .3rem .35rem } }
@media print { svg.wide-only { display: block } svg.narrow { display: none } }
`;
