import { isRecord } from "../../../../core/json.js";
import { terms } from "../../../../text/words/terms.js";
import { plainText } from "../../../../text/blocks/plain-text.js";
import { similarity } from "../word-forms.js";
import { resolved, textOf, typeOf, validator, type Schema } from "./json-schema.js";
import { maxValues, neutralValue, type Room } from "./neutral-value.js";
import { enumeration, mentionOf, writtenDates, writtenNumbers, type Written } from "./written-values.js";

/** Values nested deeper than this are left out. */
const maxDepth = 6;

/**
 * A value of a JSON Schema from the sentences that answer a question: numbers, days and allowed values by the words that
 * they stand near. `undefined` when the sentences do not hold what the schema requires: nothing is made up.
 */
export function structuredValue(schema: Schema, question: string, sentences: readonly string[]): unknown {
  return valueOf(schema, extractionFrom(schema, question, sentences));
}

/**
 * The same for a caller who requires a value: what the sentences do not hold is null, empty, 0 or the first that is allowed.
 */
export function requiredValue(schema: Schema, question: string, sentences: readonly string[]): unknown {
  const found = valueOf(schema, { ...extractionFrom(schema, question, sentences), completes: true });
  return found === undefined ? neutralValue(schema, schema) : found;
}

function extractionFrom(schema: Schema, question: string, sentences: readonly string[]): Extraction {
  const texts = sentences.map(plainText).filter((text) => text !== "");
  return {
    root: schema,
    texts,
    wanted: wordsOf(question),
    name: "",
    described: "",
    depth: 0,
    room: { left: maxValues },
  };
}

/**
 * Arguments of a tool from the words of a question, so that they satisfy the tool's JSON Schema. `undefined` when the
 * question does not hold a required one.
 */
export function fillArguments(schema: Schema, question: string): Readonly<Record<string, unknown>> | undefined {
  const object = { type: "object", ...schema };
  const filled = valueOf(object, {
    ...extractionFrom(schema, "", []),
    texts: [question],
    question,
  });
  return isRecord(filled) ? filled : undefined;
}

interface Extraction {
  /** Root schema, at which `#/…` references begin. */
  readonly root: Schema;
  /** Texts, best first. */
  readonly texts: readonly string[];
  /** When arguments of a tool are filled in. */
  readonly question?: string;
  /** Whether required properties that are not found get a neutral value. */
  readonly completes?: boolean;
  /** Words that a value should stand near. */
  readonly wanted: readonly string[];
  /** Name of the value, and name and description together. */
  readonly name: string;
  readonly described: string;
  readonly depth: number;
  /** Counts the values that may still be looked for: a schema that refers to itself twice doubles at every level. */
  readonly room: Room;
}

function valueOf(given: Schema, extraction: Extraction): unknown {
  const { depth, room, root } = extraction;
  const schema = depth > maxDepth || room.left <= 0 ? undefined : resolved(given, root);
  room.left--;
  if (schema === undefined) return undefined;
  if ("const" in schema) return schema["const"];
  const value = allowedValue(schema, extraction);
  if (value !== undefined) return value;
  if (extraction.question !== undefined) return schema["default"];
  return Array.isArray(schema["type"]) && schema["type"].includes("null") ? null : undefined;
}

function allowedValue(schema: Schema, extraction: Extraction): unknown {
  const written = writtenValues(schema, extraction.texts);
  if (written !== undefined) return nearest(written, extraction);
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(branches)) return firstValue(branches, extraction);
  switch (typeOf(schema)) {
    case "object":
      return objectOf(schema, extraction);
    case "array":
      return arrayOf(schema, extraction);
    case "boolean":
      return truthOf(extraction);
    case "null":
      return null;
    default:
      return textFor(schema, extraction);
  }
}

/** The first value that can be had, strictest kinds before text; null when it is allowed and nothing else can. */
function firstValue(branches: readonly unknown[], extraction: Extraction): unknown {
  const usable = branches.filter(isRecord);
  const ranked = usable.toSorted((a, b) => Number(isText(a, extraction.root)) - Number(isText(b, extraction.root)));
  // A branch that is found goes before one that must be completed.
  for (const completes of extraction.completes === true ? [false, true] : [false]) {
    for (const branch of ranked) {
      const value = valueOf(branch, { ...deeper(extraction), completes });
      if (value !== undefined && value !== null) return value;
    }
    if (usable.some((branch) => branch["type"] === "null")) return null;
  }
  return undefined;
}

function isText(schema: Schema, root: Schema): boolean {
  return typeOf(resolved(schema, root) ?? schema) === "string" && !("enum" in schema) && !("const" in schema);
}

