import { LoadError } from "../../../core/errors.js";
import { find, isText, named, type HtmlElement, type HtmlNode } from "../html/tree.js";
import type { FileToLoad } from "../loader.js";
import { propertiesIn, unpack, type DocumentProperties } from "./package.js";

/** An OpenDocument file, of whichever program. */
export interface OpenDocument {
  /** The wanted part of `office:body`: the text, the sheets, the slides. */
  readonly body: HtmlElement;
  /** Definitions of styles, the document's own before automatic ones. */
  readonly styles: readonly HtmlElement[];
  readonly properties: DocumentProperties;
}

const oasis = "urn:oasis:names:tc:opendocument:xmlns:";
const usualPrefixes: Prefixes = new Map([
  ...["office", "text", "table", "style", "presentation", "meta"].map((name) => [`${oasis}${name}:1.0`, name] as const),
  [`${oasis}drawing:1.0`, "draw"],
  [`${oasis}svg-compatible:1.0`, "svg"],
  ["http://purl.org/dc/elements/1.1/", "dc"],
]);

/**
 * Opens a file of OASIS OpenDocument 1.x: https://docs.oasis-open.org/office/OpenDocument/v1.3/
 *
 * @param kind element that its body holds, without prefix: `text`, `spreadsheet`, `presentation`.
 * @throws LoadError (`unreadable`) when it is damaged, encrypted, or of another kind.
 */
export function openDocument(file: FileToLoad, kind: "text" | "spreadsheet" | "presentation"): OpenDocument {
  const parts = unpack(file, (path) => /^(?:content|styles|meta|META-INF\/manifest)\.xml$/.test(path));
  const { uri } = file;
  if (named(parts.xml("META-INF/manifest.xml"), "manifest:encryption-data").length > 0) {
    throw new LoadError("unreadable", uri, `${uri} is encrypted: save a copy of it without a password`);
  }
  const xml = (path: string) => {
    const root = parts.xml(path);
    return root && withUsualPrefixes(root, new Map());
  };
  const content = xml("content.xml");
  const [body] = named(content, `office:${kind}`);
  if (!body) {
    const message = `${uri} is not an OpenDocument ${kind}: it has no content of that kind`;
    throw new LoadError("unreadable", uri, message);
  }
  const styles = [xml("styles.xml"), content]
    .flatMap((root) => named(root, "office:styles", "office:automatic-styles"))
    .flatMap((each) => find(each, () => true));
  const properties = propertiesIn(xml("meta.xml"), {
    author: ["dc:creator", "meta:initial-creator"],
    description: ["dc:description"],
    subject: ["dc:subject"],
    keywords: ["meta:keyword"],
  });
  return { body, styles, properties };
}

/** The positive number that an attribute holds; 1 by default. */
export function countOf(value: string | undefined): number {
  const count = Number.parseInt(value ?? "1", 10);
  return count >= 1 ? count : 1;
}

/** New names of prefixes or namespaces, by the old ones. */
type Prefixes = ReadonlyMap<string, string>;

/** Renames prefixes to the usual ones, as a file may choose its own; elements of unknown namespaces keep theirs. */
function withUsualPrefixes(element: HtmlElement, outer: Prefixes): HtmlElement {
  const declared = Object.entries(element.attributes).flatMap(([name, uri]) => {
    const prefix = /^xmlns:(.+)$/.exec(name)?.[1];
    const usual = usualPrefixes.get(uri);
    return prefix === undefined || usual === undefined || usual === prefix ? [] : [[prefix, usual] as const];
  });
  const prefixes = declared.length === 0 ? outer : new Map([...outer, ...declared]);
  const attributes = Object.entries(element.attributes).map(([name, value]) => [renamed(name, prefixes), value]);
  return {
    ...element,
    name: renamed(element.name, prefixes),
    attributes: Object.fromEntries(attributes) as HtmlElement["attributes"],
    children: element.children.map((child): HtmlNode => (isText(child) ? child : withUsualPrefixes(child, prefixes))),
  };
}

function renamed(name: string, prefixes: Prefixes): string {
  const colon = prefixes.size === 0 ? -1 : name.indexOf(":");
  const usual = colon < 0 ? undefined : prefixes.get(name.slice(0, colon));
  return usual === undefined ? name : usual + name.slice(colon);
}
