import { OptionsError } from "../../core/errors.js";
import { nearestName } from "../../core/options.js";
import { type Explanation, type Explanations, explanations } from "./error-codes.js";

export interface FoundExplanation extends Explanation {
  /** Class that carries the code: classes share some codes. */
  readonly name: keyof Explanations;
  readonly code: string;
}

/** Every explained code, in the order of the classes. */
export const allExplanations: readonly FoundExplanation[] = Object.entries(explanations).flatMap(([name, codes]) =>
  Object.entries(codes as Record<string, Explanation>).map(([code, explanation]) => ({
    name: name as keyof Explanations,
    code,
    ...explanation,
  })),
);

/** Explanations of a code, one for each class that carries it. Throws an `OptionsError` that names the nearest code. */
export function findExplanations(code: string): readonly FoundExplanation[] {
  const found = allExplanations.filter((explanation) => explanation.code === code);
  if (found.length > 0) return found;
  const codes = [...new Set(allExplanations.map((explanation) => explanation.code))];
  const nearest = nearestName(code, codes);
  const hint = nearest === undefined ? `The codes are ${codes.join(", ")}` : `Did you mean ${nearest}?`;
  throw new OptionsError("options", `No error has the code ${JSON.stringify(code)}. ${hint}`);
}
