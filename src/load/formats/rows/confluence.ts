import { LoadError, asError } from "../../../core/errors.js";
import type { Metadata } from "../../../core/types.js";
import { bufferedBody } from "../buffered-body.js";
import { markdownOfNodes } from "../html/html.js";
import {
  elementNode,
  elementsOf,
  isText,
  lineOf,
  named,
  parseHtml,
  parseXml,
  textNode,
  textOf,
  type HtmlElement,
  type HtmlNode,
} from "../element-tree.js";
import type { FileOutcome, RowReader } from "../loader.js";
import { rowDocuments } from "./row-documents.js";

/**
 * Reads the `entities.xml` of a Confluence space that was exported as XML: a document for each page and blog post as it is
 * now, its words as Markdown, by its number, with its space, the pages above it, and its dates as metadata.
 */
export const readConfluence: RowReader = async function* (file, options): AsyncGenerator<FileOutcome> {
  const { uri } = file;
  const bytes = await bufferedBody(file, options.maxRowBytes);
  let root;
  try {
    [root] = elementsOf(parseXml(bytes.toString()));
  } catch (cause) {
    throw new LoadError("unreadable", uri, `${uri} is no export that can be read: ${asError(cause).message}`, {
      cause,
    });
  }
  const objects = elementsOf(root).filter(({ name }) => name === "object");
  const pages = objects.filter(isCurrentPage);
  const byId = new Map(pages.map((page) => [idOf(page), page]));
  const bodies = new Map(
    objects
      .filter(({ attributes }) => attributes["class"] === "BodyContent")
      .map((body) => [idOf(property(body, "content")), property(body, "body")]),
  );
  const spaces = new Map(
    objects
      .filter(({ attributes }) => attributes["class"] === "Space")
      .map((object) => [idOf(object), valueOf(object, "name")]),
  );
  const rows = pages.map((page, index) => {
    const body = bodies.get(idOf(page));
    const title = valueOf(page, "title");
    const text = body === undefined ? "" : markdownOfStorage(textOf(body));
    const facts: Metadata = {
      ...(spaces.has(idOf(property(page, "space"))) && { space: spaces.get(idOf(property(page, "space")))! }),
      ...(property(page, "parent") && { path: pathOf(page, byId) }),
      ...dates(page),
    };
    return {
      fragment: `page=${index + 1}`,
      line: page.line,
      row: { id: idOf(page), title, text: text || title, ...facts },
    };
  });
  for await (const outcome of rowDocuments(file, rows, { ...options, mapping: {} })) {
    yield "document" in outcome
      ? { ...outcome, document: { ...outcome.document, mediaType: "text/markdown" } }
      : outcome;
  }
};

/** Whether a page is current: earlier versions name their page, and drafts and deleted pages have another status. */
function isCurrentPage(object: HtmlElement): boolean {
  const kind = object.attributes["class"];
  const status = valueOf(object, "contentStatus");
  return (
    (kind === "Page" || kind === "BlogPost") &&
    (status === "" || status === "current") &&
    idOf(property(object, "originalVersion")) === ""
  );
}

function property(object: HtmlElement, name: string): HtmlElement | undefined {
  return elementsOf(object).find((element) => element.name === "property" && element.attributes["name"] === name);
}

function valueOf(object: HtmlElement, name: string): string {
  return lineOf(property(object, name));
}

function idOf(element: HtmlElement | undefined): string {
  return lineOf(elementsOf(element).find(({ name }) => name === "id"));
}

/** The titles of the pages above it, from the top. A damaged export may have pages above themselves. */
function pathOf(page: HtmlElement, byId: ReadonlyMap<string, HtmlElement>): string {
  const above: HtmlElement[] = [];
  for (
    let ancestor = byId.get(idOf(property(page, "parent")));
    ancestor && !above.includes(ancestor) && above.length < 100;
  ) {
    above.unshift(ancestor);
    ancestor = byId.get(idOf(property(ancestor, "parent")));
  }
  return above.map((ancestor) => valueOf(ancestor, "title")).join(" / ");
}

function dates(page: HtmlElement): Metadata {
  const found = [
    ["created", "creationDate"],
    ["modified", "lastModificationDate"],
  ].flatMap(([name, from]) => {
    const value = valueOf(page, from!);
    return value === "" ? [] : [[name!, value.replace(" ", "T")] as const];
  });
  return Object.fromEntries(found);
}

/** Words in Confluence's storage format: XHTML with macros, whose code is in sections of plain characters. */
function markdownOfStorage(storage: string): string {
  const escaped = storage.replace(/<!\[CDATA\[([^]*?)\]\] ?>/g, (_, plain: string) =>
    plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;"),
  );
  return markdownOfNodes(parseHtml(escaped).children.flatMap(withoutMacros)).text;
}

/** Elements of Confluence's own that stand within a line. */
const inLines: ReadonlySet<string> = new Set(["ac:link", "ac:image", "ac:emoticon", "ac:inline-comment-marker"]);

function withoutMacros(node: HtmlNode): HtmlNode[] {
  if (isText(node)) return [node];
  const { name, attributes, children, line } = node;
  // The settings of a macro are not its words.
  if (name === "ac:parameter") return [];
  if (name === "ac:plain-text-body") return [elementNode("pre", [elementNode("code", children, {}, line)], {}, line)];
  if (name === "ac:link" && named(node, "ac:link-body", "ac:plain-text-link-body").length === 0) {
    const target = named(node, "ri:page", "ri:attachment")[0]?.attributes;
    return [textNode(target?.["ri:content-title"] ?? target?.["ri:filename"] ?? "", line)];
  }
  const inside = children.flatMap(withoutMacros);
  if (name === "ac:plain-text-link-body" || name === "ac:link-body") return inside;
  const plain = inLines.has(name) ? "span" : name.startsWith("ac:") ? "div" : name;
  return [elementNode(plain, inside, attributes, line)];
}
