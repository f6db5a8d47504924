import { html, raw } from "hono/html";
import type * as Vega from "vega";
import type * as VegaLite from "vega-lite";
import { OptionsError } from "../../core/errors.js";

/** A chart in the grammar of Vega-Lite (https://vega.github.io/vega-lite/docs/). */
export interface Chart {
  readonly title: string;
  /** One sentence that describes the chart to people who cannot see it. */
  readonly label: string;
  /** Marks and their data. A mark's `description` is shown where the mouse rests on it. */
  readonly spec: object;
  /** Height of the drawing, in pixels. */
  readonly height: number;
  /** Whether the chart has no text, so that the wide drawing is readable on narrow screens. Default: false. */
  readonly scales?: boolean;
}

const widths = { wide: 540, narrow: 350 } as const;

/** Colours and fonts of the page, by the names of its style sheet. */
const config = {
  background: "transparent",
  font: "system-ui, sans-serif",
  view: { stroke: null },
  axis: {
    labelColor: "var(--soft)",
    titleColor: "var(--soft)",
    titleFontWeight: "normal",
    labelFontSize: 13,
    titleFontSize: 13,
    gridColor: "var(--line)",
    domainColor: "var(--line)",
    tickColor: "var(--line)",
  },
};

/**
 * A chart as SVG, drawn for wide screens and once more for narrow ones, of which the page shows one: a drawing that is
 * shrunk to a phone cannot be read.
 *
 * @throws OptionsError `missing-package` when Vega is not installed.
 */
export async function drawChart(chart: Chart) {
  if (chart.scales) return svgElement(chart, widths.wide, "");
  return html`${await svgElement(chart, widths.wide, "wide-only")}${await svgElement(chart, widths.narrow, "narrow")}`;
}

async function svgElement(chart: Chart, width: number, className: string) {
  const { height, label } = chart;
  return html`<svg class="${className}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">
    ${raw(await drawSvg(chart, width))}
  </svg>`;
}

/** The drawing without the element around it. */
async function drawSvg({ spec, height }: Chart, width: number): Promise<string> {
  const { vega, vegaLite } = await loadVega();
  // Names of rows leave most of the width to what is drawn.
  const axis = { ...config.axis, labelLimit: 0.45 * width };
  const whole = {
    ...spec,
    width,
    height,
    padding: 2,
    autosize: { type: "fit", contains: "padding" },
    config: { ...config, axis },
  };
  const view = new vega.View(vega.parse(vegaLite.compile(whole as VegaLite.TopLevelSpec).spec), { renderer: "none" });
  const svg = await view.toSVG();
  view.finalize();
  return svg.slice(svg.indexOf(">") + 1, svg.lastIndexOf("</svg>")).replace(describedMark, markWithTitle);
}

// Vega describes a mark for screen readers alone, and nothing shows it to a mouse without a script.
const describedMark = /<(\w+) aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="[^"]*"([^>]*)\/>/g;

function markWithTitle(_: string, tag: string, description: string, attributes: string): string {
  return `<${tag}${attributes}><title>${description}</title></${tag}>`;
}

/** @throws OptionsError `missing-package` when one of the two packages is not installed. */
export async function loadVega(): Promise<{ readonly vega: typeof Vega; readonly vegaLite: typeof VegaLite }> {
  try {
    const [vega, vegaLite] = await Promise.all([import("vega"), import("vega-lite")]);
    return { vega, vegaLite };
  } catch (cause) {
    throw new OptionsError(
      "missing-package",
      "The charts of --report need the packages vega and vega-lite, which cannot be loaded. Install them: npm install vega vega-lite",
      { cause },
    );
  }
}
