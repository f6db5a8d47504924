import { Marked, type Token } from "marked";
import type { WireExcerpt } from "../../../api/wire.js";
import { anotherDocument } from "./addresses.js";
import { withoutScripts } from "./markdown.js";
import { hasLetters, placeInRendering, type Stretch } from "./place-in-rendering.js";
import { sanitisedFragment } from "./sanitise.js";
import { isSlides } from "../words/slides.js";
import { type DrawnSource, element } from "./source/drawn-source.js";
import { markTexts } from "./source/mark-texts.js";
import { type BlockKind, nodesOf, partsOf } from "./source/parts.js";

export { drawRows } from "./source/draw-rows.js";
export type { DrawnSource } from "./source/drawn-source.js";

export interface Drawing {
  readonly excerpt: Pick<WireExcerpt, "uri" | "text" | "from" | "length" | "pages" | "cells" | "tableHead">;
  /** Offsets into the document. */
  readonly highlight: Stretch;
  /** The whole sentence around it. */
  readonly sentence: Stretch;
  readonly properties: string;
  readonly pageBreak: (page: number) => string;
  readonly slide: (slide: number) => string;
  /** Label of the output of a notebook's cell. */
  readonly output: string;
  readonly restOfSentence: string;
}

const frontMatter = /^---[ \t]*\n(?:[^\n]*\n)*?---[ \t]*(?:\n|$)/;

/**
 * Draws Markdown as it looks, with the cited words highlighted in it. `undefined` when their place in the rendering is not
 * certain, so that the text itself is shown.
 */
export function drawSource(drawing: Drawing): DrawnSource | undefined {
  const { excerpt, highlight, sentence } = drawing;
  const { text, from } = wholeBlocks(excerpt, highlight);
  const parts = partsOf(excerpt, from, text.length);
  const nodes: Node[] = [];
  const marks: HTMLElement[] = [];
  for (const part of parts) {
    const drawn: Block[] = [];
    for (const block of blocksOf(text.slice(part.start - from, part.end - from), part.start, drawing)) {
      const own = (stretch: Stretch) => within(stretch, block.start, block.source.length);
      if (!mark(block, own(highlight), () => element("mark"), marks)) return undefined;
      for (const rest of [
        { start: sentence.start, end: Math.min(sentence.end, highlight.start) },
        { start: Math.max(sentence.start, highlight.end), end: sentence.end },
      ]) {
        // The rest of the sentence is a help: where it is not found, the words themselves are still right.
        mark(block, own(rest), () =>
          Object.assign(element("span", "rest-of-sentence"), { title: drawing.restOfSentence }),
        );
      }
      drawn.push(block);
    }
    nodes.push(...nodesOf(part, drawn, drawing));
  }
  for (const each of marks) {
    each.closest("details")?.setAttribute("open", "");
    each.closest("tr")?.classList.add("cited-row");
  }
  return highlight.end > highlight.start && marks.length === 0 ? undefined : { nodes, marks };
}

interface Block {
  readonly element: HTMLElement;
  readonly source: string;
  /** Offset of the block in the document. */
  readonly start: number;
  readonly kind: BlockKind;
}

/** The excerpt without the halves of blocks at its ends, unless they hold what is highlighted. Of tables it has whole rows. */
function wholeBlocks(excerpt: Drawing["excerpt"], highlight: Stretch): { text: string; from: number } {
  const { text, from, length, tableHead } = excerpt;
  let start = 0;
  let end = text.length;
  if (from > 0 && tableHead === undefined) {
    const gap = text.indexOf("\n\n");
    if (gap >= 0 && from + gap + 2 <= highlight.start) start = gap + 2;
  }
  if (from + text.length < length && text[text.lastIndexOf("\n") + 1] !== "|") {
    const gap = text.lastIndexOf("\n\n");
    if (gap >= start && from + gap >= highlight.end) end = gap + 2;
  }
  const head = tableHead ?? "";
  return { text: head + text.slice(start, end), from: from + start - head.length };
}

function blocksOf(text: string, from: number, { excerpt, properties }: Drawing): Block[] {
  const blocks: Block[] = [];
  const front = from === 0 ? (frontMatter.exec(text)?.[0] ?? "") : "";
  if (front !== "") {
    const details = element("details", "front-matter");
    const lines = front
      .split("\n")
      .slice(1)
      .join("\n")
      .replace(/---\s*$/, "");
    details.append(element("summary", "", properties), element("pre", "", lines.trimEnd()));
    blocks.push({ element: details, source: front, start: 0, kind: "words" });
  }
  // The lines of a slide are paragraphs of their own.
  const breaks = isSlides(excerpt.uri);
  const marked = new Marked(
    { breaks },
    withoutScripts((href) => anotherDocument(href, excerpt.uri)),
  );
  // Each carriage return becomes a space, so that the offsets stay those of the document.
  const tokens = marked.lexer(text.slice(front.length).replaceAll("\r", " "));
  let start = from + front.length;
  for (const token of tokens) {
    const holder = element("div", "block");
    holder.append(sanitisedFragment(marked.parser(Object.assign([token], { links: tokens.links }))));
    if (token.type === "code") nameCode(holder, token);
    if (holder.childNodes.length > 0) blocks.push({ element: holder, source: token.raw, start, kind: kindOf(token) });
    start += token.raw.length;
  }
  return blocks;
}

function nameCode(holder: HTMLElement, token: Token): void {
  const language = "lang" in token ? /^[\w+#.-]+/.exec(String(token.lang))?.[0] : undefined;
  if (language !== undefined) holder.querySelector("pre")?.setAttribute("data-language", language);
}

/** Wraps a stretch of a block's source in elements. Returns false when it has words, and they are not found. */
function mark(block: Block, stretch: Stretch, make: () => HTMLElement, made: HTMLElement[] = []): boolean {
  if (stretch.start >= stretch.end || !hasLetters(block.source, stretch)) return true;
  const place = placeInRendering(block.source, block.element.textContent, stretch);
  if (!place) return false;
  made.push(...markTexts(block.element, place, make));
  return true;
}

function kindOf(token: Token): BlockKind {
  if (token.type === "table") return "table";
  if (token.type !== "code") return "words";
  return "lang" in token && String(token.lang ?? "") !== "" ? "named-code" : "code";
}

function within({ start, end }: Stretch, from: number, length: number): Stretch {
  return { start: Math.max(start - from, 0), end: Math.min(end - from, length) };
}
