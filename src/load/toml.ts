import type { Json } from "../types.js";

type Table = { [key: string]: Json };

const spaces = /(?:[ \t\r\n]|#[^\r\n]*)*/y;
const blanks = /[ \t]*(?:#[^\r\n]*)?/y;
const bareKey = /[A-Za-z0-9_-]+/y;
const string =
  /"""(?:\r?\n)?((?:[^\\"]|\\[\s\S]|"(?!""))*)"""|'''(?:\r?\n)?((?:(?!''')[\s\S])*)'''|"((?:[^"\\\r\n]|\\.)*)"|'([^'\r\n]*)'/y;
const literal = /[^\s,#[\]{}"'=]+(?: \d\d:\d\d[^\s,#[\]{}]*)?/y;
const escapes: Readonly<Record<string, string>> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", e: "\x1b" };
const deepest = 64;

/**
 * What a text in TOML says: https://toml.io/en/v1.0.0. Dates and times are texts, as JSON has none.
 *
 * @throws Error that names the line that is not TOML.
 */
export function parseToml(text: string): { readonly [key: string]: Json } {
  return new TomlReader(text).read();
}

class TomlReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Table {
    const root: Table = newTable();
    let table = root;
    for (this.#skip(spaces); this.#at < this.#text.length; this.#skip(spaces)) {
      const mark = this.#take("[[") ? "]]" : this.#take("[") ? "]" : undefined;
      if (mark === undefined) this.#pair(table, 0);
      else {
        const path = this.#path();
        if (!this.#take(mark)) throw this.#error();
        table = mark === "]" ? this.#tableAt(root, path) : this.#newItem(root, path);
      }
      this.#skip(blanks);
      if (this.#at < this.#text.length && !/[\r\n]/.test(this.#text[this.#at]!)) throw this.#error();
    }
    return root;
  }

  #pair(table: Table, depth: number): void {
    const path = this.#path();
    if (!this.#take("=")) throw this.#error();
    this.#skip(blanks);
    const value = this.#value(depth);
    const inside = this.#tableAt(table, path.slice(0, -1));
    const key = path.at(-1)!;
    if (key in inside) throw this.#error(`${key} is there twice`);
    inside[key] = value;
  }

  #path(): string[] {
    const path: string[] = [];
    do {
      this.#skip(blanks);
      const key = this.#match(bareKey)?.[0] ?? this.#string();
      if (key === undefined) throw this.#error();
      path.push(key);
      this.#skip(blanks);
    } while (this.#take("."));
    return path;
  }

  /** The table by that path, made where there is none; of a list of tables the last. */
  #tableAt(root: Table, path: readonly string[]): Table {
    let table = root;
    for (const key of path) {
      const found = (table[key] ??= newTable());
      const inside = Array.isArray(found) ? (found as Json[]).at(-1) : found;
      if (typeof inside !== "object" || inside === null) throw this.#error(`${key} is no table`);
      table = inside as Table;
    }
    return table;
  }

  #newItem(root: Table, path: readonly string[]): Table {
    const parent = this.#tableAt(root, path.slice(0, -1));
    const list = (parent[path.at(-1)!] ??= []);
    if (!Array.isArray(list)) throw this.#error(`${path.at(-1)} is no list`);
    const item = newTable();
    list.push(item);
    return item;
  }

  #value(depth: number): Json {
    if (depth > deepest) throw this.#error(`nested more than ${deepest} deep`);
    const said = this.#string();
    if (said !== undefined) return said;
    if (this.#take("[")) return this.#list(depth + 1);
    if (this.#take("{")) return this.#inlineTable(depth + 1);
    const word = this.#match(literal)?.[0];
    if (word === undefined) throw this.#error();
    if (word === "true" || word === "false") return word === "true";
    const digits = word.replaceAll("_", "");
    const isNumber = /^[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$|^0(?:x[\da-fA-F]+|o[0-7]+|b[01]+)$/.test(digits);
    if (isNumber) return Number(digits);
    if (/^(?:\d|[+-]?(?:inf|nan)$)/.test(word)) return word;
    throw this.#error();
  }

  #list(depth: number): Json[] {
    const list: Json[] = [];
    for (this.#skip(spaces); !this.#take("]"); this.#skip(spaces)) {
      list.push(this.#value(depth));
      this.#skip(spaces);
      if (!this.#take(",") && this.#text[this.#at] !== "]") throw this.#error();
    }
    return list;
  }

  #inlineTable(depth: number): Table {
    const table = newTable();
    for (this.#skip(spaces); !this.#take("}"); this.#skip(spaces)) {
      this.#pair(table, depth);
      this.#skip(spaces);
      if (!this.#take(",") && this.#text[this.#at] !== "}") throw this.#error();
    }
    return table;
  }

  #string(): string | undefined {
    const found = this.#match(string);
    if (!found) return undefined;
    const [, long, longLiteral, short, shortLiteral] = found;
    const raw = longLiteral ?? shortLiteral;
    return raw ?? (long === undefined ? short! : long.replace(/\\[ \t]*\r?\n\s*/g, "")).replace(escaped, unescaped);
  }

  #take(sign: string): boolean {
    if (!this.#text.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }

  #skip(pattern: RegExp): void {
    this.#match(pattern);
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? undefined;
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  #error(reason?: string): Error {
    const line = 1 + this.#text.slice(0, this.#at).split("\n").length - 1;
    return new Error(`line ${line}: ${reason ?? "cannot be read"}`);
  }
}

/** Without a prototype, so that a key such as `constructor` is a key like any other. */
function newTable(): Table {
  return Object.create(null) as Table;
}

const escaped = /\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|([\s\S]))/g;

function unescaped(_: string, short?: string, long?: string, sign?: string): string {
  if (sign !== undefined) return escapes[sign] ?? sign;
  const point = Number.parseInt(short ?? long!, 16);
  return point > 0x10ffff ? "\u{fffd}" : String.fromCodePoint(point);
}
