import { LoadError } from "../../../core/errors.js";
import { decodeText } from "../decode.js";
import { elementNode, textNode, type HtmlElement } from "../element-tree.js";
import type { FileToLoad, LoadedText } from "../loader.js";

/** A line of a file, perhaps without its indentation, and its 1-based number there. */
export interface SourceLine {
  readonly text: string;
  readonly line: number;
}

/** Deeper blocks are read as paragraphs: no person nests so deep, and every level of a bomb costs stack. */
export const maxBlockDepth = 24;

/** Columns of white space that count: every level of a nest looks at those of the levels above again. */
const maxIndentation = 160;

/** More lines than any text that people write has: each becomes several objects. */
const maxLines = 100_000;

/**
 * The lines of a file. Tabs that indent a line count to the next multiple of eight.
 *
 * @throws LoadError (`binary`) for bytes that are not text, (`too-large`) for more than 100,000 lines.
 */
export function sourceLines(file: FileToLoad): { lines: SourceLine[]; warnings: Pick<LoadedText, "warnings"> } {
  const { text: source, warning } = decodeText(file, file.charset);
  const all = source.split(/\r\n|\n|\r/);
  if (all.length > maxLines) {
    const message = `${file.uri} has ${all.length} lines, and at most ${maxLines} are read: split it`;
    throw new LoadError("too-large", file.uri, message);
  }
  const lines = all.map((rawLine, index) => ({ text: indentedBySpaces(rawLine).trimEnd(), line: index + 1 }));
  return { lines, warnings: warning === undefined ? {} : { warnings: [warning] } };
}

function indentedBySpaces(text: string): string {
  const indentation = /^[ \t]*/.exec(text)![0];
  if (indentation.length <= maxIndentation && !indentation.includes("\t")) return text;
  let width = 0;
  for (const character of indentation) width = character === "\t" ? width + 8 - (width % 8) : width + 1;
  return " ".repeat(Math.min(width, maxIndentation)) + text.slice(indentation.length);
}

/** Columns of white space before the text of a line; an empty line has none. */
export function indentOf({ text }: SourceLine): number {
  return text.length - text.trimStart().length;
}

export function isBlank(line: SourceLine | undefined): boolean {
  return line === undefined || line.text === "";
}

/** The index behind the block that starts at `from`: its lines are blank, or indented by at least `indent` columns. */
export function endOfIndented(lines: readonly SourceLine[], from: number, indent: number): number {
  let end = from;
  for (let index = from; index < lines.length; index++) {
    if (isBlank(lines[index])) continue;
    if (indentOf(lines[index]!) < indent) break;
    end = index + 1;
  }
  return end;
}

/** Lines without the indentation that they share. */
export function dedented(lines: readonly SourceLine[]): SourceLine[] {
  const indent = lines.reduce(
    (least, line) => (isBlank(line) ? least : Math.min(least, indentOf(line))),
    Number.POSITIVE_INFINITY,
  );
  return indent === 0 ? [...lines] : lines.map(({ text, line }) => ({ text: text.slice(indent), line }));
}

/** Lines as code. */
export function codeBlock(lines: readonly SourceLine[], language = ""): HtmlElement {
  const line = lines[0]?.line ?? 1;
  const code = textNode(lines.map((currentLine) => currentLine.text).join("\n"), line);
  return elementNode(
    "pre",
    [elementNode("code", [code], language === "" ? {} : { class: `language-${language}` }, line)],
    {},
    line,
  );
}
