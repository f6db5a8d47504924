import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/**
 * Draws the formulas in an element. What draws them is loaded with the first formula; until then, and where one has a mistake,
 * the TeX is shown.
 *
 * @param shown changes when the element's content does.
 */
export function useFormulas(element: RefObject<HTMLElement | null>, shown: unknown): void {
  useLayoutEffect(() => {
    const waiting = [...(element.current?.querySelectorAll<HTMLElement>(".formula:not(:has(math))") ?? [])];
    if (waiting.length === 0) return undefined;
    let isGone = false;
    void loadDrawing().then((drawing) => {
      if (!drawing || isGone) return undefined;
      for (const formula of waiting) {
        const drawn = drawing.drawFormula(formula.textContent);
        if (drawn) formula.replaceChildren(drawn);
      }
      return undefined;
    });
    return () => {
      isGone = true;
    };
  }, [shown]);
}

/** Formulas can be read as TeX, so a failure to load what draws them, as after an update of the server, is passed over. */
function loadDrawing() {
  return import("../text/draw-formula.js").catch(() => undefined);
}
