import type { Answer, Citation } from "../../core/types.js";
import { isChinese } from "../../text/words/chinese.js";
import type { AnswerView } from "./answer-view.js";
import { asRead } from "./as-read.js";
import { snippet } from "./snippet.js";
import { tellingWords } from "./telling-words.js";
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
      `  ${link(displayPlace(hit.uri, hit, folders), hit.uri, hit.line)}  ${marked(oneLine(snippet(hit.chunk.text, question, 100), 100))}`,
  );
  const headings = nearest.headings.map((heading) => `  ${oneLine(heading, 100)}`);
  const ask = headings.length > 0 ? `${words.ask}\n${headings.join("\n")}\n` : "";
  return `${words.nearest}\n${passages.join("\n")}\n${ask}`;
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

function distinct(citations: readonly Citation[]): readonly Citation[] {
  const seen = new Map(citations.map((citation) => [`${citation.number} ${citation.start} ${citation.end}`, citation]));
  return [...seen.values()].toSorted((a, b) => a.number - b.number || a.start - b.start);
}
