/** A command as it is typed, and what a terminal showed for it. */
export interface TerminalScene {
  readonly command: string;
  /** Output with its escape sequences. */
  readonly screen: string;
}

const columns = 92;
const cell = { width: 8.4, height: 19 } as const;
const margin = 16;
const barHeight = 30;
const colours = { ground: "#1b1f27", text: "#d7dce5", dim: "#8b94a5", bold: "#ffffff", cyan: "#7dcfff" } as const;

interface Style {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly cyan: boolean;
}
interface Run extends Style {
  readonly text: string;
}

const plain: Style = { bold: false, dim: false, cyan: false };

/** A picture of a terminal in which commands ran, as SVG with text that can be selected. Lines wrap at 92 columns. */
export function terminalSvg(title: string, scenes: readonly TerminalScene[]): string {
  const lines = scenes.flatMap(({ command, screen }, index) => [
    ...(index > 0 ? [[]] : []),
    ...wrapped([
      { ...plain, dim: true, text: "$ " },
      { ...plain, bold: true, text: command },
    ]),
    ...shownLines(screen).flatMap((line) => wrapped(styledRuns(line))),
  ]);
  const width = Math.ceil(columns * cell.width + 2 * margin);
  const height = barHeight + lines.length * cell.height + 2 * margin;
  const rows = lines.flatMap((runs, at) => {
    if (runs.length === 0) return [];
    const y = barHeight + margin + (at + 0.75) * cell.height;
    return [`<text x="${margin}" y="${y.toFixed(1)}">${runs.map(spanOf).join("")}</text>`];
  });
  const dots = ["#ff5f57", "#febc2e", "#28c840"].map(
    (colour, at) => `<circle cx="${20 + at * 18}" cy="${barHeight / 2}" r="5" fill="${colour}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:${colours.text}}</style>
<rect width="${width}" height="${height}" rx="8" fill="${colours.ground}"/>
${dots.join("")}
${rows.join("\n")}
</svg>
`;
}

/** The lines that stay on the screen: a progress line is written over by the next. */
function shownLines(screen: string): readonly string[] {
  const lines = screen
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\u001B[2K") + 1).replace(/^\[2K|\r/g, ""));
  while (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Text by its style. Links to places, which terminals open, keep their words alone. */
function styledRuns(line: string): readonly Run[] {
  // oxlint-disable-next-line no-control-regex -- a terminal's sequences begin with a control character
  const parts = line.replaceAll(/\u001B\]8;[^\u0007\u001B]*(?:\u0007|\u001B\\)/g, "").split(/\u001B\[(\d*)m/);
  let style = plain;
  return parts.flatMap((part, at): Run[] => {
    if (at % 2 === 0) return part === "" ? [] : [{ ...style, text: part }];
    style = changed(style, part);
    return [];
  });
}

function changed(style: Style, code: string): Style {
  if (code === "1") return { ...style, bold: true };
  if (code === "2") return { ...style, dim: true };
  if (code === "22") return { ...style, bold: false, dim: false };
  if (code === "36") return { ...style, cyan: true };
  if (code === "39") return { ...style, cyan: false };
  return code === "" || code === "0" ? plain : style;
}

/** Lines of at most as many characters as the terminal has columns, broken at spaces. */
function wrapped(runs: readonly Run[]): readonly (readonly Run[])[] {
  const lines: Run[][] = [[]];
  let used = 0;
  for (const run of runs) {
    for (const word of run.text.split(/(?<= )/)) {
      if (used > 0 && used + word.trimEnd().length > columns) {
        lines.push([]);
        used = 0;
      }
      lines.at(-1)!.push({ ...run, text: word });
      used += word.length;
    }
  }
  return lines;
}

function spanOf({ text, bold, dim, cyan }: Run): string {
  if (!bold && !dim && !cyan) return escaped(text);
  const fill = cyan ? colours.cyan : dim ? colours.dim : colours.bold;
  return `<tspan fill="${fill}"${bold ? ' font-weight="bold"' : ""}>${escaped(text)}</tspan>`;
}

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