function objectOf(schema: Schema, extraction: Extraction): unknown {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const found: [string, unknown][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const given = isRecord(property) ? property : {};
    const usable = resolved(given, extraction.root) ?? given;
    const described = `${separateWords(name)} ${textOf(usable["description"])}`;
    // The name of a property says more of its value than the question does.
    const wanted = [...wordsOf(described), ...wordsOf(described), ...extraction.wanted];
    const inner = { ...deeper(extraction), name, described, wanted };
    const value = valueOf(given, inner) ?? (required.has(name) ? lastResort(usable, extraction) : undefined);
    if (value !== undefined && (required.has(name) || isAsked(usable, inner))) found.push([name, value]);
  }
  const complete = [...required].every((name) => found.some(([one]) => one === name));
  const enough = found.length > 0 || required.size === 0 || extraction.question !== undefined;
  return complete && enough ? Object.fromEntries(found) : undefined;
}

/** A required argument that the question does not name is its first allowed value, or false. */
function lastResort(schema: Schema, { question, completes, root, room }: Extraction): unknown {
  if (completes === true) return neutralValue(schema, root, room);
  if (question === undefined) return undefined;
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  return typeOf(schema) === "boolean" ? false : undefined;
}

/** An optional argument is given when the question speaks of it, or names one of its values. */
function isAsked(schema: Schema, { question, name, texts }: Extraction): boolean {
  if (question === undefined) return true;
  if (Array.isArray(schema["enum"])) return writtenValues(schema, texts)?.length !== 0;
  return holdsAll(question, name);
}

function arrayOf(schema: Schema, extraction: Extraction): unknown {
  if ("prefixItems" in schema) return undefined;
  const given = isRecord(schema["items"]) ? schema["items"] : {};
  const items = resolved(given, extraction.root) ?? given;
  const { minItems = 1, maxItems = Number.POSITIVE_INFINITY } = schema;
  const values = distinct(itemsOf(items, { ...extraction, completes: false })).slice(0, Number(maxItems));
  return values.length >= Math.max(1, Number(minItems)) ? values : undefined;
}

function itemsOf(items: Schema, extraction: Extraction): readonly unknown[] {
  const { texts, question } = extraction;
  const written = writtenValues(items, texts);
  if (written !== undefined) return written.map(({ value }) => value);
  if (typeOf(items) === "string" && question === undefined) {
    const listed = texts.map(enumeration).find((parts) => parts.length > 1) ?? texts;
    return listed.filter(validator(items));
  }
  const each = texts.map((text) => valueOf(items, { ...deeper(extraction), texts: [text] }));
  return each.filter((value) => value !== undefined);
}

interface Candidate extends Written<unknown> {
  readonly text: string;
  /** Place of the text among the texts. */
  readonly rank: number;
}

/** The values that the texts hold, in order; `undefined` for objects, lists, truths and free text, which none holds as such. */
function writtenValues(schema: Schema, texts: readonly string[]): readonly Candidate[] | undefined {
  const find = finderOf(schema);
  return find && texts.flatMap((text, rank) => find(text).map((written) => ({ ...written, text, rank })));
}

function finderOf(schema: Schema): ((text: string) => readonly Written<unknown>[]) | undefined {
  const { enum: values, format } = schema;
  if (Array.isArray(values)) {
    return (text) =>
      values.flatMap((value) => mentionOf(value, text) ?? []).toSorted((a, b) => a.start - b.start || b.end - a.end);
  }
  const type = typeOf(schema);
  if (type === "number" || type === "integer") {
    const isAllowed = validator(schema);
    return (text) => writtenNumbers(text).filter(({ value }) => isAllowed(value));
  }
  if (type !== "string") return undefined;
  if (format === "date") return writtenDates;
  const form = formats.get(textOf(format));
  return form && ((text) => matches(form, text));
}

