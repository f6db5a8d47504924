import { terms } from "../../text/terms.js";
import { alikeness } from "./alikeness.js";
import { allowedNumber, allowedText, isRecord, numeric, resolved, textOf, typeOf, type Schema } from "./json-schema.js";
import { plainText } from "./plain-text.js";
import { plainForm } from "./word-forms.js";
import { writtenDates, writtenNumbers, type Written } from "./written-values.js";

/** Values nested deeper than this are left out. */
const deepest = 6;

const schemaLine = /"answer" fits this JSON Schema: (\{.*\})\s*$/m;

/** The schema that the instructions ask an answer to fit; `undefined` when they name none. */
export function answerSchema(instructions: string): Schema | undefined {
  const written = schemaLine.exec(instructions)?.[1];
  if (written === undefined) return undefined;
  try {
    const schema: unknown = JSON.parse(written);
    return isRecord(schema) ? schema : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A value of a JSON Schema from the sentences that answer a question: numbers, days and allowed values by the words that
 * they stand near. `undefined` when the sentences do not hold what the schema requires: nothing is made up.
 */
export function structuredValue(schema: Schema, question: string, said: readonly string[]): unknown {
  const texts = said.map(plainText).filter((text) => text !== "");
  return valueOf(schema, { root: schema, texts, wanted: wordsOf(question), named: "", depth: 0 });
}

interface Extraction {
  readonly root: Schema;
  /** Best first. */
  readonly texts: readonly string[];
  /** Words that a value should stand near. */
  readonly wanted: readonly string[];
  /** Name and description of what is being filled. */
  readonly named: string;
  readonly depth: number;
}

function valueOf(given: Schema, extraction: Extraction): unknown {
  const schema = extraction.depth > deepest ? undefined : resolved(given, extraction.root);
  if (schema === undefined) return undefined;
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"])) return nearest(mentionsOf(schema["enum"], extraction.texts), extraction);
  for (const key of ["anyOf", "oneOf"]) {
    const branches = schema[key];
    if (Array.isArray(branches)) return firstValue(branches, extraction);
  }
  const value = ofType(schema, extraction);
  const nullable = Array.isArray(schema["type"]) && schema["type"].includes("null");
  return value === undefined && nullable ? null : value;
}

function ofType(schema: Schema, extraction: Extraction): unknown {
  switch (typeOf(schema)) {
    case "object":
      return objectOf(schema, extraction);
    case "array":
      return arrayOf(schema, extraction);
    case "integer":
    case "number":
      return nearest(numbersOf(schema, extraction.texts), extraction);
    case "boolean":
      return truthOf(extraction);
    case "null":
      return null;
    default:
      return textFor(schema, extraction);
  }
}

/** What can be had, strictest kinds before text; null when it is allowed and nothing else can. */
function firstValue(branches: readonly unknown[], extraction: Extraction): unknown {
  const usable = branches.filter(isRecord);
  const ranked = usable.toSorted((a, b) => Number(isText(a, extraction.root)) - Number(isText(b, extraction.root)));
  for (const branch of ranked) {
    const value = valueOf(branch, { ...extraction, depth: extraction.depth + 1 });
    if (value !== undefined && value !== null) return value;
  }
  return usable.some((branch) => branch["type"] === "null") ? null : undefined;
}

function isText(schema: Schema, root: Schema): boolean {
  return typeOf(resolved(schema, root) ?? schema) === "string" && !("enum" in schema) && !("const" in schema);
}

function objectOf(schema: Schema, extraction: Extraction): unknown {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const found: [string, unknown][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const usable = isRecord(property) ? property : {};
    const described = resolved(usable, extraction.root) ?? usable;
    const named = `${name.replace(/_/g, " ").replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")} ${textOf(described["description"])}`;
    // What a property is called says more of its value than the question does.
    const wanted = [...wordsOf(named), ...wordsOf(named), ...extraction.wanted];
    const value = valueOf(usable, { ...extraction, named, wanted, depth: extraction.depth + 1 });
    if (value !== undefined) found.push([name, value]);
  }
  const complete = [...required].every((name) => found.some(([one]) => one === name));
  return complete && (found.length > 0 || required.size === 0) ? Object.fromEntries(found) : undefined;
}

function arrayOf(schema: Schema, extraction: Extraction): unknown {
  const given = isRecord(schema["items"]) ? schema["items"] : {};
  const items = resolved(given, extraction.root) ?? given;
  const values = distinct(itemsOf(items, extraction)).slice(0, numeric(schema["maxItems"]) ?? Infinity);
  return values.length >= Math.max(1, numeric(schema["minItems"]) ?? 0) ? values : undefined;
}

function itemsOf(items: Schema, extraction: Extraction): readonly unknown[] {
  const { texts } = extraction;
  if (Array.isArray(items["enum"])) return mentionsOf(items["enum"], texts).map(({ value }) => value);
  const type = typeOf(items);
  if (type === "number" || type === "integer") return numbersOf(items, texts).map(({ value }) => value);
  if (type === "string" && items["format"] === "date") return datesOf(texts).map(({ value }) => value);
  if (type === "string") {
    const listed = texts.map(enumeration).find((parts) => parts.length > 1) ?? texts;
    return listed.filter((part) => allowedText(part, items));
  }
  const each = texts.map((text) => valueOf(items, { ...extraction, texts: [text], depth: extraction.depth + 1 }));
  return each.filter((value) => value !== undefined);
}

/** A longer text is no list, and would take long to be read as one. In UTF-16 units. */
const longestList = 800;

/** The parts of `… A, B and C.`: what stands before them ends in a verb or a colon. */
function enumeration(text: string): readonly string[] {
  if (text.length > longestList) return [];
  const list =
    /.*(?:[:：]\s*|\b(?:are|were|is|was|include|includes|included|including|of|between|supports?|takes?|has|have|with|allows?)\s+|包括|有|支持|为|是)((?:[^,，、;；.。]{1,60}(?:,|，|、|;)\s*)*[^,，、;；.。]{1,60}?(?:,|，|、)?\s*(?:\b(?:and|or)\b|和|及|与|或)\s*[^,，、;；.。]{1,60})/u.exec(
      text,
    )?.[1];
  if (list === undefined) return [];
  return list
    .split(/\s*(?:,|，|、|;|；)\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+|\s*[和及与或]\s*/u)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

interface Candidate<Value> extends Written<Value> {
  readonly text: string;
  /** Place of the text among the texts. */
  readonly rank: number;
}

function candidates<Value>(
  texts: readonly string[],
  find: (text: string) => readonly Written<Value>[],
): readonly Candidate<Value>[] {
  return texts.flatMap((text, rank) => find(text).map((written) => ({ ...written, text, rank })));
}

function numbersOf(schema: Schema, texts: readonly string[]): readonly Candidate<number>[] {
  return candidates(texts, writtenNumbers).filter(({ value }) => allowedNumber(value, schema, typeOf(schema)));
}

function datesOf(texts: readonly string[]): readonly Candidate<string>[] {
  return candidates(texts, writtenDates);
}

/** The allowed values that the texts name, in their order there. */
function mentionsOf(values: readonly unknown[], texts: readonly string[]): readonly Candidate<unknown>[] {
  return candidates(texts, (text) =>
    values
      .flatMap((value) => {
        const written = String(value).replace(/[_-]/g, " ").trim().toLowerCase();
        const start = written === "" ? -1 : placeOf(text.toLowerCase().replace(/[_-]/g, " "), written);
        return start < 0 ? [] : [{ value, start, end: start + written.length }];
      })
      .toSorted((a, b) => a.start - b.start || b.end - a.end),
  );
}

/** Where words stand in a text and are no part of longer ones; endings may differ. */
function placeOf(text: string, written: string): number {
  const stemmed = /[a-z]{5}$/.test(written) ? written.replace(/(?:e|y|s|ing|ed)$/, "") : written;
  for (let at = text.indexOf(stemmed); at >= 0; at = text.indexOf(stemmed, at + 1)) {
    const behind = text.slice(at + stemmed.length);
    const ends = stemmed === written ? /^s?(?![a-z\d])/.test(behind) : /^[a-z]{0,3}(?![a-z\d])/.test(behind);
    if (!/[a-z\d]$/.test(text.slice(0, at)) && ends) return at;
  }
  return -1;
}

/** A text further back costs as much as a word of those wanted. */
const rankCost = 0.5;
/** Letters at which a word is half as near. */
const halfNear = 20;

/** The value that stands nearest to most of the words wanted, and is none of the question's own. */
function nearest<Value>(found: readonly Candidate<Value>[], { wanted }: Extraction): Value | undefined {
  const scored = found.map((candidate) => {
    const { text, start, end, rank, value } = candidate;
    let near = 0;
    for (const match of text.matchAll(/[\p{L}\p{N}]+/gu)) {
      const at = match.index;
      if (at >= start && at < end) continue;
      const [word] = wordsOf(match[0]);
      if (word === undefined) continue;
      const distance = at >= end ? at - end : start - at - match[0].length;
      const alike = Math.max(0, ...wanted.map((want) => alikeness(word, new Set([want]))));
      near += alike >= 0.6 ? alike / (1 + Math.max(0, distance) / halfNear) : 0;
    }
    const repeats = wordsOf(String(value)).some((word) => wanted.includes(word)) ? 1 : 0;
    return { value, score: near - rankCost * rank - repeats };
  });
  return scored.toSorted((a, b) => b.score - a.score)[0]?.value;
}

const denies = /\b(?:not?|never|cannot|without|none|neither|nor|disabled|forbidden|\w+n['’]t)\b|[不没未无禁]/iu;

/** Whether the sentence nearest to what is named affirms it; `undefined` when none speaks of it. */
function truthOf({ texts, named, wanted }: Extraction): boolean | undefined {
  const about = named === "" ? wanted : wordsOf(named);
  const scored = texts.map((text) => {
    const found = new Set(wordsOf(text));
    return { text, held: about.filter((word) => alikeness(word, found) >= 0.6).length };
  });
  const best = scored.toSorted((a, b) => b.held - a.held)[0];
  return best === undefined || best.held === 0 ? undefined : !denies.test(best.text);
}

const formats: Readonly<Record<string, RegExp>> = {
  email: /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/,
  uri: /https?:\/\/[^\s"'<>()]*[\w/]/,
  uuid: /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/i,
  ipv4: /\b\d{1,3}(?:\.\d{1,3}){3}\b/,
};

/** Text of a format, else the sentence nearest to what is named, else what fits of the sentences together. */
function textFor(schema: Schema, extraction: Extraction): string | undefined {
  const { texts, named } = extraction;
  const format = textOf(schema["format"]);
  if (format === "date") return nearest(datesOf(texts), extraction);
  const form = formats[format];
  if (form !== undefined) return texts.map((text) => form.exec(text)?.[0]).find((value) => value !== undefined);
  if (format !== "") return undefined;
  const about = wordsOf(named);
  const held = (text: string) => {
    const found = new Set(wordsOf(text));
    return about.filter((word) => alikeness(word, found) >= 0.6).length;
  };
  const ordered = named === "" ? [texts.join(" "), ...texts] : texts.toSorted((a, b) => held(b) - held(a));
  return ordered.find((text) => allowedText(text, schema));
}

function wordsOf(text: string): readonly string[] {
  return terms(text).map(plainForm);
}

function distinct(values: readonly unknown[]): readonly unknown[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const key = JSON.stringify(value);
    return !seen.has(key) && seen.add(key) !== undefined;
  });
}
