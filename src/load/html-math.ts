import { find, textOf } from "./html-content.js";
import { isText, type HtmlElement, type HtmlNode } from "./html-tree.js";

/** Signs between the parts of an element when it is written in one line. */
const between: Readonly<Record<string, string>> = { mfrac: "/", msup: "^", msub: "_" };

/** An equation in MathML in one line: as its author wrote it in TeX where that is said, otherwise like `(a+b)/2`, `x^2`. */
export function mathText(math: HtmlElement): string {
  const annotations = find(math, ({ name }) => name === "annotation");
  const tex = annotations.find(({ attributes }) => /tex/i.test(attributes["encoding"] ?? ""));
  return (tex ? textOf(tex) : lineOf(math)).replace(/\s+/g, " ").trim();
}

function lineOf(node: HtmlNode): string {
  if (isText(node)) return node.text.trim();
  const { name, children } = node;
  if (name.startsWith("annotation")) return "";
  const sign = between[name];
  const parts = children.map(lineOf).filter((part) => part !== "");
  if (sign !== undefined) return parts.map(grouped).join(sign);
  return name === "msqrt" ? `√${grouped(parts.join(""))}` : parts.join("");
}

/** In brackets, unless it is one symbol, number or word, or has them. */
function grouped(text: string): string {
  return /^(?:[\p{L}\p{N}.]+|.|\([^()]*\))$/u.test(text) ? text : `(${text})`;
}
