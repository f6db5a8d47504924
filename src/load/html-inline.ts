import { textOf } from "./html-content.js";
import { mathText } from "./html-math.js";
import { isText, type HtmlElement, type HtmlNode } from "./html-tree.js";

/** A line of text that is on its way out, and the 1-based line of the file that it comes from. */
export interface Line {
  readonly text: string;
  readonly line: number;
}

/** Each in a line of its own, also inside `<pre>`. */
const lineNames: ReadonlySet<string> = new Set(["div", "li", "p", "tr"]);
/** Read aloud by nobody: hints beside a character, and what stands for them where they cannot be shown. */
const silent: ReadonlySet<string> = new Set(["rt", "rp", "wbr"]);
const codeNames: ReadonlySet<string> = new Set(["code", "kbd", "samp", "tt"]);

/** Soft hyphens, zero-width spaces and byte order marks: shown nowhere, and in the way of every search. */
const unseen = /[\u{ad}\u{200b}\u{feff}]/gu;
/** What is raised above the line and means a power: 10² is not 102. */
const power = /^[-+\u2212]?\d+$/u;
const space = /[ \t\r\n\f\u{a0}]+/u;
const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u{3000}-\u{303f}\u{ff00}-\u{ffef}]/u;

/**
 * What stands in a line, as text: white space folded, code in backquotes, pictures by their description. `<br>` starts
 * a new line. A line end between two characters of Chinese or Japanese is no space, as it is none on the page.
 */
export function inlineLines(nodes: readonly HtmlNode[]): Line[] {
  const lines: { text: string; line: number }[] = [];
  let text = "";
  let line = 0;
  let gap = "";
  const flush = () => {
    if (text !== "") lines.push({ text, line });
    text = "";
    gap = "";
  };
  const word = (letters: string, at: number) => {
    if (text === "") line = at;
    else if (gap !== "" && !(gap.includes("\n") && wide.test(text.at(-1)!) && wide.test(letters[0]!))) text += " ";
    text += letters;
    gap = "";
  };
  for (const piece of pieces(nodes)) {
    if (piece === "line") continue;
    if (piece === "break") {
      flush();
      continue;
    }
    let at = piece.line;
    for (const part of piece.text.replace(unseen, "").split(/([ \t\r\n\f\u{a0}]+)/u)) {
      if (part === "") continue;
      if (space.test(part)) {
        gap += part.includes("\n") || part.includes("\r") ? "\n" : " ";
        at += lineEnds(part);
      } else word(part, at);
    }
  }
  flush();
  return lines;
}

/** The same as one line. */
export function inlineLine(nodes: readonly HtmlNode[]): Line | undefined {
  const lines = inlineLines(nodes);
  return lines[0] && { text: lines.map(({ text }) => text).join(" "), line: lines[0].line };
}

/** Text as it stands, white space and all, in lines: what is inside `<pre>`. */
export function verbatimLines(nodes: readonly HtmlNode[]): Line[] {
  const lines: { text: string; line: number }[] = [];
  let open: { text: string; line: number } | undefined;
  const end = (at: number) => {
    lines.push(open ?? { text: "", line: at });
    open = undefined;
  };
  let at = 1;
  for (const piece of pieces(nodes, { code: false, inLink: false })) {
    if (piece === "line") {
      if (open) end(at);
      continue;
    }
    if (piece === "break") {
      end(at);
      continue;
    }
    at = piece.line;
    for (const [index, text] of piece.text.split(/\r\n|\n|\r/).entries()) {
      if (index > 0) end(at++);
      if (text === "") continue;
      open ??= { text: "", line: at };
      open.text += text;
    }
  }
  if (open) lines.push(open);
  return lines;
}

interface Within {
  /** Whether code is to be marked as such. */
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
      const description = node.attributes["alt"] ?? "";
      if (description !== "") yield { text: description, line: node.line };
    } else if (node.name === "math") yield { text: mathText(node), line: node.line };
    else if (within.code && codeNames.has(node.name)) {
      const inside = inlineLine(node.children.map(asPlain));
      if (inside) yield inside.text.includes("`") ? inside : { text: `\`${inside.text}\``, line: inside.line };
    } else if (isNoteMark(node)) yield { text: `[${textOf(node).trim()}]`, line: node.line };
    else if (!silent.has(node.name)) {
      if (!within.inLink && node.name === "sup" && power.test(textOf(node).trim()))
        yield { text: "^", line: node.line };
      const ownLine = lineNames.has(node.name);
      if (ownLine) yield "line";
      yield* pieces(node.children, { ...within, inLink: within.inLink || node.name === "a" });
      if (ownLine) yield "line";
    }
  }
}

/** Whether an element is the raised number of a note and leads to it. */
function isNoteMark(element: HtmlElement): boolean {
  if (element.name !== "sup" && element.name !== "a") return false;
  const inner = element.children.filter((child) => !isText(child) || child.text.trim() !== "");
  const [only] = inner;
  if (inner.length !== 1 || isText(only!) || only!.name !== (element.name === "a" ? "sup" : "a")) return false;
  return /^\d+$/.test(textOf(element).trim());
}

/** Without code marks of its own: `<code>` in `<code>` is code once. */
function asPlain(node: HtmlNode): HtmlNode {
  if (isText(node)) return node;
  return { ...node, name: codeNames.has(node.name) ? "span" : node.name, children: node.children.map(asPlain) };
}

function lineEnds(whitespace: string): number {
  return whitespace.split(/\r\n|\n|\r/).length - 1;
}
