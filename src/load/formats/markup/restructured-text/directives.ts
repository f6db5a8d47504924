import { elementNode, elementsOf, isText, textNode, type HtmlElement, type HtmlNode } from "../../element-tree.js";
import { codeBlock, dedented, isBlank, type SourceLine } from "../source-lines.js";

/** The surrounding block reader, as far as directives use it. */
interface Reader {
  readonly blocks: (lines: readonly SourceLine[], depth: number) => HtmlNode[];
  readonly inline: (lines: readonly SourceLine[]) => HtmlNode[];
}

interface Directive {
  readonly name: string;
  /** Lines up to the options or the first empty line. */
  readonly args: readonly SourceLine[];
  readonly options: ReadonlyMap<string, string>;
  readonly content: readonly SourceLine[];
  readonly line: number;
}

const named = (names: string): ReadonlySet<string> => new Set(names.split(" "));
/** Directives for programs, or whose text is elsewhere: in other files, in source code, or in an index. */
const silent = named(
  "contents toctree index highlight include literalinclude raw meta role default-role sectnum section-numbering currentmodule module tabularcolumns autosummary automodule autoclass autofunction automethod bibliography default-domain target-notes title header footer restructuredtext-test-directive cssclass sectionauthor codeauthor inheritance-diagram plot graphviz digraph graph uml",
);
const code = named(
  "code code-block sourcecode prompt console parsed-literal productionlist doctest testcode testoutput testsetup ipython mermaid math",
);
const admonitions = named(
  "attention caution danger error hint important note tip warning admonition seealso todo versionadded versionchanged versionremoved deprecated",
);
/** Directives whose argument is the start of what they hold. */
const flowing = named(
  "epigraph highlights pull-quote compound container hlist only ifconfig centered rst-class class topic sidebar rubric glossary tab tabs tab-set tab-item grid grid-item card dropdown details collapse",
);
const pictures = named("image figure");
const versions: Readonly<Record<string, string>> = {
  versionadded: "New in version",
  versionchanged: "Changed in version",
  versionremoved: "Removed in version",
  deprecated: "Deprecated since version",
  seealso: "See also",
};

/** The words that a line gives to a name, as in `.. |release| replace:: 2.4`. */
export function substitutionIn(line: string): { name: string; words: string } | undefined {
  const found = /^\.\. \|([^|]{1,200})\|\s+(replace|image|unicode)::\s*(.*)$/.exec(line);
  if (!found) return undefined;
  const [, name, kind, words] = found as unknown as [string, string, string, string];
  return { name, words: kind === "replace" ? words : kind === "image" ? "" : unicodeText(words) };
}

