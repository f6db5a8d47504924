import { useLayoutEffect, useRef } from "preact/hooks";
import { usePage } from "../state/page.js";
import { tellingPlaces } from "../text/telling-words.js";

/** Name under which answer.css styles the words. */
const name = "telling";

/**
 * Marks the question's words in an element while no chat model is connected, by the browser's own highlights: no element is
 * added to the text. A browser without them marks nothing.
 *
 * @param shown changes when the words of the element do.
 */
export function useTellingWords<T extends HTMLElement>(question: string, shown: unknown) {
  const { status } = usePage();
  const element = useRef<T>(null);
  const isMarked = status.value?.chatModel === false;
  useLayoutEffect(() => {
    if (!isMarked || element.current === null || typeof Highlight === "undefined") return undefined;
    const all = CSS.highlights.get(name) ?? new Highlight();
    CSS.highlights.set(name, all);
    const ranges = rangesIn(element.current, question);
    for (const range of ranges) all.add(range);
    return () => {
      for (const range of ranges) all.delete(range);
    };
  }, [question, shown, isMarked]);
  return element;
}

function rangesIn(element: HTMLElement, question: string): StaticRange[] {
  const ranges: StaticRange[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    if (node.parentElement?.closest("button, h3")) continue;
    for (const { start, end } of tellingPlaces(node.nodeValue ?? "", question)) {
      ranges.push(new StaticRange({ startContainer: node, startOffset: start, endContainer: node, endOffset: end }));
    }
  }
  return ranges;
}
