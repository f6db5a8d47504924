import { LoadError } from "../../errors.js";
import { find, textOf } from "../html-content.js";
import type { HtmlElement } from "../html-tree.js";
import type { FileToLoad } from "../loader.js";
import type { DocumentProperties } from "./document-properties.js";
import { withUsualPrefixes } from "./usual-prefixes.js";
import { unpack, type Package } from "./package.js";

/** An OpenDocument file, of whichever program. */
export interface OpenDocument {
  /** What `office:body` has of the wanted kind: the text, the sheets, the slides. */
  readonly body: HtmlElement;
  /** Definitions of styles, the document's own before those that it makes by itself. */
  readonly styles: readonly HtmlElement[];
  readonly properties: DocumentProperties;
}

const oasis = "urn:oasis:names:tc:opendocument:xmlns:";
const namespaces = new Map([
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
  if (isEncrypted(parts)) {
    throw new LoadError("unreadable", uri, `${uri} is encrypted: save a copy of it without a password`);
  }
  const xml = (path: string) => {
    const root = parts.xml(path);
    return root && withUsualPrefixes(root, namespaces);
  };
  const content = xml("content.xml");
  const body = content && find(content, ({ name }) => name === `office:${kind}`)[0];
  if (!body)
    throw new LoadError("unreadable", uri, `${uri} is no OpenDocument ${kind}: it has no content of that kind`);
  const roots = [xml("styles.xml"), content].filter((root) => root !== undefined);
  const holdsStyles = ({ name }: HtmlElement) => name === "office:styles" || name === "office:automatic-styles";
  const styles = roots.flatMap((root) => find(root, holdsStyles)).flatMap((each) => find(each, () => true));
  return { body, styles, properties: properties(xml("meta.xml")) };
}

function isEncrypted(parts: Package): boolean {
  const manifest = parts.xml("META-INF/manifest.xml");
  return manifest !== undefined && find(manifest, ({ name }) => name === "manifest:encryption-data").length > 0;
}

const kept: Readonly<Record<string, readonly string[]>> = {
  author: ["dc:creator", "meta:initial-creator"],
  description: ["dc:description"],
  subject: ["dc:subject"],
  keywords: ["meta:keyword"],
};

function properties(meta: HtmlElement | undefined): DocumentProperties {
  if (!meta) return {};
  const said = (wanted: string) =>
    find(meta, ({ name }) => name === wanted)
      .map((element) => textOf(element).replace(/\s+/gu, " ").trim())
      .filter((text) => text !== "")
      .join(", ");
  const title = said("dc:title");
  const entries = Object.entries(kept).flatMap(([name, elements]) => {
    const value = elements.map(said).find((text) => text !== "");
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...(title !== "" && { title }),
    ...(entries.length > 0 && { metadata: Object.fromEntries(entries) }),
  };
}