function unicodeText(codes: string): string {
  return codes.replace(/\s*\.\. .*$/, "").replace(/(?:0x|U\+|\\u)([\dA-Fa-f]{1,6})\s*/g, (_, digits: string) => {
    const point = Number.parseInt(digits, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : "";
  });
}

/** The nodes of a block that starts with two dots: a directive, a note, or nothing for comments and targets. */
export function directiveNodes(lines: readonly SourceLine[], reader: Reader, depth: number): HtmlNode[] {
  const [first] = lines as [SourceLine];
  const rest = dedented(lines.slice(1));
  const note = /^\.\. \[((?:\d+|#[\w-]*|\*|[A-Za-z][\w.-]*))\](?: +|$)/.exec(first.text);
  if (note) {
    const body = [
      { text: `[${note[1]}] ${first.text.slice(note[0].length)}`.replaceAll("*", "\\*"), line: first.line },
      ...rest,
    ];
    return reader.blocks(body, depth);
  }
  const directive = directiveIn(first, rest);
  return directive ? nodesOf(directive, reader, depth) : [];
}

function directiveIn(first: SourceLine, rest: readonly SourceLine[]): Directive | undefined {
  const found = /^\.\. ([A-Za-z][\w:.+-]{0,80}) ?::(?: +(.*))?$/.exec(first.text);
  if (!found) return undefined;
  const args = found[2] ? [{ text: found[2], line: first.line }] : [];
  let offset = 0;
  while (!isBlank(rest[offset]) && !isOption(rest[offset]!)) args.push(rest[offset++]!);
  const options = new Map<string, string>();
  for (; !isBlank(rest[offset]) && (isOption(rest[offset]!) || options.size > 0); offset++) {
    const option = /^:([\w-]+):\s*(.*)$/.exec(rest[offset]!.text);
    if (option) options.set(option[1]!, option[2]!);
  }
  return { name: found[1]!.toLowerCase(), args, options, content: rest.slice(offset), line: first.line };
}

function isOption({ text: line }: SourceLine): boolean {
  return /^:[\w-]+:(?:\s|$)/.test(line);
}

function nodesOf(directive: Directive, reader: Reader, depth: number): HtmlNode[] {
  const { name, args, options, content, line } = directive;
  const plain = (words: string) => elementNode("p", [textNode(words, line)], {}, line);
  if (silent.has(name) || name.startsWith("auto")) return [];
  const caption = options.get("caption");
  if (code.has(name)) {
    const isMath = name === "math";
    const shown = isMath || name === "parsed-literal" ? [...args, ...content] : content;
    const body = dedented(shown.filter((shownLine, index) => index > 0 || !isBlank(shownLine)));
    const language = isMath ? "math" : (args[0]?.text ?? "").replace(/[^\w+#.-].*/, "");
    return [...(caption ? [plain(caption)] : []), ...(body.length > 0 ? [codeBlock(body, language)] : [])];
  }
  if (pictures.has(name)) {
    const words = options.get("alt");
    const shown =
      words === undefined ? [] : [elementNode("p", [elementNode("img", [], { alt: words }, line)], {}, line)];
    return [...shown, ...reader.blocks(content, depth)];
  }
  if (admonitions.has(name)) {
    const isVersion = name.startsWith("version") || name === "deprecated";
    const own = name === "admonition";
    const label = versions[name] ?? name[0]!.toUpperCase() + name.slice(1);
    if (isVersion) {
      const [version = "", ...words] = (args[0]?.text ?? "").split(" ");
      const body = [{ text: words.join(" "), line }, ...args.slice(1), ...content];
      const start = { text: `${label} ${version}: ${body[0]!.text}`, line };
      return reader.blocks([start, ...body.slice(1)], depth);
    }
    const title = own ? reader.inline(args) : [textNode(label, line)];
    return [elementNode("p", title, {}, line), ...reader.blocks(own ? content : [...args, ...content], depth)];
  }
  if (name === "csv-table") return [...captions(args, reader, line), csvTable(directive, reader)];
  if (name === "list-table") return [...captions(args, reader, line), ...reader.blocks(content, depth).map(asTable)];
  if (name === "table") return [...captions(args, reader, line), ...reader.blocks(content, depth)];
  if (flowing.has(name)) {
    const isHidden =
      name === "only" || name === "ifconfig" || name.endsWith("class") || name === "container" || name === "hlist";
    const head = isHidden || args.length === 0 ? [] : [elementNode("p", reader.inline(args), {}, line)];
    return [...head, ...reader.blocks(content, depth)];
  }
  // Descriptions of functions, classes, options and the like, and directives that nobody has heard of.
  if (args.length === 0) return reader.blocks(content, depth);
  const isObject =
    /:|^(?:function|class|method|attribute|data|exception|option|envvar|cmdoption|program|command|variable|describe|object|decorator|property|staticmethod|classmethod)$/.test(
      name,
    );
  if (!isObject) return [elementNode("p", reader.inline(args), {}, line), ...reader.blocks(content, depth)];
  const terms = args.map((arg) =>
    elementNode(
      "dt",
      [elementNode("code", [textNode(arg.text.replace(/\\$/, ""), arg.line)], {}, arg.line)],
      {},
      arg.line,
    ),
  );
  return [elementNode("dl", [...terms, elementNode("dd", reader.blocks(content, depth), {}, line)], {}, line)];
}

function captions(args: readonly SourceLine[], reader: Reader, line: number): HtmlNode[] {
  return args.length === 0 ? [] : [elementNode("p", reader.inline(args), {}, line)];
}

/** A list of rows, each a list of cells, as a table. */
function asTable(node: HtmlNode): HtmlNode {
  if (isText(node) || node.name !== "ul") return node;
  const rows = elementsOf(node).map((row) => {
    const cells = elementsOf(elementsOf(row)[0]).map((cell) => elementNode("td", cell.children, {}, cell.line));
    return elementNode("tr", cells, {}, row.line);
  });
  return elementNode("table", rows, {}, node.line);
}

function csvTable({ options, content, line }: Directive, reader: Reader): HtmlElement {
  const head = options.get("header");
  const rows = [...(head ? [{ text: head, line }] : []), ...content.filter((contentLine) => !isBlank(contentLine))];
  return elementNode(
    "table",
    rows.map((row) =>
      elementNode(
        "tr",
        fieldsOf(row.text).map((fieldText) =>
          elementNode("td", reader.inline([{ text: fieldText, line: row.line }]), {}, row.line),
        ),
        {},
        row.line,
      ),
    ),
    {},
    line,
  );
}

/** The fields of a line of comma-separated values. */
function fieldsOf(row: string): string[] {
  return [...`,${row}`.matchAll(/,[ \t]*(?:"((?:[^"]|"")*)"[^,]*|([^,]*))/g)].map(([, quoted, bare]) =>
    quoted === undefined ? bare!.trim() : quoted.replaceAll('""', '"'),
  );
}
