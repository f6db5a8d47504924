import type { Span } from "../../src/core/types.js";

/**
 * Finds the places of chunks in their text by their words, in order. White space is ignored, because some splitters trim or
 * change it. A chunk that is not found after the start of the one before it is left out.
 */
export function locatedSpans(text: string, chunks: readonly string[]): Span[] {
  const places: number[] = [];
  const signs: string[] = [];
  for (let at = 0; at < text.length; at++) {
    if (/\s/.test(text.charAt(at))) continue;
    places.push(at);
    signs.push(text.charAt(at));
  }
  const compact = signs.join("");
  const found: Span[] = [];
  let from = 0;
  for (const chunk of chunks) {
    const wanted = chunk.replace(/\s+/g, "");
    const at = wanted === "" ? -1 : compact.indexOf(wanted, from);
    if (at < 0) continue;
    found.push({ start: places[at]!, end: places[at + wanted.length - 1]! + 1 });
    from = at + 1;
  }
  return found;
}
