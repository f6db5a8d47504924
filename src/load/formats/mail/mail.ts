import type { Json, Metadata } from "../../../core/types.js";
import { markdownOfNodes } from "../html/html.js";
import { named, parseHtml } from "../element-tree.js";
import { LeftOutParts } from "../left-out.js";
import type { InnerFile, LoadedText } from "../loader.js";
import { isForward, isReply, withoutQuotedElements, withoutQuotedLines } from "./quoted-replies.js";

/** A mail of any format. */
export interface Mail {
  readonly subject: string | undefined;
  /** `Name <address>`, as are the others. */
  readonly from: string | undefined;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  /** ISO 8601. */
  readonly date: string | undefined;
  readonly messageId: string | undefined;
  readonly inReplyTo: string | undefined;
  /** Ids of the mails before it in its thread, the first one first. */
  readonly references: readonly string[];
  readonly text: string | undefined;
  readonly html: string | undefined;
  readonly attachments: readonly InnerFile[];
}

/** Longer plain texts are not searched for quoted replies: they are no letters. */
const maxSearchedCharacters = 5_000_000;

/**
 * The document of a mail: the lines that a reader sees above it, its own words and those of mails that it passes on. The mails
 * that a reply repeats are in `withEarlierMails`.
 */
export function mailDocument(mail: Mail): LoadedText {
  const { subject, attachments } = mail;
  const { text, withEarlierMails, ...body } = bodyOf(mail);
  const head = headOf(mail, body.mediaType === "text/markdown");
  return {
    ...body,
    text: head + text,
    ...(withEarlierMails && { withEarlierMails: { ...withEarlierMails, text: head + withEarlierMails.text } }),
    anchors: [],
    ...(subject && { title: subject }),
    metadata: metadataOf(mail),
    ...(attachments.length > 0 && { inner: attachments }),
  };
}

/**
 * Who wrote to whom, when and about what, so that it can be asked about. A page that a browser saved as a mail has no head that
 * anybody saw.
 */
function headOf({ from, to, cc, date, subject }: Mail, isMarkdown: boolean): string {
  if (!from?.includes("@") && to.length === 0) return "";
  const fields = { From: from, To: to.join(", "), Cc: cc.join(", "), Date: shownDate(date), Subject: subject };
  const lines = Object.entries(fields).flatMap(([name, value]) => (value ? [`${name}: ${oneLine(value)}`] : []));
  return `${lines.join(isMarkdown ? "  \n" : "\n")}\n\n`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, " ").trim();
}

function shownDate(date: string | undefined): string | undefined {
  return date?.replace(/^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}):\d{2}Z$/, "$1 $2 UTC");
}

function bodyOf(mail: Mail): Pick<LoadedText, "text" | "mediaType" | "leftOut" | "withEarlierMails"> {
  const { text = "", html = "", subject, inReplyTo = "", references } = mail;
  const answered = inReplyTo.split(/\s+/u).filter((id) => id !== "");
  const mayRepeat = isReply(subject, [...references, ...answered]);
  const leftOut = new LeftOutParts();
  const note = (quoted: string) => {
    const line = oneLine(quoted);
    if (line !== "") leftOut.note("earlier mails", line);
  };
  // The mail that is answered repeats those before it, unless the source holds them in turn.
  const answersTo = (answered.length > 0 ? answered : references.slice(-1)).flatMap((id) => bareId(id) ?? []);
  const parted = (own: string, whole: () => string) => {
    const { leftOut: parts } = leftOut.noted;
    return parts ? { text: own, leftOut: parts, withEarlierMails: { text: whole(), answersTo } } : { text: own };
  };
  if (text.trim() !== "" || html === "") {
    const plain = text.replaceAll("\r\n", "\n").trim();
    const own = mayRepeat && plain.length <= maxSearchedCharacters ? withoutQuotedLines(plain, note) : plain;
    return { ...parted(own, () => plain), mediaType: "text/plain" };
  }
  const page = parseHtml(html);
  const body = named(page, "body")[0] ?? page;
  const whole = () => markdownOfNodes(body.children).text;
  // The marks that programs put around a quoted mail say that this is a reply, whatever its head lacks.
  const own = isForward(subject) ? whole() : markdownOfNodes(withoutQuotedElements(body.children, note)).text;
  if (own.trim() === "") return { text: whole(), mediaType: "text/markdown" };
  return { ...parted(own, whole), mediaType: "text/markdown" };
}

/** Bare ids: the brackets around them are part of their notation. */
function bareId(id: string | undefined): string | undefined {
  return id?.trim().replace(/^<|>$/g, "") || undefined;
}

function metadataOf({ from, to, cc, date, attachments, ...mail }: Mail): Metadata {
  const messageId = bareId(mail.messageId);
  const inReplyTo = bareId(mail.inReplyTo);
  const fields: Readonly<Record<string, Json | undefined>> = {
    from,
    to: to.length > 0 ? to : undefined,
    cc: cc.length > 0 ? cc : undefined,
    date,
    messageId,
    inReplyTo,
    thread: bareId(mail.references[0]) ?? inReplyTo ?? messageId,
    attachments: attachments.length > 0 ? attachments.map(({ name }) => name) : undefined,
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
}
