import { z } from "zod";
import { OptionsError } from "../errors.js";
import type { Condition, Filter, Scalar } from "../filter.js";

/**
 * @throws OptionsError when the filter asks for a field that the schema does not know, or for a value that no document's
 * field can have.
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

/** What one value of the field has to be; of a list, an element. */
function elementOf(field: z.core.$ZodType): z.ZodType {
  if (field instanceof z.ZodArray) return elementOf(field.element);
  if (field instanceof z.ZodOptional || field instanceof z.ZodExactOptional) return elementOf(field.unwrap());
  if (field instanceof z.ZodNullable) return z.union([z.null(), elementOf(field.unwrap())]);
  return field as z.ZodType;
}
