import { isRecord } from "./error-body.js";

interface Difference {
  /** `input.0`; empty for the body as a whole. */
  readonly field: string;
  readonly recorded: unknown;
  readonly sent: unknown;
}

/** Fields in which two JSON values differ. */
export function differences(recorded: unknown, sent: unknown, field = ""): readonly Difference[] {
  const listed = Array.isArray(recorded) && Array.isArray(sent);
  if (!listed && !(isRecord(recorded) && isRecord(sent))) {
    return Object.is(recorded, sent) || JSON.stringify(recorded) === JSON.stringify(sent)
      ? []
      : [{ field, recorded, sent }];
  }
  const [before, now] = [recorded, sent] as readonly Readonly<Record<string, unknown>>[];
  const keys = new Set([...Object.keys(before!), ...Object.keys(now!)]);
  return [...keys].flatMap((key) => differences(before![key], now![key], field === "" ? key : `${field}.${key}`));
}

/** What makes a body another than the nearest of those that were recorded. */
export function nearestDifference(recorded: readonly unknown[], sent: unknown): string {
  let nearest: readonly Difference[] | undefined;
  for (const body of recorded) {
    const found = differences(body, sent);
    if (!nearest || found.length < nearest.length) nearest = found;
  }
  const [first] = nearest ?? [];
  if (!first) return "";
  const more = nearest!.length > 1 ? `, and ${nearest!.length - 1} more` : "";
  const place = first.field === "" ? "the body" : first.field;
  return `${place}: recorded ${shown(first.recorded)}, sent ${shown(first.sent)}${more}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
