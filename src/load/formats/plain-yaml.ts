/**
 * Reads the YAML that most front matter is: keys with a word, a sentence, a number or a quoted text, lists of these, folded
 * texts and mappings within. What it returns is what the package `yaml` would; `undefined` where it is not sure, and the
 * package has to be asked. Of 840 files of documentation, the package takes 74 ms when it is warm and this 9; at first it is
 * 275 and 26, since V8 has to compile so much.
 */
export function parsePlainYaml(content: string): Readonly<Record<string, PlainYaml>> | undefined {
  // Tabs, carriage returns and other controls have rules of their own. Nobody writes so many spaces, and looking for what
  // follows them would take the square of their number.
  if (/[^\n -~\u00a0-\ufefe\uff00-\ufffd]| {100}/.test(content)) return undefined;
  const reader = new PlainReader(content.split("\n"));
  const mapping = reader.mapping(0, 0);
  return mapping && reader.isAtEnd ? mapping : undefined;
}

export type PlainYaml = string | number | boolean | null | readonly PlainYaml[] | { readonly [key: string]: PlainYaml };

/** Deeper mappings are left to the package, which refuses them. */
const maxDepth = 8;

const entryPattern = /^([A-Za-z_][\w-]{0,99}(?::[\w-]{1,99})*):(?: +(.*))?$/;
/** Keys that are no text, of which the package makes another key. */
const wordsOfOtherTypes = /^(?:null|Null|NULL|true|True|TRUE|false|False|FALSE|__proto__)$/;

