import type { FoundPicture } from "./loader.js";

const picture =
  /!\[([^[\]]{0,1000})\]\(\s*(?:<([^<>\n]+)>|([^\s()]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+["'(][^\n]{0,1000}?["')])?\s*\)|<img\b([^<>]{0,100000})>/gi;
const data = /^data:image\/[\w.+-]+;base64,([A-Za-z\d+/=\s]+)$/i;

/**
 * The pictures that a text of Markdown names: files beside it by their path, and those that stand in it as data. Pictures on the
 * web are not fetched. Pure.
 */
export function markdownPictures(text: string): FoundPicture[] {
  return [...text.matchAll(picture)].flatMap(({ index: offset, 1: words, 2: bracketed, 3: plain, 4: tag }) => {
    const address = bracketed ?? plain ?? attribute(tag, "src");
    const caption = (words ?? attribute(tag, "alt")).trim();
    const source = sourceOf(address);
    return source ? [{ offset, ...source, ...(caption !== "" && { caption }) }] : [];
  });
}

/** The bytes of an address that holds them, or the path or page that it names; a reason for data that is no picture. */
export function sourceOf(address: string): Pick<FoundPicture, "bytes" | "path" | "elsewhere" | "problem"> | undefined {
  const [, encoded] = data.exec(address) ?? [];
  if (encoded !== undefined) return { bytes: Buffer.from(encoded, "base64") };
  if (/^data:/i.test(address)) {
    const type = address.slice("data:".length).split(/[;,]/, 1)[0]!.slice(0, 60);
    return { problem: `is data of the type ${JSON.stringify(type)}, and images in Base64 are read` };
  }
  if (/^(?:https?:)?\/\//i.test(address)) return { elsewhere: address };
  // Any other scheme, or a path from the root of a site.
  if (address === "" || /^(?:[a-z][a-z\d+.-]*:|[\\/#?])/i.test(address)) return undefined;
  const path = address.replace(/[?#].*$/, "");
  try {
    return { path: decodeURIComponent(path) };
  } catch {
    return { path };
  }
}

function attribute(tag = "", name: string): string {
  const [, double, single] = new RegExp(`\\b${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, "i").exec(tag) ?? [];
  return double ?? single ?? "";
}
