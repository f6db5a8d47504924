import { LoadError, asError } from "../../../core/errors.js";
import { declaredInXml, decodeText, latin1Start } from "../decode.js";
import { bufferedBody } from "../buffered-body.js";
import { markdownOfNodes } from "../html/html.js";
import { elementsOf, find, lineOf, named, parseHtml, parseXml, textOf, type HtmlElement } from "../element-tree.js";
import type { FileOutcome, RowReader } from "../loader.js";
import { rowDocuments } from "./row-documents.js";
import type { Row } from "../row-mapping.js";

/**
 * Reads a feed in RSS or Atom: a document for each entry, by its id, its words as Markdown, with link, author, date and
 * categories as metadata. Entries without words have those of their title.
 *
 * @throws LoadError (`unreadable`) when it is no feed, (`too-large`) for more than 100,000 entries.
 */
export const readFeed: RowReader = async function* (file, options): AsyncGenerator<FileOutcome> {
  const { uri } = file;
  const bytes = await bufferedBody(file, options.maxRowBytes);
  const { text } = decodeText({ bytes, uri }, declaredInXml(latin1Start(bytes)));
  const entries = entriesOf(uri, text).map((entry, index) => ({
    fragment: `entry=${index + 1}`,
    line: entry.line,
    row: rowOf(entry),
  }));
  const mapping = { text: "content" };
  for await (const outcome of rowDocuments(file, entries, { ...options, mapping })) {
    yield "document" in outcome
      ? { ...outcome, document: { ...outcome.document, mediaType: "text/markdown" } }
      : outcome;
  }
};

/** Entries of a feed, whose tree is held in memory: ten times as many took a gigabyte. */
const maxEntries = 100_000;

function entriesOf(uri: string, text: string): HtmlElement[] {
  let count = 0;
  for (const _ of text.matchAll(/<(?:\w+:)?(?:item|entry)[\s/>]/g)) count++;
  if (count > maxEntries) {
    const message = `${uri} has ${count} entries, and at most ${maxEntries} are read: split it`;
    throw new LoadError("too-large", uri, message);
  }
  let root;
  try {
    [root] = elementsOf(parseXml(text));
  } catch (cause) {
    throw new LoadError("unreadable", uri, `${uri} is no feed that can be read: ${asError(cause).message}`, { cause });
  }
  if (!root || !["rss", "feed", "RDF"].includes(plainName(root)))
    throw new LoadError("unreadable", uri, `${uri} is no feed: its first element is neither rss, feed nor RDF`);
  return find(root, (element) => ["item", "entry"].includes(plainName(element)));
}

function plainName({ name }: HtmlElement): string {
  return name.slice(name.indexOf(":") + 1);
}

function rowOf(entry: HtmlElement): Row {
  const first = (...names: readonly string[]) => names.map((name) => lineOf(named(entry, name)[0])).find(Boolean);
  const links = named(entry, "link");
  const target = links.find(({ attributes }) => (attributes["rel"] ?? "alternate") === "alternate")?.attributes["href"];
  const link = target ?? first("link");
  const title = first("title", "atom:title") ?? "";
  const date = first("published", "pubDate", "dc:date", "updated");
  const categories = named(entry, "category").map((category) => category.attributes["term"] ?? lineOf(category));
  const author = lineOf(named(named(entry, "author")[0], "name")[0]) || first("dc:creator", "author");
  const ms = Date.parse(date ?? "");
  const fields = {
    id: first("id", "guid") ?? link,
    title,
    content: contentOf(entry) || title,
    link,
    author,
    published: Number.isNaN(ms) ? date : new Date(ms).toISOString().replace(".000", ""),
    categories: categories.length > 0 ? categories : undefined,
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
}

/** The fullest text that an entry has, as Markdown. */
function contentOf(entry: HtmlElement): string {
  const names = ["content:encoded", "content", "description", "summary"];
  const content = names
    .flatMap((name) => named(entry, name)[0] ?? [])
    .find((currentName) => textOf(currentName).trim() !== "");
  if (!content) return "";
  const { type = "html" } = content.attributes;
  if (type === "xhtml") return markdownOfNodes(content.children).text;
  return type === "text" && content.name !== "description"
    ? textOf(content).trim()
    : markdownOfNodes(parseHtml(textOf(content)).children).text;
}
