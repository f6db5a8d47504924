import { elementNode, textNode, type HtmlNode } from "../element-tree.js";

/** The length of what stands between two marks: emphasis goes over a few lines at most. */
const maxMarked = 1000;
const inside = (mark: string) => String.raw`[^\s${mark}](?:[^${mark}]{0,${maxMarked}}[^\s${mark}])?`;
const before = String.raw`(?<![^\s\-–—("'{\[/*_+])`;
const after = String.raw`(?![^\s\-–—.,;:!?)"'}\]\[/*_+\\])`;

const marks = new RegExp(
  [
    String.raw`\[\[(?<target>[^\[\]\n]{1,${maxMarked}})\](?:\[(?<label>[^\[\]]{1,${maxMarked}})\])?\]`,
    String.raw`\[fn:(?<note>[\w-]*)(?::(?<inlineNote>[^\[\]]{1,${maxMarked}}))?\]`,
    String.raw`${before}(?<code>=${inside("=")}=|~${inside("~")}~)${after}`,
    String.raw`${before}(?<marked>\*${inside("*")}\*|/${inside("/")}/|_${inside("_")}_|\+${inside("+")}\+)${after}`,
    String.raw`(?<silent><<<?[^<>\n]{1,200}>>>?|@@\w+:[^@]{0,${maxMarked}}@@|\{\{\{[^{}]{0,200}\}\}\}|\\\\(?=\n|$))`,
  ].join("|"),
  "gu",
);

/** Emphasis within emphasis; deeper marks are text. */
const maxDepth = 4;

/**
 * The words of a paragraph in Org: code in marks, links by their description, the numbers of notes in brackets.
 *
 * @param line the line of the file on which `words` start
 */
export function orgInline(words: string, line: number, depth = 0): HtmlNode[] {
  const nodes: HtmlNode[] = [];
  let offset = 0;
  let lineNow = line;
  const plain = (to: number) => {
    if (to > offset) nodes.push(textNode(words.slice(offset, to), lineNow));
    lineNow += lineEnds(words.slice(offset, to));
  };
  for (const match of words.matchAll(marks)) {
    const { target, label, note, inlineNote, code, marked } = match.groups!;
    plain(match.index);
    offset = match.index + match[0].length;
    const deeper = (content: string) =>
      depth < maxDepth ? orgInline(content, lineNow, depth + 1) : [textNode(content, lineNow)];
    if (target !== undefined)
      nodes.push(...(label === undefined ? [textNode(shownTarget(target), lineNow)] : deeper(label)));
    else if (inlineNote !== undefined)
      nodes.push(textNode(" (", lineNow), ...deeper(inlineNote), textNode(")", lineNow));
    else if (note !== undefined) nodes.push(textNode(`[${note}]`, lineNow));
    else if (code !== undefined) nodes.push(elementNode("code", [textNode(code.slice(1, -1), lineNow)], {}, lineNow));
    else if (marked !== undefined) nodes.push(...deeper(marked.slice(1, -1)));
    lineNow += lineEnds(match[0]);
  }
  plain(words.length);
  return nodes;
}

/** A link without words is its target, and a picture is nothing. */
function shownTarget(target: string): string {
  if (/\.(?:png|jpe?g|gif|svg|webp)$/i.test(target)) return "";
  return target.replace(/^(?:file:|[*#])/, "");
}

function lineEnds(text: string): number {
  return text.split("\n").length - 1;
}
