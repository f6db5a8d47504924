/** One bar: who was measured, and the median. */
export interface Bar {
  readonly name: string;
  readonly value: number;
  /** Ours are told from what they are compared with. */
  readonly isOurs: boolean;
}

const width = 720;
const row = { height: 26, bar: 16 } as const;
const names = 300;
const values = 76;

/** Bars from zero, one below the other, each with its name and value, as SVG with its own ground for light and dark pages. */
export function barChart(title: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  const height = 44 + bars.length * row.height + 10;
  const drawn = bars.map(({ name, value, isOurs }, at) => {
    const y = 44 + at * row.height;
    const length = Math.max(1, (value / most) * (width - names - values));
    const shown = Number(value.toPrecision(3)).toLocaleString("en");
    return `<text x="${names - 8}" y="${y + 12}" text-anchor="end">${escaped(shortened(name))}</text><rect x="${names}" y="${y}" width="${length.toFixed(1)}" height="${row.bar}" rx="2" fill="${isOurs ? "#0a6cb0" : "#a9b2bf"}"><title>${escaped(name)}: ${shown}</title></rect><text x="${(names + length + 6).toFixed(1)}" y="${y + 12}">${shown}</text>`;
  });
  const label = `${title}. ${bars.map(({ name, value }) => `${name}: ${Number(value.toPrecision(3))}`).join("; ")}.`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(label)}">
<style>text{font:13px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:#1b1f27}.title{font-weight:600;font-size:14px}</style>
<rect width="${width}" height="${height}" rx="8" fill="#f5f7fa"/>
<text x="14" y="26" class="title">${escaped(title)}</text>
${drawn.join("\n")}
</svg>
`;
}

/** Names of peers are long; the whole one is shown to who points at the bar. */
function shortened(name: string): string {
  return name.length <= 42 ? name : `${name.slice(0, 41)}…`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
