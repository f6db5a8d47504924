import { z } from "zod";
import { hiddenFields, isRecord } from "./json.js";
import { callersNames, resolve } from "./options.js";

/** A value that a filter compares with: never text with number, never `true` with 1. */
export type Scalar = string | number | boolean | null;

/**
 * A condition on a value: the value it must equal, or one of the operators below. A list meets it when one of its elements
 * meets the whole condition; objects within metadata meet only `exists`.
 */
export type Condition<Value = Scalar> = Equal<Value> | OneOf<Value> | Range<Value> | Prefix<Value> | Presence;

type Equal<Value> = Value & Scalar;
/** Equal to one of these. An empty list matches nothing. */
type OneOf<Value> = {
  /** The values, at most 100,000 in all lists of a filter. An empty list matches nothing. */
  readonly in: readonly (Value & Scalar)[];
};
/**
 * Bounds, at least one: numbers compare with numbers, ISO 8601 dates (`2026-03-01`) and times (`2026-03-01T09:30:00Z`,
 * taken as UTC without an offset) with dates and times, by the moment they name. A date means its first moment. Other
 * values meet no bound.
 */
type Range<Value> = [Value & (string | number)] extends [never]
  ? never
  : Partial<Record<"gt" | "gte" | "lt" | "lte", Value & (string | number)>>;
/** Begins with this text, letter by letter. */
type Prefix<Value> = [Value & string] extends [never]
  ? never
  : {
      /** The text, at most 1,024 UTF-16 code units. */
      readonly prefix: string;
    };
/** Whether the document has the field at all; a field that is `null` exists. */
type Presence = {
  /** True: the field must be there. False: it must not. */
  readonly exists: boolean;
};

/** Values that a filter can compare a field with: the elements, if the field is a list. */
type Filtered<Value> = unknown extends Value
  ? Scalar
  : Exclude<Value, undefined> extends infer Given
    ? Given extends readonly (infer Element)[]
      ? Element & Scalar
      : Given extends Scalar
        ? Widened<Given>
        : never
    : never;
type Widened<Value> = Value extends boolean ? boolean : Value;

/**
 * Selects documents. It has the shape of a document with conditions in place of values, and all of them have to hold:
 * `{ metadata: { product: "auth", year: { gte: 2024 } }, uri: { prefix: "file:///docs/" } }`. It holds at most 1,000
 * conditions, up to 32 deep in one another. `Fields` is the type of the metadata.
 */
export interface Filter<Fields extends object = Readonly<Record<string, unknown>>> {
  /** Condition on `Document.uri`. */
  readonly uri?: Condition<string>;
  /** Condition on `Document.title`. */
  readonly title?: Condition<string>;
  /** Condition on `Document.source`, the id of the source that owns the document. */
  readonly source?: Condition<string>;
  /** Condition on `Document.mediaType`. */
  readonly mediaType?: Condition<string>;
  /** Conditions on fields of `Document.metadata`, by name. */
  readonly metadata?: { readonly [Name in keyof Fields]?: Condition<Filtered<Fields[Name]>> };
  /** All of them hold. At least one. */
  readonly all?: readonly Filter<Fields>[];
  /** One of them holds, or more. At least one. */
  readonly any?: readonly Filter<Fields>[];
  /** Matches if the inner filter does not, which includes documents without the field. */
  readonly not?: Filter<Fields>;
}

/** Maximum length of a text in a condition, in UTF-16 code units. Only the beginning of a longer value is compared. */
const maxFilterTextLength = 1024;
const maxFilterDepth = 32;
/** Maximum number of conditions and inner filters. A database plans a condition in tens of microseconds, while all callers wait. */
const maxFilterConditions = 1000;
const maxFilterValues = 100_000;

const text = z
  .string()
  .max(maxFilterTextLength)
  .refine((value) => !/\p{Surrogate}/u.test(value), "half a surrogate pair occurs in no stored value");
const scalar = z.union([text, z.number(), z.boolean(), z.null()]);
// Clocks differ from UTC by 14 hours at most, and SQLite takes no time beyond 14:59 for one: nothing would meet such a bound.
const time = z.iso.datetime({ offset: true, local: true }).refine((value) => !/[+-](1[5-9]|2\d):\d\d$/.test(value));
const bound = z.union([z.number(), z.iso.date(), time], { error: "expected a number or an ISO 8601 date or time" });