const email = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const uri = /https?:\/\/[^\s"'<>()]*[\w/]/g;
const formats = new Map([
  ["email", email],
  ["uri", uri],
  ["uuid", /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi],
  ["ipv4", /\b\d{1,3}(?:\.\d{1,3}){3}\b/g],
]);

function matches(form: RegExp, text: string): readonly Written<string>[] {
  return [...text.matchAll(form)].map(({ 0: value, index }) => ({ value, start: index, end: index + value.length }));
}

/** A text further back costs as much as this share of a wanted word. */
const rankCost = 0.5;
/** Letters at which a word is half as near. */
const halfNear = 20;

/** The value that stands nearest to most of the wanted words, and does not merely repeat the question. */
function nearest(found: readonly Candidate[], { wanted }: Extraction): unknown {
  const scored = found.map((candidate) => {
    const { text, start, end, rank, value } = candidate;
    let near = 0;
    for (const match of text.matchAll(/[\p{L}\p{N}]+/gu)) {
      const position = match.index;
      if (position >= start && position < end) continue;
      const [word] = wordsOf(match[0]);
      if (word === undefined) continue;
      const distance = position >= end ? position - end : start - position - match[0].length;
      const alike = Math.max(0, ...wanted.map((want) => similarity(word, want)));
      near += alike / (1 + Math.max(0, distance) / halfNear);
    }
    const repeats = wordsOf(String(value)).some((word) => wanted.includes(word)) ? 1 : 0;
    return { value, score: near - rankCost * rank - repeats };
  });
  return scored.toSorted((a, b) => b.score - a.score)[0]?.value;
}

const denies = /\b(?:not?|never|cannot|without|none|neither|nor|disabled|forbidden|\w+n['’]t)\b|[不没未无禁]/iu;

/** Whether the sentence nearest to the value's name affirms it; `undefined` when none speaks of it. */
function truthOf({ texts, question, name, described, wanted }: Extraction): boolean | undefined {
  if (question !== undefined) return holdsAll(question, name) ? true : undefined;
  const about = described === "" ? wanted : wordsOf(described);
  const best = texts.toSorted((a, b) => wordsHeld(b, about) - wordsHeld(a, about))[0];
  return best === undefined || wordsHeld(best, about) === 0 ? undefined : !denies.test(best);
}

/** The sentence nearest to the value's name, or as much of the sentences as fits. */
function textFor(schema: Schema, { texts, question, name, described }: Extraction): string | undefined {
  if (question !== undefined) return argumentText(name, schema, question);
  if (schema["format"] !== undefined) return undefined;
  const about = wordsOf(described);
  const ordered =
    described === ""
      ? [texts.join(" "), ...texts]
      : texts.toSorted((a, b) => wordsHeld(b, about) - wordsHeld(a, about));
  return ordered.find(validator(schema));
}

/** Where a question holds a text argument, by the name of the argument; the first that fits. */
const finders: readonly { readonly named: RegExp; readonly finds: RegExp }[] = [
  { named: /e-?mail/i, finds: email },
  { named: /\bur[il]\b|link|website/i, finds: uri },
  { named: /date|day/i, finds: /\d{4}-\d{2}-\d{2}|\btoday\b|\btomorrow\b|\byesterday\b|今天|明天|昨天/i },
  { named: /expression|formula|equation/i, finds: /[\d(][\d\s.+\-*/^()%]*[+\-*/^%][\d\s.+\-*/^()%]*[\d)]/ },
  { named: /\bid\b|identifier|number|code|sku/i, finds: /\b(?=[\w-]*\d)[\w-]{2,}\b/ },
  {
    named: /city|location|place|country|region|town|destination|address/i,
    finds: /(?<=\b(?:in|at|for|of|to|from|near) )\p{Lu}[\p{L}'-]*(?:[ ,]+\p{Lu}[\p{L}'-]*)*/u,
  },
  {
    named: /city|location|place|country|region|地/i,
    finds: /(?<=在|查|查询|请问|^)[\p{Script=Han}]{2,4}?(?=[的今明昨现]|天气|$)/u,
  },
];

/** A text argument of a tool: what its name or format tells it to be, a quoted text, or the whole question. */
function argumentText(name: string, schema: Schema, question: string): string | undefined {
  const findBy = (words: string) =>
    finders.filter(({ named }) => named.test(words)).map(({ finds }) => question.match(finds)?.[0].trim());
  const quoted = /["“「『']([^"”」』']{1,200})["”」』'](?!\p{L})/u.exec(question)?.[1];
  const found = [
    ...findBy(name),
    quoted,
    ...findBy(`${name.replace(/_/g, " ")} ${textOf(schema["description"])}`),
    question.trim(),
  ];
  const isAllowed = validator(schema);
  return found.find((value) => value !== undefined && isAllowed(value));
}

function wordsHeld(text: string, words: readonly string[]): number {
  const found = wordsOf(text);
  return words.filter((word) => found.some((one) => similarity(word, one) > 0)).length;
}

/** Whether a question holds all words of a name. */
function holdsAll(question: string, name: string): boolean {
  const found = new Set(terms(question));
  const words = terms(separateWords(name));
  return words.length > 0 && words.every((word) => found.has(word));
}

function separateWords(name: string): string {
  return name.replace(/[_-]/g, " ").replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2");
}

function wordsOf(text: string): readonly string[] {
  return terms(text);
}

function deeper(extraction: Extraction): Extraction {
  return { ...extraction, depth: extraction.depth + 1 };
}

function distinct(values: readonly unknown[]): readonly unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
