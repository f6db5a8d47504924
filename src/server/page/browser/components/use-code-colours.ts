import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { codeKinds, type CodePart, codeParts } from "../text/code-parts.js";

/** Longer code stays in one colour: this much takes a fifth of a second, in which the page does not answer. */
const maxCharacters = 200_000;

/**
 * Colours code by the browser's own highlights, which add no element, so that marks in it and copied text stay as they are.
 * The grammars are loaded when the first code is shown. A browser without highlights shows code in one colour.
 *
 * @param element the code, or what holds it; already filled when this hook's effect runs.
 * @param language of the element's whole text. Without it, that of each `pre[data-language]` in it.
 * @param shown changes when the element's text does.
 */
export function useCodeColours(
  element: RefObject<HTMLElement | null>,
  language: string | undefined,
  shown: unknown,
): void {
  useLayoutEffect(() => {
    if (element.current === null || typeof Highlight === "undefined") return undefined;
    const codes = language === undefined ? codesIn(element.current) : [{ holder: element.current, language }];
    if (codes.length === 0) return undefined;
    let remove: (() => void) | undefined;
    let isGone = false;
    void loadGrammars().then((grammars) => {
      if (grammars && !isGone) remove = colour(codes, grammars.markUp);
      return undefined;
    });
    return () => {
      isGone = true;
      remove?.();
    };
  }, [language, shown]);
}

/** Code without colours can be read, so a failure to load them, as after an update of the server, is passed over. */
function loadGrammars() {
  return import("../text/code-grammars.js").catch(() => undefined);
}

interface Code {
  readonly holder: HTMLElement;
  readonly language: string;
}

function codesIn(element: HTMLElement): Code[] {
  const blocks = element.querySelectorAll<HTMLElement>("pre[data-language]");
  return Array.from(blocks, (holder) => ({ holder, language: holder.dataset["language"]!.toLowerCase() }));
}

function colour(codes: readonly Code[], markUp: (code: string, language: string) => string | undefined): () => void {
  const added: (() => void)[] = [];
  for (const { holder, language } of codes) {
    const text = holder.textContent;
    const markup = text.length > maxCharacters ? undefined : markUp(text, language);
    if (markup === undefined) continue;
    const parts = codeParts(text, markup);
    for (const kind of codeKinds) {
      const highlight = CSS.highlights.get(`code-${kind}`) ?? new Highlight();
      CSS.highlights.set(`code-${kind}`, highlight);
      const ranges = rangesOf(
        holder,
        parts.filter((part) => part.kind === kind),
      );
      for (const range of ranges) highlight.add(range);
      added.push(() => ranges.forEach((range) => highlight.delete(range)));
    }
  }
  return () => added.forEach((undo) => undo());
}

/** Ranges of an element's text, cut where a mark begins or ends. */
function rangesOf(holder: HTMLElement, parts: readonly CodePart[]): StaticRange[] {
  const ranges: StaticRange[] = [];
  const texts = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT);
  let from = 0;
  let next = 0;
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const to = from + node.nodeValue!.length;
    for (let part = parts[next]; part !== undefined && part.start < to; part = parts[next]) {
      const [startOffset, endOffset] = [Math.max(part.start, from) - from, Math.min(part.end, to) - from];
      if (startOffset < endOffset) {
        ranges.push(new StaticRange({ startContainer: node, startOffset, endContainer: node, endOffset }));
      }
      if (part.end > to) break;
      next++;
    }
    from = to;
  }
  return ranges;
}
