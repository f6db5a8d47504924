import { terms } from "../../text/terms.js";
import {
  allowedNumber,
  allowedText,
  isRecord,
  mentioned,
  numeric,
  resolved,
  textOf,
  typeOf,
  type Schema,
} from "./json-schema.js";

/** Arguments nested deeper than this are left out. */
const deepest = 6;

/**
 * Arguments of a tool, taken from the words of a question so that they satisfy the tool's JSON Schema. `undefined` when
 * a required one is not to be found in it.
 */
export function fillArguments(schema: Schema, question: string): Readonly<Record<string, unknown>> | undefined {
  const filled = fill("", { type: "object", ...schema }, { question, root: schema, depth: 0 });
  return isRecord(filled) ? filled : undefined;
}

interface Filling {
  readonly question: string;
  /** Where `#/…` references begin. */
  readonly root: Schema;
  readonly depth: number;
}

function fill(name: string, given: Schema, filling: Filling): unknown {
  if (filling.depth > deepest) return undefined;
  const schema = resolved(given, filling.root);
  if (schema === undefined) return undefined;
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"])) return mentioned(schema["enum"], filling.question) ?? schema["default"];
  for (const key of ["anyOf", "oneOf"]) {
    const branches = schema[key];
    if (!Array.isArray(branches)) continue;
    for (const branch of branches) {
      const value = isRecord(branch) ? fill(name, branch, deeper(filling)) : undefined;
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  }
  const value = ofType(name, schema, filling);
  return value === undefined ? schema["default"] : value;
}

function ofType(name: string, schema: Schema, filling: Filling): unknown {
  switch (typeOf(schema)) {
    case "object":
      return fillObject(schema, filling);
    case "array":
      return fillArray(name, schema, filling);
    case "integer":
    case "number":
      return fillNumber(schema, filling.question);
    case "boolean":
      return mentions(filling.question, name) ? true : undefined;
    case "null":
      return null;
    default:
      return fillString(name, schema, filling.question);
  }
}

function fillObject(schema: Schema, filling: Filling): unknown {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const found: [string, unknown][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const usable = isRecord(property) ? property : {};
    let value = fill(name, usable, deeper(filling));
    if (value === undefined && required.has(name)) value = lastResort(usable, filling);
    if (value === undefined && required.has(name)) return undefined;
    if (value !== undefined && (required.has(name) || isAsked(name, usable, filling.question)))
      found.push([name, value]);
  }
  if ([...required].some((name) => !found.some(([one]) => one === name))) return undefined;
  return Object.fromEntries(found);
}

/** What a required argument may be when the question does not say: its first allowed value, or false. */
function lastResort(given: Schema, { root }: Filling): unknown {
  const schema = resolved(given, root) ?? given;
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  return typeOf(schema) === "boolean" ? false : undefined;
}

/** An optional argument is given when the question speaks of it, or names one of its values. */
function isAsked(name: string, schema: Schema, question: string): boolean {
  if (Array.isArray(schema["enum"])) return mentioned(schema["enum"], question) !== undefined;
  return mentions(question, name);
}

function fillArray(name: string, schema: Schema, filling: Filling): unknown {
  const items = isRecord(schema["items"]) ? schema["items"] : {};
  const itemType = typeOf(resolved(items, filling.root) ?? items);
  const least = numeric(schema["minItems"]) ?? 0;
  const most = numeric(schema["maxItems"]) ?? Number.POSITIVE_INFINITY;
  const values =
    itemType === "number" || itemType === "integer"
      ? numbersIn(filling.question).filter((value) => allowedNumber(value, items, itemType))
      : [fill(name, items, deeper(filling))].filter((value) => value !== undefined);
  return values.length >= least && values.length > 0 ? values.slice(0, most) : undefined;
}

function fillNumber(schema: Schema, question: string): number | undefined {
  return numbersIn(question).find((value) => allowedNumber(value, schema, typeOf(schema)));
}

function numbersIn(text: string): readonly number[] {
  return (text.match(/(?<![\p{L}\d.])-?\d+(?:\.\d+)?(?![\p{Script=Latin}\d])/gu) ?? []).map(Number);
}

/** Where in a question a text argument is found, by what the argument is called; the first that fits. */
const finders: readonly { readonly called: RegExp; readonly finds: RegExp }[] = [
  { called: /e-?mail/i, finds: /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/ },
  { called: /\burl\b|link|website/i, finds: /https?:\/\/[^\s"'<>]+/ },
  { called: /date|day/i, finds: /\d{4}-\d{2}-\d{2}|\btoday\b|\btomorrow\b|\byesterday\b|今天|明天|昨天/i },
  { called: /expression|formula|equation/i, finds: /[\d(][\d\s.+\-*/^()%]*[+\-*/^%][\d\s.+\-*/^()%]*[\d)]/ },
  { called: /\bid\b|identifier|number|code|sku/i, finds: /\b(?=[\w-]*\d)[\w-]{2,}\b/ },
  {
    called: /city|location|place|country|region|town|destination|address/i,
    finds: /(?<=\b(?:in|at|for|of|to|from|near) )\p{Lu}[\p{L}'-]*(?:[ ,]+\p{Lu}[\p{L}'-]*)*/u,
  },
  {
    called: /city|location|place|country|region|地/i,
    finds: /(?<=在|查|查询|请问|^)[\p{Script=Han}]{2,4}?(?=[的今明昨现]|天气|$)/u,
  },
];

function fillString(name: string, schema: Schema, question: string): string | undefined {
  const called = `${name.replace(/_/g, " ")} ${typeof schema["description"] === "string" ? schema["description"] : ""}`;
  const byFormat = schema["format"] === "date" ? "date" : schema["format"] === "uri" ? "url" : textOf(schema["format"]);
  const quoted = /["“「『']([^"”」』']{1,200})["”」』'](?!\p{L})/u.exec(question)?.[1];
  const candidates = [
    ...finders
      .filter(({ called: pattern }) => pattern.test(name) || pattern.test(byFormat))
      .map(({ finds }) => finds.exec(question)?.[0].trim()),
    quoted,
    ...finders
      .filter(({ called: pattern }) => pattern.test(called))
      .map(({ finds }) => finds.exec(question)?.[0].trim()),
    question.trim(),
  ];
  return candidates.find((value) => value !== undefined && allowedText(value, schema));
}

function mentions(question: string, name: string): boolean {
  const asked = new Set(terms(question));
  const parts = terms(name.replace(/[_-]/g, " "));
  return parts.length > 0 && parts.every((part) => asked.has(part));
}

function deeper(filling: Filling): Filling {
  return { ...filling, depth: filling.depth + 1 };
}
