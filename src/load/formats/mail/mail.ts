import type { Json, Metadata } from "../../../core/types.js";
import { markdownOfNodes } from "../html/html.js";
import { named, parseHtml } from "../element-tree.js";
import type { InnerFile, LoadedText } from "../loader.js";
import { withoutQuotedElements, withoutQuotedLines } from "./quoted-replies.js";

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

/** The document of a mail: its own words, without those of the mails that it replies to. */
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

function bodyOf({ text = "", html = "" }: Mail): Pick<LoadedText, "text" | "mediaType"> {
  if (text.trim() !== "" || html === "") {
    const plain = text.replaceAll("\r\n", "\n").trim();
    return { text: plain.length > maxSearchedCharacters ? plain : withoutQuotedLines(plain), mediaType: "text/plain" };
  }
  const page = parseHtml(html);
  const body = named(page, "body")[0] ?? page;
  const own = markdownOfNodes(withoutQuotedElements(body.children)).text;
  return { text: own.trim() === "" ? markdownOfNodes(body.children).text : own, mediaType: "text/markdown" };
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
