import { lineEnd } from "../text/lines.js";

const fenceStart = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/;
const fenceEnd = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;
const atxHeading = /^ {0,3}#{1,6}(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const setextUnderline = /^ {0,3}(?:=+|-+)[ \t]*$/;
/** Lines of which no underline makes a heading: code, quotations, items, rules, blank ones. */
const noParagraph = /^(?: {4}|\t| {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]|<|[-*_=]{3,}[ \t]*$)|[ \t]*$)/;
const markupHeading = /^ {0,3}<h([1-6])\b[^>]*>(.*?)<\/h\1\s*>/isu;
/** More is no heading but a mistake. */
const mostCharacters = 500;

/**
 * The words of the first heading of a Markdown text, also of one in HTML, as the first of many a README is; not of what
 * stands in a fence or a comment.
 */
export function firstHeading(content: string): string | undefined {
  let fence: string | undefined;
  let paragraph: string[] = [];
  for (let at = 0; at < content.length;) {
    const end = lineEnd(content, at);
    const line = content.slice(at, Math.min(end, at + mostCharacters)).replace(/[\r\n]+$/, "");
    const start = at;
    at = end;
    if (fence !== undefined) {
      if (fenceEnd.exec(line)?.[1]?.startsWith(fence)) fence = undefined;
      continue;
    }
    const opened = fenceStart.exec(line);
    if (opened) {
      fence = opened[1] ?? opened[2]!;
      paragraph = [];
      continue;
    }
    if (/^ {0,3}<!--/.test(line)) {
      const closed = content.indexOf("-->", start);
      if (closed < 0) return undefined;
      at = lineEnd(content, closed);
      continue;
    }
    const words = headingWords(content, start, line, paragraph);
    if (words !== "") return words;
    paragraph = noParagraph.test(line) || atxHeading.test(line) ? [] : [...paragraph.slice(-9), line.trim()];
  }
  return undefined;
}

function headingWords(content: string, start: number, line: string, paragraph: readonly string[]): string {
  const atx = atxHeading.exec(line);
  if (atx) return plainWords(atx[1] ?? "");
  if (paragraph.length > 0 && setextUnderline.test(line)) return plainWords(paragraph.join(" "));
  if (!/^ {0,3}<h[1-6]\b/i.test(line)) return "";
  return plainWords(markupHeading.exec(content.slice(start, start + mostCharacters))?.[2] ?? "");
}

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": " ",
};

/** Without the marks around words, tags, the targets of links, and anchors such as `{#setup}`. Code stays as it is. */
function plainWords(heading: string): string {
  return heading
    .replace(/\s*\{#[^{}]*\}\s*$/, "")
    .split(/(`+[^`]+`+)/)
    .map((part, index) => (index % 2 === 1 ? part.replace(/^`+|`+$/g, "") : withoutMarks(part)))
    .join("")
    .replace(/\s+/g, " ")
    .trim();
}

function withoutMarks(text: string): string {
  return text
    .replace(/!?\[([^[\]]*)\](?:\([^()]*\)|\[[^[\]]*\])/g, "$1")
    .replace(/<\/?[a-z][a-z\d-]*(?:\s[^<>]*)?>|<[A-Z][\w.]*(?:\s[^<>]*)?\/>/g, "")
    .replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => entities[entity]!)
    .replace(/(?<!\\)\*+/g, "")
    .replace(/\\([!-/:-@[-`{-~])/g, "$1");
}
