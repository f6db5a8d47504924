import { z } from "zod";
import { OptionsError } from "../../core/errors.js";
import type { Condition, Filter, Scalar } from "../../core/filter.js";

/**
 * Checks a filter against the store's metadata schema.
 *
 * @throws OptionsError when the filter names a field that the schema lacks, or a value that the field can never have.
 */
export function checkFields(schema: z.ZodObject, { metadata = {}, all = [], any = [], not }: Filter): void {
  for (const [name, condition] of Object.entries(metadata)) {
    const field = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
    if (!field) {
      throw new OptionsError(
        "options",
        `filter: metadata.${name}: the store's metadata has no such field, only ${Object.keys(schema.shape).join(", ")}`,
      );
    }
    const value = elementOf(field);
    const impossible = valuesOf(condition!).find((one) => !value.safeParse(one).success);
    if (impossible !== undefined) {
      throw new OptionsError(
        "options",
        `filter: metadata.${name}: no document of this store can have ${JSON.stringify(impossible)} there`,
      );
    }
  }
  for (const inner of [...all, ...any, ...(not ? [not] : [])]) checkFields(schema, inner);
}

function valuesOf(condition: Condition): readonly Scalar[] {
  if (typeof condition !== "object" || condition === null) return [condition];
  return "in" in condition ? condition.in : [];
}

/** The type of one value of the field; for a list, the type of an element. */
function elementOf(field: z.core.$ZodType): z.ZodType {
  if (field instanceof z.ZodArray) return elementOf(field.element);
  if (field instanceof z.ZodOptional || field instanceof z.ZodExactOptional) return elementOf(field.unwrap());
  if (field instanceof z.ZodNullable) return z.union([z.null(), elementOf(field.unwrap())]);
  return field as z.ZodType;
}
