import { isText, type HtmlElement, type HtmlNode } from "../html-tree.js";

/** Marks that stand between two parts of an equation when it is written in one line. */
const between: Readonly<Record<string, string>> = { "m:den": "/", "m:sup": "^", "m:sub": "_" };

/** An equation of an Office document in one line: `(a+b)/2`, `x^(n+1)`. Its symbols are the document's own. */
export function equationText(element: HtmlElement): string {
  return element.children.map(partText).join("");
}

function partText(node: HtmlNode): string {
  if (isText(node)) return "";
  const { name, children } = node;
  if (name === "m:t") return children.map((child) => (isText(child) ? child.text : "")).join("");
  // Properties of a part hold signs such as the sum's or the bracket's as attributes.
  if (name.endsWith("Pr")) return name === "m:naryPr" ? signOf(node, "∫") : "";
  if (name === "m:d") return `(${node.children.map(partText).join(", ").replace(/^, /u, "")})`;
  if (name === "m:rad") return `√${grouped(equationText(node))}`;
  const text = equationText(node);
  if (text === "") return "";
  if (name === "m:num") return grouped(text);
  return name in between ? between[name]! + grouped(text) : text;
}

function signOf({ children }: HtmlElement, otherwise: string): string {
  const sign = children.find((child) => !isText(child) && child.name === "m:chr");
  return (sign && !isText(sign) && sign.attributes["m:val"]) || otherwise;
}

/** In brackets, unless it is one symbol, number or word, or has them. */
function grouped(text: string): string {
  return /^(?:[\p{L}\p{N}.]+|.|\(.*\))$/u.test(text) ? text : `(${text})`;
}
