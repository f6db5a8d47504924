import { createRequire } from "node:module";
import { asError } from "../../core/errors.js";
import type { Json, Metadata } from "../../core/types.js";

export interface FrontMatter {
  readonly metadata?: Metadata;
  /** Title of front matter that is invalid as a whole. */
  readonly title?: string;
  /** Offset into the text at which the content starts. */
  readonly end: number;
  readonly warning?: string;
}

const newline = String.raw`(?:\r\n|\n|\r)`;
const fenced = (start: string, end: string) =>
  new RegExp(String.raw`^${start}[ \t]*${newline}(?:([\s\S]*?)${newline})?${end}[ \t]*(?:${newline}|$)`);

interface Notation {
  readonly name: string;
  readonly block: RegExp;
  readonly parse: (content: string) => unknown;
}

/** Notations of site generators: YAML between `---`, TOML between `+++`, a JSON object. */
const notations: readonly Notation[] = [
  { name: "YAML", block: fenced("---", String.raw`(?:---|\.\.\.)`), parse: parseYaml },
  { name: "TOML", block: fenced(String.raw`\+\+\+`, String.raw`\+\+\+`), parse: parseToml },
  {
    name: "JSON",
    block: new RegExp(String.raw`^(\{${newline}[\s\S]*?${newline}\})[ \t]*(?:${newline}|$)`),
    parse: (content) => JSON.parse(content) as unknown,
  },
];

/** Parses the metadata at the very start of a text. Anything but a mapping is content. */
export function frontMatter(text: string): FrontMatter {
  const notation = /^(?:---|\+\+\+|\{)/.test(text) ? notations.find(({ block }) => block.test(text)) : undefined;
  if (!notation) return { end: 0 };
  const { name, block, parse } = notation;
  const [{ length: end }, content = ""] = block.exec(text)!;
  try {
    if (content.length > maxCharacters) throw new RangeError(tooLong(content.length));
    const value = new JsonCopy().of(parse(content));
    if (value === null) return { end };
    return isMapping(value) ? { metadata: value, end } : { end: 0 };
  } catch (thrown) {
    // A text in braces may as well be a template.
    if (name === "JSON") return { end: 0 };
    const title = plainTitle.exec(content)?.[2];
    const warning = `front matter is not valid ${name}: ${asError(thrown).message}`;
    return { end, warning, ...(title !== undefined && { title }) };
  }
}

/** Longer front matter is not parsed: its parsers take time that grows faster than the text, and cannot be stopped. */
const maxCharacters = 100_000;

function tooLong(characters: number): string {
  return `it has ${characters} characters, and more than ${maxCharacters} are not parsed: shorten it, or make it text`;
}

/** A title on a line of its own: not a list, mapping or text of several lines. */
const plainTitle = /^title[ \t]*[:=][ \t]*(["']?)([^\s[\]{}|>&*!].{0,500}?)\1[ \t]*$/m;

function isMapping(value: Json): value is Metadata {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses YAML of at most 64 levels and few aliases, so that a short text cannot stand for a large one. */
export function parseYaml(content: string): unknown {
  if (!isShallow(content)) refuseDeepYaml(content);
  const { parseDocument } = yaml();
  // A repeated key must not lose the others.
  const parsed = parseDocument(content, { prettyErrors: false, uniqueKeys: false });
  const [error] = parsed.errors;
  if (error) throw error;
  return parsed.toJS({ maxAliasCount: 100 });
}

/**
 * Whether a text of YAML is surely nested less than `maxDepth` deep, which most are: each bracket opens a level at most, and each
 * column at which a line may begin a mapping and a list. To be sure of that is half of the work of reading it.
 */
function isShallow(content: string): boolean {
  // A tag or an anchor may stand between the marks of two levels.
  if (/[!&]/.test(content)) return false;
  const brackets = content.match(/[[{]/g)?.length ?? 0;
  const columns = (content.match(/^[ \t?:-]*/gm) ?? []).reduce((most, { length }) => Math.max(most, length), 0) + 1;
  return brackets + 2 * columns < maxDepth;
}

/**
 * Refuses deep nesting before anything recurses over it: V8 ends the whole process, with no error to catch, when a regular
 * expression is compiled where the stack is nearly used up.
 */
function refuseDeepYaml(content: string): void {
  const { Lexer, Parser } = yaml();
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(content)) {
    for (const token of parser.next(lexeme)) if (token.type === "error") return;
    // The document, and the scalar that is being read, are no levels of nesting.
    if (parser.stack.length > maxDepth + 2) throw new RangeError(tooDeep);
  }
}

function parseToml(content: string): unknown {
  const { parse, TomlError } = smolToml();
  try {
    return parse(content, { integersAsBigInt: "asNeeded", maxDepth });
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    // Below its first line the message quotes the front matter.
    throw new Error(`line ${thrown.line}: ${thrown.message.split("\n", 1)[0]}`, { cause: thrown });
  }
}

const maxDepth = 64;
const tooDeep = `nested more than ${maxDepth} deep`;
/** Values after the expansion of aliases, by which a short text can be made to stand for millions. */
const maxValues = 100_000;

/** Copies what was parsed. Values of YAML and TOML that JSON lacks become text, dates as ISO 8601. */
class JsonCopy {
  #values = 0;

  of(value: unknown, depth = 0): Json {
    if (depth > maxDepth) throw new RangeError(tooDeep);
    if (++this.#values > maxValues)
      throw new RangeError(`it stands for more than ${maxValues} values: use fewer aliases`);
    if (value === null || value === undefined) return null;
    if (typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
    if (Array.isArray(value)) return value.map((item) => this.of(item, depth + 1));
    if (value instanceof Date) return value.toISOString().replace(".000", "");
    if (typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.of(item, depth + 1)]));
    }
    return typeof value === "bigint" ? value.toString() : null;
  }
}

// Few texts have front matter, and the two packages are 80 files: the first text that has some loads them.

function yaml(): typeof import("yaml") {
  return createRequire(import.meta.url)("yaml") as typeof import("yaml");
}

function smolToml(): typeof import("smol-toml") {
  return createRequire(import.meta.url)("smol-toml") as typeof import("smol-toml");
}
