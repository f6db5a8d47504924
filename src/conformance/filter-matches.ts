import type { Condition, Filter } from "../core/filter.js";
import type { Document, Json } from "../core/types.js";

/** Whether a filter admits a document, in the most obvious implementation. */
export function filterMatches(filter: Filter, document: Document): boolean {
  const { metadata = {}, all = [], any, not, ...parts } = filter;
  return (
    Object.entries(parts).every(([name, condition]) =>
      holds(condition as Condition, (document as unknown as Record<string, Json | undefined>)[name]),
    ) &&
    Object.entries(metadata).every(([name, condition]) =>
      holds(condition!, Object.hasOwn(document.metadata ?? {}, name) ? document.metadata![name] : undefined),
    ) &&
    all.every((one) => filterMatches(one, document)) &&
    (any === undefined || any.some((one) => filterMatches(one, document))) &&
    (not === undefined || !filterMatches(not, document))
  );
}

function holds(condition: Condition, value: Json | undefined): boolean {
  if (typeof condition === "object" && condition !== null && "exists" in condition) {
    return (value !== undefined) === condition.exists;
  }
  return (Array.isArray(value) ? (value as readonly Json[]) : [value]).some((one) => fits(condition, one));
}

function fits(condition: Condition, value: Json | undefined): boolean {
  if (typeof condition !== "object" || condition === null) return value === condition;
  if ("in" in condition) return condition.in.some((one) => value === one);
  if ("prefix" in condition) return typeof value === "string" && value.startsWith(condition.prefix);
  return Object.entries(condition).every(([bound, limit]: [string, string | number]) => {
    const difference = typeof limit === "number" ? number(value) - limit : moment(value) - moment(limit);
    return { gt: difference > 0, gte: difference >= 0, lt: difference < 0, lte: difference <= 0 }[bound];
  });
}

function number(value: unknown): number {
  return typeof value === "number" ? value : NaN;
}

function moment(value: unknown): number {
  if (typeof value !== "string") return NaN;
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return Date.parse(value);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value)) return NaN;
  return Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(value) ? value : `${value}Z`);
}
