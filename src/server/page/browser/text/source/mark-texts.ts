import type { Stretch } from "../place-in-rendering.js";

/** Wraps a stretch of an element's text in elements, one for each text node that it reaches into, and returns those. */
export function markTexts(holder: HTMLElement, place: Stretch, make: () => HTMLElement): HTMLElement[] {
  const texts = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT);
  const cuts: { readonly node: Text; readonly from: number; readonly to: number }[] = [];
  let at = 0;
  for (let node = texts.nextNode() as Text | null; node !== null; node = texts.nextNode() as Text | null) {
    const [from, to] = [Math.max(place.start - at, 0), Math.min(place.end - at, node.data.length)];
    at += node.data.length;
    // Line breaks between the elements of a list or a table are not words.
    if (from < to && (node.data.trim() !== "" || node.parentElement?.closest("p, pre"))) cuts.push({ node, from, to });
  }
  return cuts.map(({ node, from, to }) => {
    const wrapped = node.splitText(from);
    wrapped.splitText(to - from);
    const wrapper = make();
    wrapped.replaceWith(wrapper);
    wrapper.append(wrapped);
    return wrapper;
  });
}
