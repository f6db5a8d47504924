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

/** The document of a mail: its own words and those of mails that it passes on, without those that a reply repeats. */
export function mailDocument(mail: Mail): LoadedText {
  const { subject, attachments } = mail;
  return {
    ...bodyOf(mail),
    anchors: [],
    ...(subject && { title: subject }),
    metadata: metadataOf(mail),
    ...(attachments.length > 0 && { inner: attachments }),
  };
}

function bodyOf(mail: Mail): Pick<LoadedText, "text" | "mediaType" | "leftOut"> {
  const { text = "", html = "", subject, inReplyTo, references } = mail;
  const mayRepeat = isReply(subject, [...references, ...(inReplyTo === undefined ? [] : [inReplyTo])]);
  const leftOut = new LeftOutParts();
  const note = (quoted: string) => {
    const line = quoted.replace(/\s+/gu, " ").trim();
    if (line !== "") leftOut.note("earlier mails", line);
  };
  if (text.trim() !== "" || html === "") {
    const plain = text.replaceAll("\r\n", "\n").trim();
    const own = mayRepeat && plain.length <= maxSearchedCharacters ? withoutQuotedLines(plain, note) : plain;
    return { text: own, mediaType: "text/plain", ...leftOut.noted };
  }
  const page = parseHtml(html);
  const body = named(page, "body")[0] ?? page;
  const whole = () => markdownOfNodes(body.children).text;
  // The marks that programs put around a quoted mail say that this is a reply, whatever its head lacks.
  const own = isForward(subject) ? whole() : markdownOfNodes(withoutQuotedElements(body.children, note)).text;
  if (own.trim() === "") return { text: whole(), mediaType: "text/markdown" };
  return { text: own, mediaType: "text/markdown", ...leftOut.noted };
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
