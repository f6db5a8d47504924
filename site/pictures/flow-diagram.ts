import { escaped } from "./terminal-svg.js";

/** A step of a flow, in the order in which things pass it. */
export interface Step {
  /** Name of the stage or part. */
  readonly name: string;
  /** Its effect in a few words; a line break divides them. */
  readonly does: string;
  /** Whether it asks a model. */
  readonly asksModel?: boolean;
}

const box = { width: 172, height: 84, gap: 34, perRow: 4, rowGap: 40 } as const;
const margin = 16;

/** Steps as boxes with arrows between them, four in a row, as SVG with its own ground, so that it is read on dark pages, too. */
export function flowDiagram(title: string, steps: readonly Step[]): string {
  const rows = Math.ceil(steps.length / box.perRow);
  const width = 2 * margin + box.perRow * box.width + (box.perRow - 1) * box.gap;
  const height = 2 * margin + rows * box.height + (rows - 1) * box.rowGap + 24;
  const place = (at: number) => ({
    x: margin + (at % box.perRow) * (box.width + box.gap),
    y: margin + Math.floor(at / box.perRow) * (box.height + box.rowGap),
  });
  const parts = steps.map((step, at) => boxOf(step, place(at)));
  const arrows = steps.slice(1).map((_, at) => {
    const from = place(at);
    const to = place(at + 1);
    if (from.y === to.y) {
      const y = from.y + box.height / 2;
      return line(`M${from.x + box.width} ${y}H${to.x - 3}`);
    }
    const middle = from.y + box.height + box.rowGap / 2;
    return line(`M${from.x + box.width / 2} ${from.y + box.height}V${middle}H${to.x + box.width / 2}V${to.y - 3}`);
  });
  const legend = `<rect x="${margin}" y="${height - 26}" width="14" height="14" rx="3" class="model"/><text x="${margin + 22}" y="${height - 15}" class="does" style="text-anchor:start">asks a model</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>text{font:13px system-ui,"Segoe UI","DejaVu Sans",sans-serif;text-anchor:middle;fill:#1b1f27}.name{font-weight:600;font-size:14px}.does{font-size:12px;fill:#444b59}.box{fill:#fff;stroke:#9aa3b2}.model{fill:#e4f0ff;stroke:#4a7fc1}.arrow{fill:none;stroke:#5b6472;stroke-width:1.5;marker-end:url(#head)}</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#5b6472"/></marker></defs>
<rect width="${width}" height="${height}" rx="8" fill="#f5f7fa"/>
${[...arrows, ...parts, legend].join("\n")}
</svg>
`;
}

function line(path: string): string {
  return `<path d="${path}" class="arrow"/>`;
}

function boxOf({ name, does, asksModel = false }: Step, { x, y }: { readonly x: number; readonly y: number }): string {
  const middle = x + box.width / 2;
  const words = does
    .split("\n")
    .map((part, at) => `<text x="${middle}" y="${y + 48 + at * 17}" class="does">${escaped(part)}</text>`);
  return `<rect x="${x}" y="${y}" width="${box.width}" height="${box.height}" rx="6" class="${asksModel ? "model" : "box"}"/><text x="${middle}" y="${y + 26}" class="name">${escaped(name)}</text>${words.join("")}`;
}
