import { declaredInXml, decodeText, latin1Start } from "../decode.js";
import { markdownWithLines } from "../html/html.js";
import {
  elementNode,
  elementsOf,
  isText,
  lineOf,
  named,
  parseXml,
  textNode,
  textOf,
  type HtmlElement,
  type HtmlNode,
} from "../element-tree.js";
import { loadPlainText } from "../plain-text.js";
import type { FileToLoad, LoadedText } from "../loader.js";
import { withEntities } from "./xml-entities.js";
import { docbook, dita, type XmlVocabulary } from "./xml-vocabularies.js";

/** The vocabulary that the start of an XML file declares, if it is one of documentation. */
function vocabularyOf(start: string): XmlVocabulary | undefined {
  if (/<!DOCTYPE[^>[]*(?:DocBook|docbook)|xmlns(?::\w+)?\s*=\s*["']http:\/\/docbook\.org\/ns\/docbook["']/.test(start))
    return docbook;
  return /<!DOCTYPE[^>[]*(?:DITA|\.dtd"\s*$)|ditaarch:DITAArchVersion|\sclass="[-+] (?:topic|map)\//.test(start)
    ? dita
    : undefined;
}

/** Reads XML: documentation as Markdown, and any other as it is. */
export function loadXml(file: FileToLoad): LoadedText {
  return loadDocumentationXml(file) ?? loadPlainText(file);
}

/**
 * Reads DocBook or DITA as Markdown with an anchor for each line; `undefined` for other XML. It loads no DTD and no other
 * file, so that what stands in other files (`xi:include`, `conref`, external entities) is left out.
 *
 * @throws LoadError (`too-large`) when its entities expand to far more than the file.
 */
export function loadDocumentationXml(file: FileToLoad): LoadedText | undefined {
  const start = latin1Start(file.bytes);
  const byEnding = /\.(?:dita|ditamap)$/i.test(file.path)
    ? dita
    : /\.(?:dbk|docbook)$/i.test(file.path)
      ? docbook
      : undefined;
  const vocabulary = vocabularyOf(start) ?? byEnding;
  if (!vocabulary) return undefined;
  const { text: source, warning } = decodeText(file, file.charset ?? declaredInXml(start));
  const root = parseXml(withEntities(source, file.uri));
  const [top] = elementsOf(root);
  const info = named(top, "info", "articleinfo", "bookinfo", "prolog");
  const author = named(info[0], "author")
    .map((name) => lineOf(named(name, "personname")[0] ?? name))
    .filter(Boolean)
    .join(", ");
  const language = top?.attributes["xml:lang"] ?? top?.attributes["lang"];
  const metadata = { ...(author !== "" && { author }), ...(language && { language }) };
  return {
    ...markdownWithLines(new XmlReader(vocabulary).nodes(root.children, 0)),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(warning !== undefined && { warnings: [warning] }),
  };
}

class XmlReader {
  readonly #vocabulary: XmlVocabulary;

  constructor(vocabulary: XmlVocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** @param level the level of the section around, 0 for none */
  nodes(children: readonly HtmlNode[], level: number): HtmlNode[] {
    return children.flatMap((child) => (isText(child) ? [child] : this.#element(child, level)));
  }

  #element(source: HtmlElement, level: number): HtmlNode[] {
    const { sections, silent, names } = this.#vocabulary;
    const { name: full, attributes, line } = source;
    // DocBook 5 may have a prefix of its own.
    const name = full.replace(/^(?:db|d|docbook):/, "");
    if (silent.has(name) || full.startsWith("?") || full.startsWith("!")) return [];
    if (sections.has(name)) return [elementNode("section", this.nodes(source.children, level + 1), {}, line)];
    if (name === "title" || name === "mainbooktitle") return [this.#title(source, level)];
    if (this.#vocabulary === docbook && name.endsWith("info"))
      return this.nodes(
        elementsOf(source).filter((element) => /(?:^|:)(?:sub)?title$|abstract$/.test(element.name)),
        level,
      );
    if (name === "varlistentry" || name === "glossentry" || name === "dlentry" || name === "plentry")
      return this.#entry(source, level);
    if (name === "image" || name === "imageobject")
      return attributes["alt"]
        ? [elementNode("img", [], { alt: attributes["alt"] }, line)]
        : this.nodes(
            elementsOf(source).filter((element) => element.name === "alt"),
            level,
          );
    if (name === "footnote" || name === "fn") return [textNode(` (${lineOf(source)})`, line)];
    if ((name === "topicref" || name === "chapter") && attributes["navtitle"]) {
      return [
        elementNode("p", [textNode(attributes["navtitle"], line)], {}, line),
        ...this.nodes(source.children, level),
      ];
    }
    if (name === "tag" || name === "sgmltag") return [elementNode("code", [textNode(textOf(source), line)], {}, line)];
    const html = names.get(name);
    if (html === undefined) return [elementNode("span", this.nodes(source.children, level), {}, line)];
    const inside = this.nodes(source.children, level);
    if (html === "pre") return [codeOf(source, inside)];
    if (html === "td") return [elementNode("td", inside, { ...spanOf(attributes) }, line)];
    // The content of an item may be bare words.
    return [elementNode(html === "p" && inside.some(holdsBlock) ? "div" : html, inside, startOf(attributes), line)];
  }

  /** The title of a section is a heading; that of a table, a figure or a note is a line above it. */
  #title(source: HtmlElement, level: number): HtmlElement {
    const name = level > 0 ? `h${Math.min(6, level)}` : "p";
    return elementNode(name, this.nodes(source.children, level), {}, source.line);
  }

  #entry(source: HtmlElement, level: number): HtmlNode[] {
    return elementsOf(source).map((child) => {
      const isTerm = /^(?:term|glossterm|dt|pt)$/.test(child.name);
      return elementNode(isTerm ? "dt" : "dd", this.nodes(child.children, level), {}, child.line);
    });
  }
}

function holdsBlock(node: HtmlNode): boolean {
  return (
    !isText(node) &&
    (/^(?:p|ul|ol|dl|pre|table|blockquote|div|section)$/.test(node.name) || node.children.some(holdsBlock))
  );
}

function codeOf({ attributes, line }: HtmlElement, inside: readonly HtmlNode[]): HtmlElement {
  const [, language] =
    /(?:^|\s)(?:language-)?([\w+#-]+)$/.exec(attributes["language"] ?? attributes["outputclass"] ?? "") ?? [];
  return elementNode(
    "pre",
    [elementNode("code", inside, language ? { class: `language-${language}` } : {}, line)],
    {},
    line,
  );
}

/** A cell over several columns names the first and the last, which programs number: `c1`, `col2`. */
function spanOf({ morerows = "0", namest, nameend }: HtmlElement["attributes"]): Record<string, string> {
  const [first, last] = [namest, nameend].map((name) => Number(/\d+$/.exec(name ?? "")?.[0] ?? Number.NaN));
  const columns = last! - first! + 1;
  return { rowspan: String(Number(morerows) + 1), ...(columns > 1 && { colspan: String(columns) }) };
}

function startOf({ startingnumber }: HtmlElement["attributes"]): Record<string, string> {
  return startingnumber === undefined ? {} : { start: startingnumber };
}
