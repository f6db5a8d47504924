import { createRequire } from "node:module";
import { LoadError } from "../../../core/errors.js";
import { markdownWithLines } from "../html/html.js";
import {
  elementNode,
  elementWith,
  find,
  isText,
  named,
  parseHtml,
  type HtmlElement,
  type HtmlNode,
} from "../element-tree.js";
import type { Loader } from "../loader.js";
import { maxBlockDepth, sourceLines, type SourceLine } from "./source-lines.js";

/**
 * Reads AsciiDoc as Asciidoctor shows it, as Markdown with an anchor for the line of each block. Asciidoctor is in its
 * secure mode, in which it reads no file and asks no server: what a file would include is left out.
 *
 * @throws LoadError (`too-large`) for more lines than a text that people write has, or deeper blocks.
 */
export const loadAsciidoc: Loader = async (file) => {
  const { lines, warnings } = sourceLines(file);
  const marks = new Set(lines.flatMap(({ text }) => nesting.exec(text)?.slice(0, 1) ?? []));
  if (marks.size > 4 * maxBlockDepth) {
    const message = `${file.uri} nests its blocks and lists in ${marks.size} ways, and at most ${4 * maxBlockDepth} are read: split it`;
    throw new LoadError("too-large", file.uri, message);
  }
  if (cellsRepeated(lines) > maxCellsRepeated) {
    const message = `${file.uri} repeats cells of its tables more than ${maxCellsRepeated} times: write them out`;
    throw new LoadError("too-large", file.uri, message);
  }
  if (charactersOfAttributes(lines) > maxCharactersOfAttributes) {
    const message = `${file.uri} repeats its attributes to more than ${maxCharactersOfAttributes / 1e6} million characters: write them out`;
    throw new LoadError("too-large", file.uri, message);
  }
  const { load, LoggerManager, NullLogger } = asciidoctor();
  LoggerManager.logger = new NullLogger();
  const source = lines.map(({ text }) => text).join("\n");
  const read = await load(source, {
    safe: "secure",
    sourcemap: true,
    attributes: { showtitle: "", sectids: null, toc: null },
  });
  // The page keeps ids, so each block carries its line there.
  for (const block of read.findBy()) block.setId(`${lineId}${block.getLineNumber() ?? ""}`);
  const page = parseHtml(await read.convert());
  const author = String(read.getAttribute("author", ""));
  const title = read.getDocumentTitle();
  return {
    ...markdownWithLines(placed(page.children, 1).nodes, title ? plain(String(title)) : undefined),
    ...(author !== "" && { metadata: { author: plain(author) } }),
    ...warnings,
  };
};

/** The marks that nest: delimiters of blocks and of lists, deeper by their length. */
const nesting = /^(?:([=*_.+/|-])\1{3,}(?=$)|[*.-]+(?=\s)|\w{0,3}[:;]{2,}(?=\s|$))/;
/** Cells that stand for others, as in `3*|` and `cols="3*"`: ten characters can be made to mean a million. */
const maxCellsRepeated = 10_000;
const repetition = /(\d+)\*(?=[<>^.\d]{0,10}[a-z]?[|!¦,:"'\]])/g;

function cellsRepeated(lines: readonly SourceLine[]): number {
  let count = 0;
  for (const { text } of lines) for (const [, times] of text.matchAll(repetition)) count += Number(times);
  return count;
}

/** Characters that the attributes of a file stand for, all together: three characters can be made to mean 4,096. */
const maxCharactersOfAttributes = 20_000_000;
/** Asciidoctor's own limit of one, in its secure mode. */
const maxAttributeCharacters = 4096;

function charactersOfAttributes(lines: readonly SourceLine[]): number {
  const lengths = new Map<string, number>();
  let count = 0;
  for (const { text } of lines) {
    const [, name = "", value = ""] = /^:(\w[\w-]*):\s+(.*)$/.exec(text) ?? [];
    const length = /[{\\]/.test(value) ? maxAttributeCharacters : Math.min(value.length, maxAttributeCharacters);
    if (name !== "") lengths.set(name.toLowerCase(), Math.max(length, lengths.get(name.toLowerCase()) ?? 0));
    for (const [, set] of text.matchAll(/\{set:([\w-]+)/g)) lengths.set(set!.toLowerCase(), maxAttributeCharacters);
    for (const [, used] of text.matchAll(/\{([\w-]+)\}/g)) count += lengths.get(used!.toLowerCase()) ?? 0;
  }
  return count;
}

const lineId = "citewell-line-";

function plain(words: string): string {
  return inlineText(parseHtml(words));
}

function inlineText(node: HtmlNode): string {
  return isText(node) ? node.text : node.children.map(inlineText).join("");
}

/** The elements of the page, each on the line of the last block that started. */
function placed(nodes: readonly HtmlNode[], before: number): { nodes: HtmlNode[]; line: number } {
  let line = before;
  const result: HtmlNode[] = [];
  for (const node of nodes) {
    if (isText(node)) {
      result.push({ text: node.text, line });
      continue;
    }
    const { id = "", class: classes = "" } = node.attributes;
    if (/\binclude\b/.test(classes) && node.name === "a") continue;
    if (id.startsWith(lineId)) line = Number(id.slice(lineId.length)) || line;
    const children = classes.startsWith("admonitionblock") ? admonition(node) : node.children;
    const inside = placed(children, line);
    result.push(elementWith(node, { children: inside.nodes, line }));
    line = inside.line;
  }
  return { nodes: result, line };
}

/** Asciidoctor puts the label of a note beside it, in a table. */
function admonition(node: HtmlElement): HtmlNode[] {
  const [label, content] = find(node, ({ name }) => name === "td");
  return [
    ...named(label, "div").map((paragraph) => elementNode("p", paragraph.children)),
    elementNode("div", content?.children ?? []),
  ];
}

/** Loaded by the first file that is read: most processes read none. */
function asciidoctor(): typeof import("@asciidoctor/core") {
  return createRequire(import.meta.url)("@asciidoctor/core") as typeof import("@asciidoctor/core");
}
