import { createRequire } from "node:module";
import { asError } from "../errors.js";
import type { Json, Metadata } from "../types.js";
import { parseToml } from "./toml.js";

export interface FrontMatter {
  readonly metadata?: Metadata;
  /** The title of front matter that cannot be read as a whole. */
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

/** As the makers of sites have it: YAML between `---`, TOML between `+++`, a JSON object. */
const notations: readonly Notation[] = [
  { name: "YAML", block: fenced("---", String.raw`(?:---|\.\.\.)`), parse: parseYaml },
  { name: "TOML", block: fenced(String.raw`\+\+\+`, String.raw`\+\+\+`), parse: parseToml },
  {
    name: "JSON",
    block: new RegExp(String.raw`^(\{${newline}[\s\S]*?${newline}\})[ \t]*(?:${newline}|$)`),
    parse: (content) => JSON.parse(content) as unknown,
  },
];

/** What a text says of itself at its very start. What is not a mapping is content. */
export function frontMatter(text: string): FrontMatter {
  const notation = /^(?:---|\+\+\+|\{)/.test(text) ? notations.find(({ block }) => block.test(text)) : undefined;
  if (!notation) return { end: 0 };
  const { name, block, parse } = notation;
  const [{ length: end }, content = ""] = block.exec(text)!;
  try {
    const value = jsonSafe(parse(content), 0);
    if (value === null) return { end };
    return isMapping(value) ? { metadata: value, end } : { end: 0 };
  } catch (thrown) {
    // A text in braces is as likely to be a template.
    if (name === "JSON") return { end: 0 };
    const title = plainTitle.exec(content)?.[2];
    const warning = `front matter is not valid ${name}: ${asError(thrown).message}`;
    return { end, warning, ...(title !== undefined && { title }) };
  }
}

/** A title on a line of its own, no list, mapping or text of several lines. */
const plainTitle = /^title[ \t]*[:=][ \t]*(["']?)([^\s[\]{}|>&*!].*?)\1[ \t]*$/m;

function isMapping(value: Json): value is Metadata {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseYaml(content: string): unknown {
  const { parseDocument } = yaml();
  // A key that is there twice is no reason to lose the others.
  const parsed = parseDocument(content, { prettyErrors: false, uniqueKeys: false });
  const [error] = parsed.errors;
  if (error) throw error;
  return parsed.toJS({ maxAliasCount: 100 });
}

const deepest = 64;

/** YAML and TOML know values that JSON does not: they become text. */
function jsonSafe(value: unknown, depth: number): Json {
  if (depth > deepest) throw new RangeError(`nested more than ${deepest} deep`);
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return value.map((item) => jsonSafe(item, depth + 1));
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonSafe(item, depth + 1)]));
  }
  return typeof value === "bigint" ? value.toString() : null;
}

/** Loaded by the first text that has front matter: it is one in many, and the package is 70 files. */
function yaml(): typeof import("yaml") {
  return createRequire(import.meta.url)("yaml") as typeof import("yaml");
}
