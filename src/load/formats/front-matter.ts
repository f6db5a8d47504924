import { createRequire } from "node:module";
import type { Schema } from "js-yaml";
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

/** Parses YAML of at most 64 levels. Text without any value is `null`, like an empty one. */
export function parseYaml(content: string): unknown {
  const { loadAll, YAMLException } = yaml();
  try {
    // A repeated key must not lose the others.
    const documents = loadAll(content, { schema: (anyTag ??= schemaOfAnyTag()), json: true, maxDepth });
    if (documents.length > 1) throw new Error("it holds more than one document");
    return documents[0] ?? null;
  } catch (thrown) {
    if (!(thrown instanceof YAMLException)) throw thrown;
    // Its message quotes the text in several lines.
    const { reason, mark } = thrown;
    if (reason.startsWith("nesting exceeded")) throw new RangeError(tooDeep, { cause: thrown });
    throw new Error(mark ? `line ${mark.line + 1}: ${reason}` : reason, { cause: thrown });
  }
}

let anyTag: Schema | undefined;

/** Values whose tags only some other program knows are read as if they had none, rather than that all is lost. */
function schemaOfAnyTag(): Schema {
  const { CORE_SCHEMA, defineScalarTag, mapTag, seqTag, strTag } = yaml();
  const text = { ...strTag, implicit: false, resolve: (source: string) => source };
  return CORE_SCHEMA.withTags(
    ...["!", "tag:"].flatMap((tagName) => {
      const any = { tagName, matchByTagPrefix: true };
      return [
        defineScalarTag(tagName, { ...text, matchByTagPrefix: true }),
        { ...seqTag, ...any },
        { ...mapTag, ...any },
      ];
    }),
  );
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

// Few texts have front matter, and most commands read none: the first text that has some loads the two packages.

function yaml(): typeof import("js-yaml") {
  return createRequire(import.meta.url)("js-yaml") as typeof import("js-yaml");
}

function smolToml(): typeof import("smol-toml") {
  return createRequire(import.meta.url)("smol-toml") as typeof import("smol-toml");
}
