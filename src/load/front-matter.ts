import { createRequire } from "node:module";
import type { Json, Metadata } from "../types.js";

export interface FrontMatter {
  readonly metadata?: Metadata;
  /** Offset into the text at which the content starts. */
  readonly end: number;
  readonly warning?: string;
}

const block = /^---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;

/** The YAML between `---` lines at the very start of a text. What is not a mapping is content. */
export function frontMatter(text: string): FrontMatter {
  if (!text.startsWith("---")) return { end: 0 };
  const found = block.exec(text);
  if (!found) return { end: 0 };
  const end = found[0].length;
  const { parseDocument } = yaml();
  const parsed = parseDocument(found[1] ?? "", { prettyErrors: false });
  const [error] = parsed.errors;
  if (error) return { end, warning: `front matter is not valid YAML: ${error.message}` };
  let value: Json | undefined;
  try {
    value = jsonSafe(parsed.toJS({ maxAliasCount: 100 }), 0);
  } catch (thrown) {
    return {
      end,
      warning: `front matter cannot be used: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    };
  }
  if (value === null) return { end };
  if (typeof value !== "object" || Array.isArray(value)) return { end: 0 };
  return { metadata: value as Metadata, end };
}

const deepest = 64;

/** YAML knows values that JSON does not: they become text. */
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
