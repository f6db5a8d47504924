import { InvalidArgumentError } from "commander";
import type { Condition, Filter } from "../../core/filter.js";
import type { RowMapping } from "../../load/formats/row-mapping.js";

/** Reads a whole number within these bounds. */
export function between(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

export function positive(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError("It must be a number above 0.");
}

/** Reads a number within these bounds, with or without decimals. */
export function decimalBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = positive(text);
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`);
  };
}

/** Removes the line break at the end of a key or token, as in files of mounted secrets. No key ends in one. */
export function key(text: string): string {
  return text.replace(/[\r\n]+$/, "");
}

/** A flag with one value that may be given several times. A flag with several values would take the paths behind it. */
export function repeated(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

export const modes = ["hybrid", "dense", "lexical"];

/** `--mode hybrid dense`, `--mode hybrid,dense` and `--mode hybrid --mode dense` are the same. */
export function searchModes(text: string, before: readonly string[] = []): readonly string[] {
  const named = text.split(",");
  if (named.some((mode) => !modes.includes(mode))) {
    throw new InvalidArgumentError(`Allowed are ${modes.join(", ")}.`);
  }
  return [...new Set([...before, ...named])];
}

const rowParts = ["text", "title", "id", "uri", "metadata"] as const;

/**
 * `--rows text=body,title=subject,id=key`: which column is which part of a document. Text and metadata may have several
 * columns, each named with its part: `text=question,text=answer`.
 */
export function rowsOption(text: string, before: RowMapping = {}): RowMapping {
  return text.split(",").reduce(addColumn, before);
}

function addColumn(mapping: RowMapping, entry: string): RowMapping {
  const [, name, column] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/su.exec(entry) ?? [];
  const part = rowParts.find((rowPart) => rowPart === name);
  if (part === undefined || !column) {
    const wanted = `Write part=column, the part being one of ${rowParts.join(", ")}: text=body,title=subject.`;
    throw new InvalidArgumentError(`${JSON.stringify(entry)} names no part of a document. ${wanted}`);
  }
  if (part === "text" || part === "metadata") return { ...mapping, [part]: [...[mapping[part] ?? []].flat(), column] };
  if (mapping[part] === undefined) return { ...mapping, [part]: column };
  throw new InvalidArgumentError(
    `There is one column for ${part}, and both ${mapping[part]} and ${column} were named.`,
  );
}

const comparisons = { ">=": "gte", ">": "gt", "<=": "lte", "<": "lt" } as const;
const documentParts = ["uri", "title", "source", "mediaType"];

/**
 * One `--filter`: `field=value`, `field!=value`, `field^=beginning`, `field>=bound` (`>`, `<=`, `<`), or `field` alone
 * for documents that have it. Several filters must all hold.
 */
export function filterOption(text: string, before?: Filter): Filter {
  const [, name, operator, value] = /^([^=<>!^]+?)\s*(?:(>=|<=|!=|\^=|=|>|<)\s*(.*))?$/su.exec(text.trim()) ?? [];
  // No value begins with a sign, unless it is quoted: `==`, `=~` and `=>` are operators of other languages.
  if (name === undefined || /^[=~<>!^*]/.test(value ?? "") || /[~:]$/.test(name)) {
    throw new InvalidArgumentError(
      'There are =, !=, ^= (begins with), >=, >, <= and <: write field=value, or field="value" for one that begins with a sign; field alone asks for documents that have it.',
    );
  }
  const added =
    operator === "!="
      ? { not: on(name, equal(value!)) }
      : on(name, operator === undefined ? { exists: true } : condition(operator, value!));
  return before ? { all: [before, added] } : added;
}

function on(name: string, required: Condition): Filter {
  return documentParts.includes(name)
    ? { [name]: required }
    : { metadata: { [name.replace(/^metadata\./, "")]: required } };
}

function condition(operator: string, value: string): Condition {
  if (operator === "=") return equal(value);
  if (operator === "^=") return { prefix: value };
  return { [comparisons[operator as keyof typeof comparisons]]: asNumber(value) ?? value };
}

/** Metadata may hold a number as a number or as text, so both are found. Quotes ask for text alone. */
function equal(value: string): Condition {
  const quoted = /^"(.*)"$/s.exec(value)?.[1];
  if (quoted !== undefined) return quoted;
  if (value === "true" || value === "false") return { in: [value, value === "true"] };
  if (value === "null") return { in: [value, null] };
  const number = asNumber(value);
  return number === undefined ? value : { in: [value, number] };
}

function asNumber(value: string): number | undefined {
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value) && Number.isFinite(Number(value)) ? Number(value) : undefined;
}