/** Reads lines from the top; a method that meets what it does not know returns `undefined`, which ends the whole reading. */
class PlainReader {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#lines.length;
  }

  /** The entries of a mapping whose keys stand in this column, up to a line that is indented less. */
  mapping(column: number, depth: number): Readonly<Record<string, PlainYaml>> | undefined {
    const entries = new Map<string, PlainYaml>();
    while (this.#skipToContent()) {
      const indent = indentOf(this.#line);
      if (indent < column) break;
      const [, key, written = ""] = (indent === column && entryPattern.exec(this.#line.slice(column))) || [];
      if (key === undefined || wordsOfOtherTypes.test(key)) return undefined;
      this.#at++;
      const value = this.#value(written, column, depth);
      if (value === undefined) return undefined;
      entries.set(key, value);
    }
    return entries.size > 0 ? Object.fromEntries(entries) : undefined;
  }

  get #line(): string {
    return this.#lines[this.#at]!;
  }

  /** Steps over blank lines and comments. Returns whether there is another line. */
  #skipToContent(): boolean {
    while (!this.isAtEnd && /^ *(?:#|$)/.test(this.#line)) this.#at++;
    return !this.isAtEnd;
  }

  /** The value of a key in this column, of which `written` stands behind the key. */
  #value(written: string, column: number, depth: number): PlainYaml | undefined {
    if (/^(?:#|$)/.test(written)) return this.#block(column, depth);
    const folded = /^>(-?)$/.exec(written);
    if (folded) return this.#folded(column, folded[1] === "-");
    const continued = this.#continuation(column);
    if (continued === undefined) return undefined;
    if (continued === "") return inline(written);
    // Only plain texts go on below their key. What ends with a comment does not.
    const text = plainText(written);
    return text === undefined || / #/.test(written) ? undefined : `${text} ${continued}`;
  }

  /** What stands below a key that has nothing behind it. */
  #block(column: number, depth: number): PlainYaml | undefined {
    if (depth === maxDepth) return undefined;
    const below = this.#at;
    if (!this.#skipToContent()) return null;
    const indent = indentOf(this.#line);
    const isList = /^ *- /.test(this.#line);
    if (indent < column || (indent === column && !isList)) return null;
    if (isList) return this.#list(indent, column);
    if (entryPattern.test(this.#line.slice(indent))) return this.mapping(indent, depth + 1);
    // Behind a comment, a text has to be indented as the comment is.
    if (this.#at > below) return undefined;
    return this.#line[indent] === "'" ? this.#quoted(column) : scalarText(this.#continuation(column));
  }

  /** The items of a list whose dashes stand in this column, each on a line of its own. */
  #list(column: number, keyColumn: number): PlainYaml | undefined {
    const items: PlainYaml[] = [];
    while (this.#skipToContent() && indentOf(this.#line) >= column) {
      const [, written] = (indentOf(this.#line) === column && /^ *- +(.+)$/.exec(this.#line)) || [];
      if (written === undefined) return column === keyColumn && items.length > 0 ? items : undefined;
      this.#at++;
      const item = inline(written);
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  }

  /** A quoted text of one or more lines, joined. */
  #quoted(column: number): PlainYaml | undefined {
    const first = this.#at;
    for (; !this.isAtEnd && indentOf(this.#line) > column; this.#at++) {
      if (!/'$/.test(this.#line)) continue;
      const lines = this.#lines.slice(first, ++this.#at);
      // A line that ends with two quotes may go on: only a whole text matches.
      return lines.some((line) => /[^ ] +$/.test(line))
        ? undefined
        : inline(lines.map((line) => line.trim()).join(" "));
    }
    return undefined;
  }

  /** Lines that become one: each is indented alike, and none is blank. */
  #folded(column: number, isStripped: boolean): string | undefined {
    const first = this.#at;
    if (this.isAtEnd) return undefined;
    const indent = indentOf(this.#line);
    if (indent <= column) return undefined;
    while (!this.isAtEnd && indentOf(this.#line) === indent && this.#line.length > indent) {
      if (this.#line.endsWith(" ")) return undefined;
      this.#at++;
    }
    const lines = this.#lines.slice(first, this.#at).map((line) => line.slice(indent));
    // A line that is blank or indented otherwise may still belong to it, and without a line behind it, its end is unclear.
    if (!this.isAtEnd && (this.#line === "" || indentOf(this.#line) > column || /^ *$/.test(this.#line)))
      return undefined;
    if (lines.length === 0 || (this.isAtEnd && !isStripped)) return undefined;
    return lines.join(" ") + (isStripped ? "" : "\n");
  }

  /** The lines that a plain text goes on in, joined; empty where there are none. */
  #continuation(column: number): string | undefined {
    const lines: string[] = [];
    for (; !this.isAtEnd && indentOf(this.#line) > column; this.#at++) {
      // The comment of the next key may be indented, and ends the text as well.
      const text = plainText(this.#line.slice(indentOf(this.#line)));
      if (text === undefined || / #/.test(this.#line)) return undefined;
      lines.push(text);
    }
    // Where it goes on behind a blank line, the mapping finds a line that is none of its own.
    return lines.join(" ");
  }
}

function indentOf(line: string): number {
  let indent = 0;
  while (line.charCodeAt(indent) === 0x20) indent++;
  return indent;
}

/** A value that stands on one line. */
function inline(written: string, depth = 0): PlainYaml | undefined {
  const [, quoted] = /^'((?:[^']|'')*)' *(?: #.*)?$/.exec(written) ?? [];
  if (quoted !== undefined) return quoted.replaceAll("''", "'");
  const [, literal] = /^"([^"\\]*)" *(?: #.*)?$/.exec(written) ?? [];
  if (literal !== undefined) return literal;
  const [, items] = /^\[([^[\]{}'"#:]*)\] *(?: #.*)?$/.exec(written) ?? [];
  if (items !== undefined) return items.trim() === "" ? [] : each(items, scalar);
  const [, outer, inner] = /^\{ *([A-Za-z_][\w-]{0,99}): +(\{.*\}) *\}$/.exec(written) ?? [];
  if (outer !== undefined) {
    const value = depth === maxDepth || wordsOfOtherTypes.test(outer) ? undefined : inline(inner!, depth + 1);
    return value === undefined ? undefined : { [outer]: value };
  }
  const [, fields] = /^\{([^[\]{}'"#]*)\} *(?: #.*)?$/.exec(written) ?? [];
  if (fields !== undefined) {
    const entries = each(fields, (field) => {
      const [, key, value] = /^ *([A-Za-z_][\w-]{0,99}): +([^:]+)$/.exec(field) ?? [];
      const of = key === undefined || wordsOfOtherTypes.test(key) ? undefined : scalar(value!);
      return of === undefined ? undefined : ([key!, of] as const);
    });
    return entries && Object.fromEntries(entries);
  }
  return scalar(written);
}

/** The parts between commas, each made into something; `undefined` where one cannot be. */
function each<Part>(written: string, make: (part: string) => Part | undefined): readonly Part[] | undefined {
  const parts = written.split(",").map(make);
  return parts.every((part) => part !== undefined) ? parts : undefined;
}

/** The signs that may begin something else than a plain text. */
const plainStart = /^[^ \-?:,[\]{}#&*!|>'"%@`]/;

/** A text without quotes as it is meant, without what follows it; `undefined` where it may be anything else. */
function plainText(written: string): string | undefined {
  const text = written.replace(/ +#.*$/, "").replace(/ +$/, "");
  return plainStart.test(text) && !/:(?: |$)/.test(text) ? text : undefined;
}

/** Whole numbers that are exact; any other that YAML would take for a number is left to the package. */
const wholeNumber = /^ *(0|-?[1-9]\d{0,14}) *$/;
const otherNumber =
  /^(?:0o[0-7]+|0x[\da-fA-F]+|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|[-+]?\.(?:inf|Inf|INF)|\.nan|\.NaN|\.NAN)$/;

function scalar(written: string): PlainYaml | undefined {
  return wholeNumber.test(written) ? Number(written) : scalarText(plainText(written.replace(/^ +/, "")));
}

/** What a text without quotes stands for. */
function scalarText(text: string | undefined): PlainYaml | undefined {
  if (text === undefined || text === "" || otherNumber.test(text)) return undefined;
  switch (text) {
    case "true":
      return true;
    case "false":
      return false;
    case "null":
    case "~":
      return null;
  }
  return wordsOfOtherTypes.test(text) ? undefined : text;
}
