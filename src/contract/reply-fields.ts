import { z } from "zod";

// Fields of replies, read tolerantly: a value that is not what it should be counts as missing, because it must not cost the
// caller the rest of a reply that was paid for.

export const text = z.string().nullish().catch(undefined);
export const flag = z.boolean().nullish().catch(undefined);

const numberInText = (pattern: RegExp) => z.string().regex(pattern).transform(Number);

/** A number. Some services write numbers as text. */
export const amount = z
  .union([z.number(), numberInText(/^-?\d+(\.\d+)?$/)])
  .nullish()
  .catch(undefined);

/** A place in a list, from 0. Anything else in it is an error, because the wrong place is worse than none. */
export const position = z.union([z.int().min(0), numberInText(/^\d+$/)]);

/** An optional part of a reply. */
export const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);

/** The time of a count of seconds since 1970; `undefined` for one that no date can hold. */
export function dateOf(seconds: number | null | undefined): Date | undefined {
  return typeof seconds === "number" && Math.abs(seconds) <= 8.64e12 ? new Date(seconds * 1000) : undefined;
}
