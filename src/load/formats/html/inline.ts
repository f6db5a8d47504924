import { mathText } from "./math.js";
import { elementWith, isText, textOf, type HtmlElement, type HtmlNode } from "../element-tree.js";

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
const space = /[ \t\r\n\f\u{a0}]+/u;
const wordOrSpace = /[ \t\r\n\f\u{a0}]+|[^ \t\r\n\f\u{a0}]+/gu;
const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u{3000}-\u{303f}\u{ff00}-\u{ffef}]/u;

/**
 * Renders inline content as text: white space folded, code in backquotes, pictures by their description. `<br>` starts a
 * new line. A line end between two characters of Chinese or Japanese is not a space, as on the page.
 */
export function inlineLines(nodes: readonly HtmlNode[]): Line[] {
  const lines: { text: string; line: number }[] = [];
  let text = "";
  let line = 0;
  let gap = "";
  // Kept beside the text: asking a growing string for its last character would copy it at every line end.
  let last = "";
  const flush = () => {
    if (text !== "") lines.push({ text, line });
    text = "";
    gap = "";
  };
  const word = (letters: string, index: number) => {
    if (text === "") line = index;
    else if (gap !== "" && !(gap.includes("\n") && wide.test(last.at(-1)!) && wide.test(letters[0]!))) text += " ";
    text += letters;
    last = letters;
    gap = "";
  };
  for (const piece of pieces(nodes)) {
    if (piece === "break") flush();
    if (piece === "line" || piece === "break") continue;
    let offset = piece.line;
    // One by one: an array of all words of a long text would be too large for the engine, which then ends the process.
    for (const [part] of piece.text.replace(invisible, "").matchAll(wordOrSpace)) {
      if (space.test(part)) {
        gap += part.includes("\n") || part.includes("\r") ? "\n" : " ";
        offset += lineEnds(part);
      } else word(part, offset);
    }
  }
  flush();
  return lines;
}

/** Renders inline content as one line. */
export function inlineLine(nodes: readonly HtmlNode[]): Line | undefined {
  const lines = inlineLines(nodes);
  return lines[0] && { text: lines.map(({ text }) => text).join(" "), line: lines[0].line };
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
  for (const piece of pieces(nodes, { code: false, inLink: false })) {
    if (piece === "line" || piece === "break") {
      if (open || piece === "break") end(number);
      continue;
    }
    number = piece.line;
    for (const [index, text] of piece.text.split(/\r\n|\n|\r/).entries()) {
      if (index > 0) end(number++);
      if (text === "") continue;
      open ??= { text: "", line: number };
      open.text += text;
    }
  }
  if (open) lines.push(open);
  return lines;
}

interface Within {
  /** Whether to put code in backquotes. */
  readonly code: boolean;
  readonly inLink: boolean;
}

function* pieces(
  nodes: readonly HtmlNode[],
  within: Within = { code: true, inLink: false },
): Generator<Line | "break" | "line"> {
  for (const node of nodes) {
    if (isText(node)) yield node;
    else if (node.name === "br") yield "break";
    else if (node.name === "img") {
      const words = pictureWords(node.attributes["alt"] ?? "");
      if (words !== "") yield { text: ` ${words} `, line: node.line };
    } else if (node.name === "math") yield { text: mathText(node), line: node.line };
    else if (within.code && codeNames.has(node.name)) {
      const inside = inlineLine(node.children.map(asPlain));
      if (inside) yield inside.text.includes("`") ? inside : { text: `\`${inside.text}\``, line: inside.line };
    } else if (isNoteMark(node)) yield { text: `[${textOf(node).trim()}]`, line: node.line };
    else if (!skipped.has(node.name)) {
      if (!within.inLink && node.name === "sup" && power.test(textOf(node).trim()))
        yield { text: "^", line: node.line };
      const ownLine = lineNames.has(node.name);
      if (ownLine) yield "line";
      yield* pieces(node.children, { ...within, inLink: within.inLink || node.name === "a" });
      if (ownLine) yield "line";
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
  const inner = element.children.filter((child) => !isText(child) || child.text.trim() !== "");
  const [only] = inner;
  if (inner.length !== 1 || isText(only!) || only!.name !== (element.name === "a" ? "sup" : "a")) return false;
  return /^\d+$/.test(textOf(element).trim());
}

/** Strips code marks: `<code>` in `<code>` is code once. */
function asPlain(node: HtmlNode): HtmlNode {
  if (isText(node)) return node;
  return elementWith(node, {
    name: codeNames.has(node.name) ? "span" : node.name,
    children: node.children.map(asPlain),
  });
}

function lineEnds(whitespace: string): number {
  return whitespace.split(/\r\n|\n|\r/).length - 1;
}
