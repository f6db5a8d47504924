import { Lexer, type Tokens } from "marked";
import stringWidth from "string-width";
import { safeEnd } from "../../text/blocks/cut-text.js";
import { renderInline, renderSettled, renderTokens, styled, type Rendered } from "./inline-markdown.js";
import { safeForTerminal } from "./terminal-text.js";

interface Screen {
  readonly write: (text: string) => unknown;
  readonly columns?: number | undefined;
}

/** A longer line is shown in pieces of this length, because its marks are read again with every word that comes. */
const maxLine = 4000;

const nothing: Rendered = { shown: "", end: 0 };

const fence = /^\s*(`{3,}|~{3,})([^`]*)$/;

/**
 * Shows Markdown on a terminal while it streams. Text appears as it comes, and a mark once it is closed; headings, code and
 * tables appear when their lines are complete. Marks are paired within a line. No escape sequence of a text gets through.
 */
export class MarkdownStream {
  readonly #screen: Screen;
  /** The unfinished line, and the part of it that is on the screen. */
  #line = "";
  #screened: Rendered = nothing;
  /** Whether the line continues one that was too long, and so has no block marks. */
  #continues = false;
  /** Closing fence of the code block that the line is in. */
  #fence: string | undefined;
  /** Lines of an unfinished table. */
  #table: string[] = [];

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  write(text: string): void {
    for (const [index, part] of safeForTerminal(text).split("\n").entries()) {
      if (index > 0) this.#endLine("\n");
      this.#line += part;
      while (this.#line.length > maxLine) {
        const end = safeEnd(this.#line, maxLine);
        const rest = this.#line.slice(end);
        this.#line = this.#line.slice(0, end);
        this.#endLine("");
        this.#continues = this.#fence === undefined;
        this.#line = rest;
      }
    }
    this.#showSettled();
  }

  /** Shows text that was held back for more, without a line break after it. */
  end(): void {
    if (this.#line !== "") this.#endLine("");
    this.#showTable("");
    this.#fence = undefined;
  }

  #showSettled(): void {
    if (this.#fence !== undefined || this.#line === "") return;
    if (!this.#continues && (this.#line.startsWith("|") || fence.test(this.#line))) return;
    this.#showTable("\n");
    const settled = this.#continues ? renderSettled(this.#line) : renderLine(this.#line, false, this.#screen.columns);
    if (!settled.shown.startsWith(this.#screened.shown)) return;
    this.#screen.write(settled.shown.slice(this.#screened.shown.length));
    this.#screened = settled;
  }

  #endLine(lineBreak: "\n" | ""): void {
    const [line, { shown, end }, continues] = [this.#line, this.#screened, this.#continues];
    [this.#line, this.#screened, this.#continues] = ["", nothing, false];
    const delimiter = continues ? undefined : fence.exec(line)?.[1];
    if (this.#fence !== undefined) {
      if (delimiter?.startsWith(this.#fence) && line.trim() === delimiter) this.#fence = undefined;
      else this.#screen.write(styled(line, "code") + lineBreak);
    } else if (!continues && line.startsWith("|")) this.#table.push(line);
    else {
      this.#showTable("\n");
      if (delimiter !== undefined) this.#fence = delimiter;
      else {
        const whole = continues ? renderInline(line) : renderLine(line, true, this.#screen.columns).shown;
        const rest = whole.startsWith(shown) ? whole.slice(shown.length) : renderInline(line.slice(end));
        this.#screen.write(rest + lineBreak);
      }
    }
  }

  #showTable(lineBreak: "\n" | ""): void {
    if (this.#table.length > 0) this.#screen.write(renderTable(this.#table, this.#screen.columns) + lineBreak);
    this.#table = [];
  }
}

/** Marks of headings, quotes and lists at the start of a line. */
const blockMark = /^(\s*)(?:(#{1,6})\s+|(>) ?|[-*+]\s+|(\d{1,9}[.)])\s+)/;
/** Start of a line that may still become such a mark. */
const maybeBlockMark = /^\s*(?:#{1,6}|[-*+_=~`|>\s]*|\d{1,9}[.)]?)\s*$/;
const rule = /^ {0,3}([-*_])(?: *\1){2,}\s*$/;

/** Renders a complete line, or the part of an unfinished line that later text cannot change. */
function renderLine(line: string, isComplete: boolean, columns = 80): Rendered {
  const { length } = line;
  if (isComplete && rule.test(line)) return { shown: styled("─".repeat(Math.min(columns, 40)), "dim"), end: length };
  let shown = "";
  let rest = line;
  for (;;) {
    const end = length - rest.length;
    if (!isComplete && maybeBlockMark.test(rest)) return { shown, end };
    const [mark, indent, heading, quote, number] = blockMark.exec(rest) ?? [];
    if (mark === undefined) {
      const text = isComplete ? { shown: renderInline(rest), end: rest.length } : renderSettled(rest);
      return { shown: shown + text.shown, end: end + text.end };
    }
    rest = rest.slice(mark.length);
    if (heading)
      return isComplete ? { shown: shown + styled(renderInline(rest), "bold"), end: length } : { shown, end };
    shown += `${indent}${quote ? styled("│", "dim") : (number ?? "•")} `;
  }
}

/** A table with its columns under each other, or each row as a list of its cells where the screen is too narrow. */
function renderTable(lines: readonly string[], columns = 80): string {
  const [table] = Lexer.lex(lines.join("\n")) as (Tokens.Table | Tokens.Generic)[];
  if (!isTable(table)) return lines.map(renderInline).join("\n");
  const rows = [table.header, ...table.rows].map((row) => row.map(({ tokens }) => renderTokens(tokens)));
  const widths = table.header.map((_, column) => Math.max(...rows.map((row) => stringWidth(row[column]!))));
  const [head, ...body] = rows as [string[], ...string[][]];
  if (widths.reduce((sum, width) => sum + width + 3, -3) > columns) {
    return body
      .map((row) => row.map((cell, column) => `${styled(head[column]!, "bold")}: ${cell}`).join("\n"))
      .join("\n\n");
  }
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => pad(cell, widths[column]!, table.align[column]))
      .join(" │ ")
      .trimEnd();
  const ruled = styled(widths.map((width) => "─".repeat(width)).join("─┼─"), "dim");
  return [line(head.map((cell) => styled(cell, "bold"))), ruled, ...body.map(line)].join("\n");
}

function isTable(token: Tokens.Table | Tokens.Generic | undefined): token is Tokens.Table {
  return token?.type === "table";
}

function pad(cell: string, width: number, align: "center" | "left" | "right" | null | undefined): string {
  const room = width - stringWidth(cell);
  const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return " ".repeat(before) + cell + " ".repeat(room - before);
}