/** Anything but an object with fields that are not seen here, each of which could be a condition that would be lost. */
const visible = z.unknown().superRefine((given, context) => {
  const message = hiddenFields(given);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

const operators = ["in", "gt", "gte", "lt", "lte", "prefix", "exists"];

/** Names the operators where another was written, as those of other databases are: a union of schemas would name none. */
const known = z.unknown().superRefine((given, context) => {
  const unknown = isRecord(given) ? Object.keys(given).find((name) => !operators.includes(name)) : undefined;
  if (unknown === undefined) return;
  const message = `has no operator ${JSON.stringify(unknown)}; there are: ${operators.join(", ")}. The value itself, without an object, is to be equal`;
  context.addIssue({ code: "custom", message });
});

/** Names how conditions are joined where they are joined as in other query languages. */
const joined = z.unknown().superRefine((given, context) => {
  const other = isRecord(given)
    ? Object.keys(given).find((name) => /^\$|^(?:and|or|nor|must|must_not|should)$/i.test(name))
    : undefined;
  if (other === undefined) return;
  const message = `has no ${JSON.stringify(other)}: conditions are joined by all: […], any: […] and not: { … }`;
  context.addIssue({ code: "custom", message });
});

// Exactly optional throughout: a value that turned out undefined must not turn a filter into none.
const conditionOf = <Value extends Scalar>(value: z.ZodType<Value>) =>
  visible.pipe(known).pipe(
    z.union(
      [
        value,
        z.strictObject({ in: z.array(value).max(maxFilterValues) }),
        z
          .strictObject({
            gt: z.exactOptional(bound),
            gte: z.exactOptional(bound),
            lt: z.exactOptional(bound),
            lte: z.exactOptional(bound),
          })
          .refine((range) => Object.keys(range).length > 0, "says nothing of the value")
          .refine((range) => new Set(Object.values(range).map((limit) => typeof limit)).size <= 1, {
            error: "bounds are all numbers or all dates",
          }),
        z.strictObject({ prefix: text }),
        z.strictObject({ exists: z.boolean() }),
      ],
      {
        error:
          "expected a value to equal, or { in: [...] }, { gt, gte, lt, lte } of numbers or of ISO dates, { prefix } or { exists }",
      },
    ),
  );

const textCondition = conditionOf(text);
const parts = {
  uri: z.exactOptional(textCondition),
  title: z.exactOptional(textCondition),
  source: z.exactOptional(textCondition),
  mediaType: z.exactOptional(textCondition),
  metadata: z.exactOptional(
    visible
      // An object takes such a key for its prototype, and the condition would be lost.
      .refine((fields) => !(fields instanceof Object && Object.hasOwn(fields, "__proto__")), "cannot name __proto__")
      .pipe(callersNames(z.record(z.string(), conditionOf(scalar))))
      .refine((fields) => Object.keys(fields).length > 0, "names no field"),
  ),
};

const filterOfDepth = (depth: number): z.ZodType<Filter> => {
  const inner = z.lazy(() => (depth === maxFilterDepth ? tooDeep : filterOfDepth(depth + 1)));
  const schema = z.strictObject({
    ...parts,
    all: z.exactOptional(z.array(inner).min(1)),
    any: z.exactOptional(z.array(inner).min(1)),
    not: z.exactOptional(inner),
  });
  return visible
    .pipe(joined)
    .pipe(schema)
    .refine((filter) => Object.keys(filter).length > 0, "names no condition, which would let everything through")
    .transform((filter) => filter as Filter);
};

const tooDeep: z.ZodType<Filter> = z.never(`filters can stand ${maxFilterDepth} deep in one another`);

/** Schema of a filter that comes from outside. */
export const Filter = z
  .unknown()
  .superRefine((given, context) => {
    const message = sizeProblem(given);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  })
  .pipe(filterOfDepth(1));

/** Why a filter is too large to be checked. Counting stops at the limit, so that it costs little however large the filter is. */
function sizeProblem(filter: unknown): string | undefined {
  let conditions = 0;
  let values = 0;
  const open = [{ given: filter, depth: 1 }];
  const count = (condition: unknown) => {
    conditions++;
    if (!isRecord(condition)) return;
    const { in: list } = condition;
    if (Array.isArray(list)) values += list.length;
  };
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { given, depth } = next;
    // The schema says what is wrong with other kinds of values, and with filters that are too deep.
    if (!isRecord(given) || depth > maxFilterDepth) continue;
    for (const [name, part] of Object.entries(given)) {
      const inner =
        name === "not" ? [part] : (name === "all" || name === "any") && Array.isArray(part) ? part : undefined;
      if (inner) {
        conditions += inner.length;
        if (conditions <= maxFilterConditions)
          open.push(...inner.map((condition: unknown) => ({ given: condition, depth: depth + 1 })));
      } else if (name === "metadata" && isRecord(part)) {
        for (const condition of Object.values(part)) count(condition);
      } else count(part);
      if (conditions > maxFilterConditions) {
        return `must hold at most ${maxFilterConditions} conditions; compare a field with many values by { in: [...] }`;
      }
      if (values > maxFilterValues) return `must hold at most ${maxFilterValues} values in its lists`;
    }
  }
  return undefined;
}

/**
 * The filter, checked.
 *
 * @throws OptionsError that names the place of what is wrong: an unknown key, a bad value, a condition that is
 *   undefined or missing altogether. A mistake never turns into the absence of a filter.
 */
export function checkFilter(owner: string, filter: unknown): Filter {
  return resolve(owner, Filter, filter as Filter);
}

/** Admits what both admit; undefined when there is neither. */
export function bothFilters(one: Filter | undefined, other: Filter | undefined): Filter | undefined {
  // Anything but undefined is a filter, so that null or an empty text is refused when it is checked, and never ignored.
  if (one === undefined || one === other) return other;
  return other === undefined ? one : { all: [one, other] };
}
