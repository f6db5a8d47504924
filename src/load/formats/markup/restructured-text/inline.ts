import { elementNode, textNode, type HtmlNode } from "../../element-tree.js";

/** Roles whose text is a name in a program. */
const codeRoles =
  /^(?:(?:\w+:)?(?:func|class|meth|attr|mod|obj|data|const|exc|type|macro|member|struct|enum|var|expr|any)|code|literal|command|program|file|option|envvar|kbd|samp|makevar|regexp|token|py|c)$/;
/** Roles whose words are no text: raw output and index entries. */
const silentRoles: ReadonlySet<string> = new Set(["raw", "index"]);
const opening = String.raw`(?<![\p{L}\p{N}\\])`;
const closing = String.raw`(?![\p{L}\p{N}])`;

/** Places where something other than words may start. The text in the marks is found by `closeOf`. */
const marks = new RegExp(
  [
    String.raw`(?<escape>\\[\s\S])`,
    String.raw`(?<literal>${opening}\x60\x60(?=\S))`,
    String.raw`(?<role>(?<![\p{L}\p{N}]):[A-Za-z][\w.+:-]{0,60}:(?=\x60))?(?<quoted>${opening}_?\x60(?=[^\s\x60])|\x60(?=[^\s\x60]))`,
    String.raw`(?<strong>${opening}\*\*(?=[^\s*]))`,
    String.raw`(?<emphasis>${opening}\*(?=[^\s*]))`,
    String.raw`(?<note>\[(?:\d+|#[\w-]*|\*|[A-Za-z][\w.-]*)\]_${closing})`,
    String.raw`(?<substitution>${opening}\|(?<name>[^\s|][^|\n]{0,200})\|(?:__?${closing})?)`,
    String.raw`(?<reference>(?<=[\p{L}\p{N}])__?(?![\p{L}\p{N}_]))`,
  ].join("|"),
  "gu",
);

/** Finds the ends of marked texts. Each mark is searched to the end once at most when it is not there. */
class Ends {
  readonly #text: string;
  readonly #missing = new Set<string>();

  constructor(words: string) {
    this.#text = words;
  }

  /** The index of the mark that ends a text which starts at `from`, or -1. */
  of(mark: string, from: number): number {
    if (this.#missing.has(mark)) return -1;
    for (let offset = this.#text.indexOf(mark, from + 1); offset >= 0; offset = this.#text.indexOf(mark, offset + 1)) {
      const [before, after] = [this.#text[offset - 1]!, this.#text[offset + mark.length] ?? " "];
      if (/\s/.test(before) || (before === "\\" && mark !== "``") || /[\p{L}\p{N}]/u.test(after)) continue;
      return offset;
    }
    this.#missing.add(mark);
    return -1;
  }
}

/**
 * The words of a paragraph: literals as code, targets of links left out, substitutions by their text.
 *
 * @param line the line of the file on which `words` start
 */
export function inlineNodes(words: string, line: number, substitutions: ReadonlyMap<string, string>): HtmlNode[] {
  const nodes: HtmlNode[] = [];
  const ends = new Ends(words);
  let offset = 0;
  let lineNow = line;
  const advance = (to: number) => {
    for (let end = words.indexOf("\n", offset); end >= 0 && end < to; end = words.indexOf("\n", end + 1)) lineNow++;
    offset = to;
  };
  const plain = (to: number) => {
    if (to > offset) nodes.push(textNode(words.slice(offset, to), lineNow));
    advance(to);
  };
  const put = (node: HtmlNode | undefined, to: number) => {
    if (node) nodes.push(node);
    advance(to);
  };
  marks.lastIndex = 0;
  for (let match = marks.exec(words); match; match = marks.exec(words)) {
    const { escape, literal, role, quoted, strong, emphasis, note, name } = match.groups!;
    const inside = match.index + match[0].length;
    const mark = literal ? "``" : quoted ? "`" : strong ? "**" : emphasis ? "*" : undefined;
    if (mark === undefined) {
      plain(match.index);
      if (escape) put(/\s/.test(escape[1]!) ? undefined : textNode(escape[1]!, lineNow), inside);
      else if (note) put(textNode(note.slice(0, -1), lineNow), inside);
      else if (name) put(textNode(substitutions.get(name.toLowerCase()) ?? name, lineNow), inside);
      else put(undefined, inside);
      continue;
    }
    const end = ends.of(mark, inside);
    if (end < 0) continue;
    plain(match.index);
    const content = words.slice(inside, end);
    const tail =
      mark === "`" ? /^(?::([A-Za-z][\w.+:-]{0,60}):|__?(?![\p{L}\p{N}]))/u.exec(words.slice(end + 1, end + 70)) : null;
    const to = end + mark.length + (tail?.[0].length ?? 0);
    if (mark === "``") put(elementNode("code", [textNode(content, lineNow)], {}, lineNow), to);
    else if (mark === "`") put(interpreted(content, role?.slice(1, -1) ?? tail?.[1], lineNow), to);
    else put(textNode(unescaped(content), lineNow), to);
    marks.lastIndex = to;
  }
  plain(words.length);
  return nodes;
}

/** Text in backquotes: the words of a link without its target, or those of a role. */
function interpreted(content: string, role: string | undefined, line: number): HtmlNode | undefined {
  if (role !== undefined && silentRoles.has(role)) return undefined;
  const target = /^([\s\S]*?)\s*<([^<>]*)>$/.exec(content);
  const label = unescaped(target ? target[1]! || target[2]! : content);
  const isName = role !== undefined && codeRoles.test(role);
  const shown = target || !isName ? label.replace(/^[!~](?=\w)/, "") : shortName(label);
  return isName ? elementNode("code", [textNode(shown, line)], {}, line) : textNode(shown, line);
}

/** `~package.module.name` is shown as `name`; `!name` is no link. */
function shortName(name: string): string {
  return /^~[\w.]+$/.test(name) ? name.slice(name.lastIndexOf(".") + 1).replace(/^~/, "") : name.replace(/^!/, "");
}

function unescaped(words: string): string {
  return words.replace(/\\(\s?)/g, "");
}
