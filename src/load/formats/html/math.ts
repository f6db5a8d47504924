import { find, isText, lineOf, named, textOf, type HtmlElement, type HtmlNode } from "../element-tree.js";

/** Signs between the parts of an element when it is written in one line. */
const mathSigns = new Map([
  ["mfrac", "/"],
  ["msup", "^"],
  ["msub", "_"],
]);

/** An equation in MathML in one line: the author's TeX if present, otherwise like `(a+b)/2`, `x^2`. */
export function mathText(math: HtmlElement): string {
  const annotations = named(math, "annotation");
  const tex = annotations.find(({ attributes }) => /tex/i.test(attributes["encoding"] ?? ""));
  return tex ? lineOf(tex) : mathPart(math).replace(/\s+/g, " ").trim();
}

function mathPart(node: HtmlNode): string {
  if (isText(node)) return node.text.trim();
  const { name, children } = node;
  if (name.startsWith("annotation")) return "";
  const sign = mathSigns.get(name);
  const parts = children.map(mathPart).filter((part) => part !== "");
  if (sign !== undefined) return parts.map(grouped).join(sign);
  return name === "msqrt" ? `√${grouped(parts.join(""))}` : parts.join("");
}

/** Signs before the parts of an Office equation when it is written in one line. */
const officeSigns = new Map([
  ["m:den", "/"],
  ["m:sup", "^"],
  ["m:sub", "_"],
]);

/** An equation of an Office document in one line: `(a+b)/2`, `x^(n+1)`. Its symbols are the document's own. */
export function officeMathText(element: HtmlElement): string {
  return element.children.map(officePart).join("");
}

function officePart(node: HtmlNode): string {
  if (isText(node)) return "";
  const { name, children } = node;
  if (name === "m:t") return textOf(node);
  // Properties of a part hold signs such as the sum's or the bracket's as attributes.
  if (name === "m:naryPr") return find(node, (child) => child.name === "m:chr")[0]?.attributes["m:val"] || "∫";
  if (name.endsWith("Pr")) return "";
  if (name === "m:d") return `(${children.map(officePart).join(", ").replace(/^, /u, "")})`;
  const text = officeMathText(node);
  if (name === "m:rad") return `√${grouped(text)}`;
  if (name === "m:num") return text && grouped(text);
  const sign = officeSigns.get(name);
  return text && sign ? sign + grouped(text) : text;
}

/** Puts a part in brackets, unless it is one symbol, number or word, or has them. */
function grouped(text: string): string {
  return /^(?:[\p{L}\p{N}.]+|.|\((?:[^()]|\([^()]*\))*\))$/u.test(text) ? text : `(${text})`;
}
