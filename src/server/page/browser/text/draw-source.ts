import { Marked, type Token } from "marked";
import type { WireExcerpt } from "../../../api/wire.js";
import { anotherDocument } from "./addresses.js";
import { withoutScripts } from "./markdown.js";
import { hasLetters, placeInRendering, type Stretch } from "./place-in-rendering.js";
import { sanitisedFragment } from "./sanitise.js";

export interface DrawnSource {
  readonly nodes: readonly Node[];
  /** Elements of the highlighted words, in their order. Empty when there are none to highlight. */
  readonly marks: readonly HTMLElement[];
}

export interface Drawing {
  readonly excerpt: Pick<WireExcerpt, "uri" | "text" | "from" | "length" | "pages">;
  /** Offsets into the document. */
  readonly highlight: Stretch;
  /** The whole sentence around it. */
  readonly sentence: Stretch;
  readonly properties: string;
  readonly pageBreak: (page: number) => string;
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
  const pages = excerpt.pages.filter(({ start }) => start >= from && start < from + text.length);
  const cuts = [from, ...pages.map(({ start }) => start).filter((start) => start > from), from + text.length];
  const nodes: Node[] = [];
  const marks: HTMLElement[] = [];
  for (const [index, start] of cuts.slice(0, -1).entries()) {
    const page = pages.find((each) => each.start === start);
    if (page) nodes.push(element("span", "page-break", drawing.pageBreak(page.page)));
    for (const block of blocksOf(text.slice(start - from, cuts[index + 1]! - from), start, drawing)) {
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
      nodes.push(block.element);
    }
  }
  for (const each of marks) each.closest("details")?.setAttribute("open", "");
  return highlight.end > highlight.start && marks.length === 0 ? undefined : { nodes, marks };
}

/** The lines of a table's row, which the document holds as `name: value`, as a table. */
export function drawRow({ excerpt, highlight }: Pick<Drawing, "excerpt" | "highlight">): DrawnSource | undefined {
  const table = document.createElement("table");
  const marks: HTMLElement[] = [];
  let start = excerpt.from;
  for (const line of excerpt.text.split(/(?<=\n)/)) {
    const [, name, value] = /^([^:\n]+): ?(.*)\n?$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    const row = table.insertRow();
    const heading = element("th", "", name);
    heading.setAttribute("scope", "row");
    row.append(heading, element("td", "", value));
    mark({ element: row, source: line, start }, within(highlight, start, line.length), () => element("mark"), marks);
    start += line.length;
  }
  return { nodes: [table], marks };
}

interface Block {
  readonly element: HTMLElement;
  readonly source: string;
  /** Offset of the block in the document. */
  readonly start: number;
}

/** The excerpt without the halves of blocks at its ends, unless they hold what is highlighted. */
function wholeBlocks({ text, from, length }: Drawing["excerpt"], highlight: Stretch): { text: string; from: number } {
  let start = 0;
  let end = text.length;
  if (from > 0) {
    const gap = text.indexOf("\n\n");
    if (gap >= 0 && from + gap + 2 <= highlight.start) start = gap + 2;
  }
  if (from + text.length < length) {
    const gap = text.lastIndexOf("\n\n");
    if (gap >= start && from + gap >= highlight.end) end = gap + 2;
  }
  return { text: text.slice(start, end), from: from + start };
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
    blocks.push({ element: details, source: front, start: 0 });
  }
  const marked = new Marked(withoutScripts((href) => anotherDocument(href, excerpt.uri)));
  // Each carriage return becomes a space, so that the offsets stay those of the document.
  const tokens = marked.lexer(text.slice(front.length).replaceAll("\r", " "));
  let start = from + front.length;
  for (const token of tokens) {
    const holder = element("div", "block");
    holder.append(sanitisedFragment(marked.parser(Object.assign([token], { links: tokens.links }))));
    if (token.type === "code") nameCode(holder, token);
    if (holder.childNodes.length > 0) blocks.push({ element: holder, source: token.raw, start });
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
  const texts = document.createTreeWalker(block.element, NodeFilter.SHOW_TEXT);
  const cuts: { readonly node: Text; readonly from: number; readonly to: number }[] = [];
  let at = 0;
  for (let node = texts.nextNode() as Text | null; node !== null; node = texts.nextNode() as Text | null) {
    const [from, to] = [Math.max(place.start - at, 0), Math.min(place.end - at, node.data.length)];
    at += node.data.length;
    // Line breaks between the elements of a list or a table are not words.
    if (from < to && (node.data.trim() !== "" || node.parentElement?.closest("p, pre"))) cuts.push({ node, from, to });
  }
  for (const { node, from, to } of cuts) {
    const wrapped = node.splitText(from);
    wrapped.splitText(to - from);
    const wrapper = make();
    wrapped.replaceWith(wrapper);
    wrapper.append(wrapped);
    made.push(wrapper);
  }
  return true;
}

function within({ start, end }: Stretch, from: number, length: number): Stretch {
  return { start: Math.max(start - from, 0), end: Math.min(end - from, length) };
}

function element(name: string, className = "", text = ""): HTMLElement {
  const made = document.createElement(name);
  if (className !== "") made.className = className;
  if (text !== "") made.textContent = text;
  return made;
}
