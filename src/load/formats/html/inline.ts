import { mathText } from "./math.js";
import { isText, textOf, type HtmlElement, type HtmlNode } from "../element-tree.js";

/** A line of the text, and the 1-based line of the file that it comes from. */
export interface Line {
  readonly text: string;
  readonly line: number;
}

/** Elements with a line of their own, also inside `<pre>`. */
const lineNames: ReadonlySet<string> = new Set(["div", "li", "p", "tr"]);
/** Elements outside the text: readings beside a character, and brackets around them for old browsers. */
const skipped: ReadonlySet<string> = new Set(["rt", "rp", "wbr"]);
const codeNames: ReadonlySet<string> = new Set(["code", "kbd", "samp", "tt"]);

/** Soft hyphens, zero-width spaces and byte order marks: never shown, and in the way of every search. */
const invisible = /[\u{ad}\u{200b}\u{feff}]/gu;
/** Superscript that means a power: 10² is not 102. */
const power = /^[-+\u2212]?\d+$/u;
const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u{3000}-\u{303f}\u{ff00}-\u{ffef}]/u;

/**
 * Renders inline content as text: white space folded, code in backquotes, pictures by their description. `<br>` starts a
 * new line. A line end between two characters of Chinese or Japanese is not a space, as on the page.
 */
export function inlineLines(nodes: readonly HtmlNode[], within: Within = { code: true, inLink: false }): Line[] {
  const lines: { text: string; line: number }[] = [];
  let text = "";
  let line = 0;
  let gap: "" | " " | "\n" = "";
  // Kept beside the text: asking a growing string for its last character would copy it at every line end.
  let last = "";
  const flush = () => {
    if (text !== "") lines.push({ text, line });
    text = "";
    gap = "";
  };
  const append = (words: string, index: number) => {
    if (text === "") line = index;
    else if (gap === " " || (gap === "\n" && !(wide.test(last.at(-1)!) && wide.test(words[0]!)))) text += " ";
    text += words;
    last = words;
    gap = "";
  };
  forEachPiece(nodes, within, (piece) => {
    if (piece === "break") flush();
    if (piece === "line" || piece === "break") return;
    const source = piece.text.replace(invisible, "");
    let number = piece.line;
    for (let position = 0; position < source.length;) {
      const unit = source.charCodeAt(position);
      if (!isSpace(unit)) {
        const end = endOfWords(source, position);
        append(source.slice(position, end), number);
        position = end;
        continue;
      }
      position++;
      if (unit !== 10 && unit !== 13) gap ||= " ";
      else {
        gap = "\n";
        if (unit === 10 || source.charCodeAt(position) !== 10) number++;
      }
    }
  });
  flush();
  return lines;
}

/** The end of the words from here on that have just a space between them, and so are taken as they are. */
function endOfWords(source: string, start: number): number {
  let end = start + 1;
  for (; end < source.length; end++) {
    const unit = source.charCodeAt(end);
    if (isSpace(unit) && (unit !== 32 || end + 1 === source.length || isSpace(source.charCodeAt(end + 1)))) break;
  }
  return end;
}

function isSpace(unit: number): boolean {
  return unit === 32 || unit === 10 || unit === 9 || unit === 13 || unit === 12 || unit === 0xa0;
}

/** Renders inline content as one line. */
export function inlineLine(nodes: readonly HtmlNode[], within?: Within): Line | undefined {
  const lines = inlineLines(nodes, within);
  return lines.length > 1 ? { text: lines.map(({ text }) => text).join(" "), line: lines[0]!.line } : lines[0];
}

/** Lines of the text with its white space unchanged, as inside `<pre>`. */
export function verbatimLines(nodes: readonly HtmlNode[]): Line[] {
  const lines: { text: string; line: number }[] = [];
  let open: { text: string; line: number } | undefined;
  const end = (position: number) => {
    lines.push(open ?? { text: "", line: position });
    open = undefined;
  };
  let number = 1;
  forEachPiece(nodes, { code: false, inLink: false }, (piece) => {
    if (piece === "line" || piece === "break") {
      if (open || piece === "break") end(number);
      return;
    }
    number = piece.line;
    for (const [index, text] of piece.text.split(/\r\n|\n|\r/).entries()) {
      if (index > 0) end(number++);
      if (text === "") continue;
      open ??= { text: "", line: number };
      open.text += text;
    }
  });
  if (open) lines.push(open);
  return lines;
}

interface Within {
  /** Whether to put code in backquotes. */
  readonly code: boolean;
  readonly inLink: boolean;
}

type Piece = Line | "break" | "line";

function forEachPiece(nodes: readonly HtmlNode[], within: Within, take: (piece: Piece) => void): void {
  for (const node of nodes) {
    if (isText(node)) take(node);
    else if (node.name === "br") take("break");
    else if (node.name === "img") {
      const words = pictureWords(node.attributes["alt"] ?? "");
      if (words !== "") take({ text: ` ${words} `, line: node.line });
    } else if (node.name === "math") take({ text: mathText(node), line: node.line });
    else if (within.code && codeNames.has(node.name)) {
      // Code within code is code once.
      const inside = inlineLine(node.children, { code: false, inLink: false });
      if (inside) take(inside.text.includes("`") ? inside : { text: `\`${inside.text}\``, line: inside.line });
    } else if (isNoteMark(node)) take({ text: `[${textOf(node).trim()}]`, line: node.line });
    else if (!skipped.has(node.name)) {
      if (node.name === "sup" && !within.inLink && power.test(textOf(node).trim()))
        take({ text: "^", line: node.line });
      const ownLine = lineNames.has(node.name);
      if (ownLine) take("line");
      forEachPiece(node.children, node.name === "a" && !within.inLink ? { ...within, inLink: true } : within, take);
      if (ownLine) take("line");
    }
  }
}

/** A path, an address or the name of a file, which programs put where nobody has described the picture. */
const pictureFile =
  /^(?:(?:file|data|https?):|[a-z]:[\\/]|[~.]{0,2}[\\/])|^\S+\.(?:avif|bmp|emf|gif|ico|jpe?g|png|svg|tiff?|webp|wmf)$/i;

/** The description of a picture, or `""` when it is none. */
export function pictureWords(alternative: string): string {
  const words = alternative.trim();
  return pictureFile.test(words) ? "" : words;
}

/** Whether an element is the superscript number of a note and links to it. */
function isNoteMark(element: HtmlElement): boolean {
  if (element.name !== "sup" && element.name !== "a") return false;
  let only: HtmlNode | undefined;
  for (const child of element.children) {
    if (isText(child) && child.text.trim() === "") continue;
    if (only || isText(child) || child.name !== (element.name === "a" ? "sup" : "a")) return false;
    only = child;
  }
  return only !== undefined && /^\d+$/.test(textOf(element).trim());
}
