import { LoadError } from "../../../core/errors.js";
import {
  elementNode,
  elementsOf,
  find,
  isText,
  named,
  textOf,
  type HtmlElement,
  type HtmlNode,
} from "../element-tree.js";
import type { FileToLoad, FoundPicture } from "../loader.js";
import { packageOf, propertiesIn, unpack, type DocumentProperties } from "./package.js";

/** An OpenDocument file of any program. */
export interface OpenDocument {
  /** The requested part of `office:body`: the text, the sheets or the slides. */
  readonly body: HtmlElement;
  /** Definitions of styles, the document's own before automatic ones. */
  readonly styles: readonly HtmlElement[];
  readonly properties: DocumentProperties;
  /** A part of the file by its path. */
  readonly bytes: (path: string) => Uint8Array | undefined;
}

const oasis = "urn:oasis:names:tc:opendocument:xmlns:";
const usualPrefixes: Prefixes = new Map([
  ...["office", "text", "table", "style", "presentation", "meta"].map((name) => [`${oasis}${name}:1.0`, name] as const),
  [`${oasis}drawing:1.0`, "draw"],
  [`${oasis}svg-compatible:1.0`, "svg"],
  [`${oasis}manifest:1.0`, "manifest"],
  ["http://purl.org/dc/elements/1.1/", "dc"],
  ["http://www.w3.org/1999/xlink", "xlink"],
]);

/**
 * Opens a file of OASIS OpenDocument 1.x: https://docs.oasis-open.org/office/OpenDocument/v1.3/
 *
 * @param kind element that its body holds, without prefix: `text`, `spreadsheet`, `presentation`.
 * @throws LoadError (`unreadable`) when it is damaged, encrypted, or of another kind.
 */
export function openDocument(file: FileToLoad, kind: "text" | "spreadsheet" | "presentation"): OpenDocument {
  const { uri, bytes, wantsPictures = false } = file;
  const wanted = wantsPictures
    ? /^(?:(?:content|styles|meta|META-INF\/manifest)\.xml|Pictures\/.*)$/
    : /^(?:content|styles|meta|META-INF\/manifest)\.xml$/;
  // A flat file is all parts in one, unpacked.
  const isFlat = Buffer.from(bytes.subarray(0, 8)).includes("<?xml");
  const parts = isFlat ? packageOf(uri, { "content.xml": bytes }) : unpack(file, (path) => wanted.test(path));
  const xml = (path: string) => {
    const root = parts.xml(path);
    return root && withUsualPrefixes(root, new Map());
  };
  if (named(xml("META-INF/manifest.xml"), "manifest:file-entry").some(isLocked)) {
    throw new LoadError("unreadable", uri, `${uri} is encrypted: save a copy of it without a password`);
  }
  const content = xml("content.xml");
  const [body] = named(content, `office:${kind}`);
  if (!body) {
    const message = `${uri} is not an OpenDocument ${kind}: it has no content of that kind`;
    throw new LoadError("unreadable", uri, message);
  }
  const styles = [xml("styles.xml"), content]
    .flatMap((root) => named(root, "office:styles", "office:automatic-styles"))
    .flatMap((child) => find(child, () => true));
  const properties = propertiesIn(isFlat ? named(content, "office:meta")[0] : xml("meta.xml"), {
    author: ["dc:creator", "meta:initial-creator"],
    description: ["dc:description"],
    subject: ["dc:subject"],
    keywords: ["meta:keyword"],
  });
  return { body, styles, properties, bytes: (path) => parts.bytes(path) };
}

/** The pictures of a part of the body in their order, with titles or descriptions as captions. Linked ones are left out. */
export function picturesIn(
  part: HtmlElement,
  { bytes: bytesOf }: Pick<OpenDocument, "bytes">,
  place: Pick<FoundPicture, "offset" | "page">,
): FoundPicture[] {
  const images = (frame: HtmlElement) => elementsOf(frame).filter(({ name }) => name === "draw:image");
  // A frame may hold a box of text with frames of its own, as that of a picture with its caption does.
  return find(part, (element) => element.name === "draw:frame" && images(element).length > 0).flatMap((frame) => {
    const words = elementsOf(frame).find(({ name }) => name === "svg:title" || name === "svg:desc");
    const caption = words ? textOf(words).trim() : "";
    return images(frame).flatMap(({ attributes }): FoundPicture[] => {
      const bytes = bytesOf((attributes["xlink:href"] ?? "").replace(/^\.\//, ""));
      return bytes ? [{ ...place, bytes, ...(caption !== "" && { caption }) }] : [];
    });
  });
}

/** Whether the text itself is encrypted, or the whole file in one part: macros may have a password of their own. */
function isLocked(entry: HtmlElement): boolean {
  const path = entry.attributes["manifest:full-path"];
  return (path === "content.xml" || path === "encrypted-package") && elementsOf(entry).length > 0;
}

/** The positive number that an attribute holds; 1 by default. */
export function countOf(value: string | undefined): number {
  const count = Number.parseInt(value ?? "1", 10);
  return count >= 1 ? count : 1;
}

/** New names of prefixes, by the old ones; the empty one stands for names without a prefix. */
type Prefixes = ReadonlyMap<string, string>;

/** Renames prefixes to the usual ones, as a file may choose its own; elements of unknown namespaces keep theirs. */
function withUsualPrefixes(element: HtmlElement, outer: Prefixes): HtmlElement {
  const declared = Object.entries(element.attributes).flatMap(([name, uri]) => {
    const prefix = /^xmlns(?:$|:(.+))/.exec(name);
    return prefix ? [[prefix[1] ?? "", usualPrefixes.get(uri) ?? prefix[1] ?? ""] as const] : [];
  });
  const isNew = declared.some(([prefix, usual]) => usual !== (outer.get(prefix) ?? prefix));
  const prefixes = isNew ? new Map([...outer, ...declared]) : outer;
  const attributes = Object.entries(element.attributes).map(([name, value]) => [
    // A name without a prefix has no namespace here.
    name.includes(":") ? renamed(name, prefixes) : name,
    value,
  ]);
  return elementNode(
    renamed(element.name, prefixes),
    element.children.map((child): HtmlNode => (isText(child) ? child : withUsualPrefixes(child, prefixes))),
    Object.fromEntries(attributes) as HtmlElement["attributes"],
    element.line,
  );
}

function renamed(name: string, prefixes: Prefixes): string {
  if (prefixes.size === 0) return name;
  const [prefix, local] = name.includes(":") ? name.split(":", 2) : ["", name];
  const usual = prefixes.get(prefix!) ?? prefix;
  return usual === "" ? local! : `${usual}:${local}`;
}
