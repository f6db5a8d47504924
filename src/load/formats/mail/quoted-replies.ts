import { elementWith, isText, textOf, type HtmlElement, type HtmlNode } from "../element-tree.js";

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

/** The line above a mail that is passed on, as Gmail, Thunderbird, Apple Mail, Outlook and GMX write it. */
const forwardLine =
  /^[\s>]*(?:-{2,}\s*(?:forwarded message|forwarded by .{1,80}|weitergeleitete nachricht|message transféré|mensaje reenviado|messaggio inoltrato|doorgestuurd bericht|转发的邮件|轉寄郵件)\s*-*|begin forwarded message\s*:?|anfang der weitergeleiteten nachricht\s*:?)\s*$/iu;
/** Subjects of mails that pass another one on, and of answers. */
const forwardSubject = /^\s*(?:fwd?|wg|tr|rv|i|enc|vl|vs|doorst|转发|轉寄)\s*[:：]/iu;
const replySubject = /^\s*(?:re|aw|antw|sv|ref|res|回复|回覆|答复)\s*(?:\[\d+\])?\s*[:：]/iu;

/**
 * Whether a mail answers another, so that it may repeat it. One that passes a mail on, and one that answers none, holds
 * nothing that stands elsewhere.
 */
export function isReply(subject: string | undefined, answersTo: readonly string[]): boolean {
  if (isForward(subject)) return false;
  return answersTo.length > 0 || replySubject.test(subject ?? "");
}

/** Whether a subject says that the mail passes another one on. */
export function isForward(subject: string | undefined): boolean {
  return forwardSubject.test(subject ?? "");
}

/** Is told of each text that is left out. */
type NoteQuoted = (text: string) => void;

/**
 * Cuts the mails that a reply repeats: what stands below the head of another mail, and quoted lines, but for short
 * quotations that the writer answers. A mail that is passed on below the reply stays. Where nothing else is left, all of it
 * stays.
 */
export function withoutQuotedLines(text: string, note: NoteQuoted = () => {}): string {
  const all = text.split("\n");
  const forward = all.findIndex((line) => forwardLine.test(line));
  const lines = forward < 0 ? all : all.slice(0, forward);
  const end = lines.findIndex((line, index) => isHeadOfQuotation(lines, index, line));
  const own = end < 0 ? lines : lines.slice(0, end);
  const dropped = end < 0 ? [] : [lines.slice(end).join("\n")];
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
    else {
      dropAttribution(kept);
      dropped.push(own.slice(offset, next).join("\n"));
    }
    offset = next;
  }
  if (forward >= 0) kept.push(...all.slice(forward));
  const result = kept.join("\n").trim();
  if (result === "") return text;
  for (const quoted of dropped) note(quoted);
  return result;
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
export function withoutQuotedElements(nodes: readonly HtmlNode[], note: NoteQuoted): HtmlNode[] {
  const kept: HtmlNode[] = [];
  for (const [index, node] of nodes.entries()) {
    if (isText(node)) kept.push(node);
    else if (startsQuotation(node)) {
      note(nodes.slice(index).map(textOf).join(" "));
      break;
    } else if (isQuotation(node)) note(textOf(node));
    else if (!unseen.has(node.name)) {
      kept.push(elementWith(node, { children: withoutQuotedElements(node.children, note) }));
    }
  }
  return kept;
}

const unseen: ReadonlySet<string> = new Set(["head", "title", "style", "script"]);

/** Whether the elements from here on are another mail, as Outlook writes them. */
function startsQuotation({ attributes }: HtmlElement): boolean {
  return attributes["id"] === "divRplyFwdMsg" || attributes["id"] === "appendonsend";
}

/** The same as `forwardLine` where a page puts the head behind it on the same line. */
const forwardStart =
  /^[\s-]*(?:forwarded message|weitergeleitete nachricht|begin forwarded|message transféré|mensaje reenviado)/iu;
const quotationClass =
  /(?:^|\s)(?:gmail_quote|gmail_attr|yahoo_quoted|moz-cite-prefix|protonmail_quote|OutlookMessageHeader)(?:\s|$)/;

function isQuotation(element: HtmlElement): boolean {
  const { name, attributes } = element;
  const isMarked =
    quotationClass.test(attributes["class"] ?? "") || (name === "blockquote" && attributes["type"] === "cite");
  return (
    isMarked &&
    !textOf(element)
      .slice(0, 400)
      .split("\n")
      .some((line) => forwardStart.test(line))
  );
}
