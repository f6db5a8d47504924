import type { Answer, Citation } from "../../core/types.js";
import { plainText } from "../../text/blocks/plain-text.js";
import { isChinese } from "../../text/words/chinese.js";
import { isFunctionWord } from "../../text/words/function-words.js";
import { terms } from "../../text/words/terms.js";
import type { AnswerView } from "./answer-view.js";
import { displayPlace, oneLine, type KnownFolders } from "./terminal-text.js";

const english = {
  sources: "Sources",
  nearest: "Nearest passages",
  ask: "What can be asked about",
  near: "slightly different words in the source",
  missing: "not found in the source",
  struckOut: "struck out in the source",
};
const chinese: typeof english = {
  sources: "来源",
  nearest: "最相近的段落",
  ask: "可以问的主题",
  near: "与原文略有不同",
  missing: "原文中没有",
  struckOut: "在原文中已划掉",
};

/** The numbered sources under an answer, one line each: file, line and the words cited, in the language of the question. */
export function describeSources(
  { question, answered, citations, nearest }: Answer,
  folders: KnownFolders,
  { link, remark, telling }: Pick<AnswerView, "link" | "remark" | "telling">,
): string {
  const words = isChinese(question) ? chinese : english;
  const marked = tellingWords(question, telling);
  if (citations.length > 0) {
    const lines = distinct(citations).map((citation) => {
      const { number, uri, line, quote, support, struckOut } = citation;
      const place = link(displayPlace(uri, citation, folders), uri, line);
      const note = struckOut ? words.struckOut : support === "near" || support === "missing" ? words[support] : "";
      const said = citation.supported ? quoteInSentence(citation) : `“${sourceLine(quote)}”`;
      return `[${number}] ${place}  ${marked(said)}${note && remark(`  (${note}${nearWords(citation)})`)}`;
    });
    return `${words.sources}\n${lines.join("\n")}\n`;
  }
  if (answered || nearest === undefined) return "";
  const passages = nearest.hits.map(
    (hit) =>
      `  ${link(displayPlace(hit.uri, hit, folders), hit.uri, hit.line)}  ${marked(oneLine(asRead(hit.chunk.text), 100))}`,
  );
  const headings = nearest.headings.map((heading) => `  ${oneLine(heading, 100)}`);
  const ask = headings.length > 0 ? `${words.ask}\n${headings.join("\n")}\n` : "";
  return `${words.nearest}\n${passages.join("\n")}\n${ask}`;
}

/** Marks the words of a line that share a stem with a telling word of the question; in Chinese, pairs of characters. */
function tellingWords(question: string, mark: (word: string) => string): (line: string) => string {
  const asked = new Set(terms(question).filter((term) => !isFunctionWord(term, "chinese")));
  const tells = (word: string) => terms(word).some((term) => asked.has(term));
  return (line) =>
    line
      .replace(/(?:(?!\p{Script=Han})[\p{L}\p{N}_])+/gu, (word) => (tells(word) ? mark(word) : word))
      .replace(/\p{Script=Han}{2,}/gu, (run) => markedPairs(run, tells, mark));
}

function markedPairs(run: string, tells: (pair: string) => boolean, mark: (word: string) => string): string {
  const characters = Array.from(run);
  const isTold = characters.map(() => false);
  for (const [index, character] of characters.entries()) {
    const next = characters[index + 1];
    if (next !== undefined && tells(character + next)) isTold[index] = isTold[index + 1] = true;
  }
  let shown = "";
  for (let from = 0, to = 0; from < characters.length; from = to) {
    while (to < characters.length && isTold[to] === isTold[from]) to++;
    const part = characters.slice(from, to).join("");
    shown += isTold[from] ? mark(part) : part;
  }
  return shown;
}

/** The quote, marked in its sentence: what the quote leaves out may turn it. */
function quoteInSentence({ quote, start, end, sentence }: Citation): string {
  if (!sentence) return `“${sourceLine(quote)}”`;
  const { text } = sentence;
  const before = text.slice(0, start - sentence.start);
  const after = text.slice(end - sentence.start);
  // White space at the cut belongs to the sentence.
  const gap = (part: string) => (/^\s/u.test(part) ? " " : "");
  const lead = before.length > maxLine ? `…${sourceLine(before.slice(-maxLine))}` : sourceLine(before);
  const rest = sourceLine(after);
  return `${lead}${lead && /\s$/u.test(before) ? " " : ""}“${sourceLine(quote)}”${rest && gap(after)}${rest}`;
}

/** The document's own words of a citation that is near them. */
function nearWords({ support, sentence }: Citation): string {
  return support === "near" && sentence ? `: “${sourceLine(sentence.text)}”` : "";
}

const maxLine = 160;

/** A part of a document as it is read, in one line. Its own numbers in brackets keep the backslashes that tell them from citations. */
function sourceLine(text: string): string {
  return oneLine(asRead(text), maxLine).replace(/\\?\[(\d+)\\?\]/gu, "\\[$1\\]");
}

/** Markdown as it is read; blocks and items stay apart, also in Chinese, where lines of one paragraph are joined. */
function asRead(markdown: string): string {
  const blocks = markdown
    .replace(/^[ \t]*(?:`{3,}|~{3,})[^\n]*$/gm, "")
    .split(/\n[ \t]*\n|\n(?=[ \t]*(?:[-*+|]|#{1,6}|\d{1,9}[.)])[ \t])/);
  return blocks.map((block) => plainText(block).replace(/(`+)([^`]+)\1/g, "$2")).join(" ");
}

function distinct(citations: readonly Citation[]): readonly Citation[] {
  const seen = new Map(citations.map((citation) => [`${citation.number} ${citation.start} ${citation.end}`, citation]));
  return [...seen.values()].toSorted((a, b) => a.number - b.number || a.start - b.start);
}
