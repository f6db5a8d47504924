import katex from "katex";
import { formulaIn } from "./math.js";
import { sanitisedMath } from "./sanitise.js";

/** Expansions of macros that a formula may have: more end it, so that no formula keeps the page busy. */
const maxExpansions = 500;

/**
 * A formula as MathML, which browsers draw with their own fonts and without any style of ours. `undefined` where the TeX has a
 * mistake, so that it is shown as it was written.
 *
 * @param written the formula between its dollars or brackets
 */
export function drawFormula(written: string): DocumentFragment | undefined {
  const formula = formulaIn(written);
  if (!formula) return undefined;
  try {
    const markup = katex.renderToString(formula.tex, {
      displayMode: formula.isDisplay,
      output: "mathml",
      throwOnError: true,
      maxExpand: maxExpansions,
      strict: false,
      trust: false,
    });
    return sanitisedMath(markup);
  } catch {
    return undefined;
  }
}
