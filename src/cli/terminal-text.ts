import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { inCommandWords } from "./command-words.js";

// Control characters, and those that turn the direction of writing.
const unsafe = /[\p{Cc}\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Text of a document as it may be shown in a terminal: control characters are replaced, so that no indexed file can
 * move the cursor, set the title or hide text.
 */
export function safeForTerminal(text: string): string {
  return text.replace(unsafe, (control) => (control === "\n" || control === "\t" ? control : "\uFFFD"));
}

/** One line of at most `width` characters. */
export function oneLine(text: string, width: number): string {
  const line = safeForTerminal(text).replace(/\s+/g, " ").trim();
  return line.length <= width ? line : `${line.slice(0, width - 1).trimEnd()}…`;
}

/** A document's address as people type it: a path from the current folder where it is a file below it or near. In one line. */
export function displayUri(uri: string, directory: string): string {
  if (!uri.startsWith("file:")) return uri;
  const path = fileURLToPath(uri);
  const near = relative(directory, path);
  return (near.startsWith("../../..") ? path : near).replace(unsafe, "\uFFFD");
}

export function displayPlace(
  uri: string,
  place: { readonly line?: number; readonly page?: number },
  directory: string,
): string {
  const page = place.page === undefined ? "" : `, page ${place.page}`;
  const line = place.line === undefined ? "" : `:${place.line}`;
  return `${displayUri(uri, directory)}${line}${page}`;
}

/** What happened to a document, with its address once and as people type it. */
export function displayReason(uri: string, reason: string, directory: string): string {
  const address = displayUri(uri, directory);
  const said = inCommandWords(reason);
  return said.includes(uri) ? said.replaceAll(uri, address) : `${address}: ${said}`;
}

/** A remark with the addresses of files in it as people type them. */
export function displayRemark(message: string, directory: string): string {
  return inCommandWords(message).replace(/\bfile:\/\/\/\S+?(?=:?(?:\s|$))/g, (uri) => displayUri(uri, directory));
}
