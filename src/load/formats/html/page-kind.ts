import { find, named, textOf, type HtmlElement } from "../element-tree.js";

/** Programs that write manuals, forums and wikis, by what they call themselves in the head of a page. */
const generators =
  /sphinx|docutils|doxygen|javadoc|rustdoc|typedoc|jsdoc|mdbook|mkdocs|docusaurus|vuepress|vitepress|gitbook|docbook|texinfo|makeinfo|asciidoctor|antora|pandoc|latex2html|gtk-doc|yelp|hevea|discourse|phpbb|vbulletin|mybb|simple machines|mediawiki|dokuwiki|moinmoin/i;
/** Kinds of schema.org that are no article. */
const otherKinds = /\b(?:QAPage|DiscussionForumPosting|Product|SearchResultsPage|APIReference|Dataset)\b/;
/** Links from a heading to itself, which programs for manuals set. */
const permalinks = /(?:^|\s)(?:headerlink|header-?anchor|anchor|permalink|hash-link|heading-anchor|mark)(?:\s|$)/i;
const minPermalinks = 3;
/** Share of a page's text in code, descriptions and tables from which on it is a manual or data. */
const minReference = 0.25;
/** Classes of posts, answers, hits and products. */
const entry =
  /^(?:[a-z]+[_-])*(?:post|message|reply|answer|question|result|hit|product|topic|postbody|issue)(?:[_-](?:body|item|content|text|row|container))?$/i;
const minEntries = 3;
const minEntriesShare = 0.6;

/**
 * Whether a page may be an article: a manual, a forum, a page of products or hits is read whole, for what stands around the
 * longest text there is no advertisement.
 *
 * @param content the page without navigation and hidden parts
 */
export function mayBeArticle(page: HtmlElement, content: HtmlElement): boolean {
  const metas = named(page, "meta").map(({ attributes }) => attributes);
  const kind = metas.find(({ property }) => property === "og:type")?.["content"]?.trim() ?? "";
  if (!/^(?:article|website)?$/i.test(kind)) return false;
  if (kind.toLowerCase() === "article") return true;
  if (metas.some(({ name = "", content: by = "" }) => name.toLowerCase() === "generator" && generators.test(by)))
    return false;
  if (find(page, ({ attributes }) => otherKinds.test(attributes["itemtype"] ?? "")).length > 0) return false;
  return !isReference(content) && !isListOfEntries(content);
}

function isReference(content: HtmlElement): boolean {
  const isPermalink = ({ name, attributes }: HtmlElement) =>
    name === "a" && (attributes["href"] ?? "").startsWith("#") && permalinks.test(attributes["class"] ?? "");
  const headings = find(content, ({ name }) => /^h[1-6]$/.test(name));
  if (headings.filter((heading) => find(heading, isPermalink).length > 0).length >= minPermalinks) return true;
  const parts = find(content, (element) => element.name === "pre" || element.name === "dl" || isData(element));
  return textIn(parts) >= minReference * content.size.text;
}

/** Whether a table has several columns of short cells, and does not lay out the page. */
function isData(table: HtmlElement): boolean {
  if (table.name !== "table" || named(table, "table", "form", "h1").length > 0) return false;
  const cells = find(table, ({ name }) => name === "td" || name === "th");
  return cells.length >= 6 && cells.every((cell) => textOf(cell).length < 400);
}

/** Whether most of the text stands in several entries of one class, such as the posts of a thread. */
function isListOfEntries(content: HtmlElement): boolean {
  const byClass = new Map<string, HtmlElement[]>();
  const classOf = ({ attributes }: HtmlElement) =>
    (attributes["class"] ?? "").split(/\s+/).find((name) => entry.test(name));
  for (const element of find(content, (candidate) => classOf(candidate) !== undefined)) {
    const name = classOf(element)!;
    byClass.set(name, [...(byClass.get(name) ?? []), element]);
  }
  return [...byClass.values()].some((elements) => {
    const text = textIn(elements);
    if (elements.length < minEntries || text < minEntriesShare * content.size.text) return false;
    return elements.every((element) => element.size.text < minEntriesShare * text);
  });
}

function textIn(elements: readonly HtmlElement[]): number {
  return elements.reduce((sum, element) => sum + element.size.text, 0);
}
