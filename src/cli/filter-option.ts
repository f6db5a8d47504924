import { InvalidArgumentError } from "commander";
import type { Condition, Filter } from "../filter.js";

const comparisons = { ">=": "gte", ">": "gt", "<=": "lte", "<": "lt" } as const;
const parts = ["uri", "title", "source", "mediaType"];

/**
 * One `--filter`: `field=value`, `field!=value`, `field^=beginning`, `field>=bound` (`>`, `<=`, `<`), or `field` alone
 * for documents that have it. All that are given have to hold.
 */
export function filterOption(text: string, before?: Filter): Filter {
  const [, name, operator, value] = /^([^=<>!^]+?)\s*(?:(>=|<=|!=|\^=|=|>|<)\s*(.*))?$/su.exec(text.trim()) ?? [];
  if (name === undefined) {
    throw new InvalidArgumentError("Write field=value, field!=value, field^=beginning, field>=bound or field.");
  }
  const added =
    operator === "!="
      ? { not: on(name, equal(value!)) }
      : on(name, operator === undefined ? { exists: true } : conditionOf(operator, value!));
  return before ? { all: [before, added] } : added;
}

function on(name: string, condition: Condition): Filter {
  return parts.includes(name) ? { [name]: condition } : { metadata: { [name.replace(/^metadata\./, "")]: condition } };
}

function conditionOf(operator: string, value: string): Condition {
  if (operator === "=") return equal(value);
  if (operator === "^=") return { prefix: value };
  const number = numberOf(value);
  return { [comparisons[operator as keyof typeof comparisons]]: number ?? value };
}

/** A number may have been written down as one or as text; quotes say that it is text. */
function equal(value: string): Condition {
  const quoted = /^"(.*)"$/s.exec(value)?.[1];
  if (quoted !== undefined) return quoted;
  if (value === "true" || value === "false") return { in: [value, value === "true"] };
  if (value === "null") return { in: [value, null] };
  const number = numberOf(value);
  return number === undefined ? value : { in: [value, number] };
}

function numberOf(value: string): number | undefined {
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value) && Number.isFinite(Number(value)) ? Number(value) : undefined;
}
