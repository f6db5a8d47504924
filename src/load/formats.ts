import { loadHtml } from "./html.js";
import type { Loader } from "./loader.js";
import { loadMarkdown } from "./markdown.js";
import { loadPlainText } from "./plain-text.js";

const byEnding: readonly (readonly [Loader, readonly string[]])[] = [
  [loadMarkdown, [".md", ".markdown", ".mdown", ".mkd", ".mdx"]],
  [loadHtml, [".html", ".htm", ".xhtml"]],
  [loadPlainText, [".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org", ".tex", ".log"]],
];

const loaders: ReadonlyMap<string, Loader> = new Map(
  byEnding.flatMap(([loader, endings]) => endings.map((ending) => [ending, loader] as const)),
);

/** File name endings that have a loader. A name without an ending, such as README, is read as plain text. */
export const knownEndings: readonly string[] = [...loaders.keys()];

/** The loader for a name's ending, in lower case with its dot, if there is one. */
export function loaderFor(ending: string): Loader | undefined {
  return ending === "" ? loadPlainText : loaders.get(ending);
}
