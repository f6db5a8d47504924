import { isText, textOf, type HtmlElement, type HtmlNode } from "../element-tree.js";

/** Lines that programs write above a mail that they quote, in the languages of most mail. */
const attribution =
  /^(?:(?:on|am|le|el|il|em|op|den|dne|w dniu)\b.{5,200}(?:wrote|schrieb|a écrit|escribió|ha scritto|escreveu|schreef|skrev|napsal\(a\)|napisał(?:\(a\))?).{0,40}:|.{5,100}(?:写道|寫道|のメール)[:：])\s*$/iu;
const outlookDivider =
  /^-{2,}\s*(?:original message|ursprüngliche nachricht|message d'origine|mensaje original|原始邮件)\s*-{2,}\s*$/iu;
/** The head that Outlook puts above what it quotes, a line each. */
const outlookFrom = /^(?:from|von|de|da|van|发件人|差出人)\s*[:：]\s*\S/iu;
const outlookSent = /^(?:sent|date|gesendet|datum|envoyé|enviado|inviato|verzonden|发送时间|送信日時)\s*[:：]\s*\S/iu;
const headLines = 5;
/** A shorter quotation with an answer below it says what the answer is to. */
const maxKeptLines = 6;

/**
 * Cuts the mails that a reply repeats: what stands below the head of another mail, and quoted lines, but for short
 * quotations that the writer answers. Where nothing else is left, all of it stays.
 */
export function withoutQuotedLines(text: string): string {
  const lines = text.split("\n");
  const end = lines.findIndex((line, index) => isHeadOfQuotation(lines, index, line));
  const own = end < 0 ? lines : lines.slice(0, end);
  const kept: string[] = [];
  for (let offset = 0; offset < own.length;) {
    let next = offset;
    while (next < own.length && isQuoted(own[next]!)) next++;
    if (next === offset) {
      kept.push(own[offset++]!);
      continue;
    }
    const isAnswered = own.slice(next).some((line) => line.trim() !== "" && !isQuoted(line));
    if (isAnswered && next - offset <= maxKeptLines) kept.push(...own.slice(offset, next));
    else dropAttribution(kept);
    offset = next;
  }
  const result = kept.join("\n").trim();
  return result === "" ? text : result;
}

function isQuoted(line: string): boolean {
  return line.startsWith(">");
}

function isHeadOfQuotation(lines: readonly string[], index: number, line: string): boolean {
  if (outlookDivider.test(line)) return true;
  return outlookFrom.test(line) && lines.slice(index + 1, index + headLines).some((next) => outlookSent.test(next));
}

/** Removes the line that names the writer of what follows, which mail programs break in two. */
function dropAttribution(kept: string[]): void {
  while (kept.at(-1)?.trim() === "") kept.pop();
  const last = kept.at(-1)?.trim() ?? "";
  if (attribution.test(last)) kept.pop();
  else if (attribution.test(`${kept.at(-2)?.trim() ?? ""} ${last}`)) kept.splice(-2);
}

/** Cuts the mails that a reply in HTML repeats, by the marks that mail programs put around them. */
export function withoutQuotedElements(nodes: readonly HtmlNode[]): HtmlNode[] {
  const kept: HtmlNode[] = [];
  for (const node of nodes) {
    if (isText(node)) kept.push(node);
    else if (startsQuotation(node)) break;
    else if (!unseen.has(node.name) && !isQuotation(node))
      kept.push({ ...node, children: withoutQuotedElements(node.children) });
  }
  return kept;
}

const unseen: ReadonlySet<string> = new Set(["head", "title", "style", "script"]);

/** Whether the elements from here on are another mail, as Outlook writes them. */
function startsQuotation({ attributes }: HtmlElement): boolean {
  return attributes["id"] === "divRplyFwdMsg" || attributes["id"] === "appendonsend";
}

const quotationClass =
  /(?:^|\s)(?:gmail_quote|gmail_attr|yahoo_quoted|moz-cite-prefix|protonmail_quote|OutlookMessageHeader)(?:\s|$)/;

function isQuotation(element: HtmlElement): boolean {
  const { name, attributes } = element;
  const isMarked =
    quotationClass.test(attributes["class"] ?? "") || (name === "blockquote" && attributes["type"] === "cite");
  return (
    isMarked &&
    !/^[\s-]*(?:forwarded message|weitergeleitete nachricht|begin forwarded)/i.test(textOf(element).slice(0, 100))
  );
}
