import { createRequire } from "node:module";
import { LoadError, asError } from "../../../core/errors.js";
import { wrongKindReason } from "../binary.js";
import { decodeText } from "../decode.js";
import { declaredCharset } from "../html/html.js";
import type { FileToLoad, InnerFile, Loader } from "../loader.js";
import { hasCircularChain, isCompoundFile } from "./compound-file.js";
import { loadRtf } from "./rtf.js";
import { optionalPackage } from "../optional-package.js";
import { mailDocument } from "../mail/mail.js";

type MsgReaderPackage = typeof import("@kenjiuno/msgreader");

/**
 * Reads a mail as Outlook saves it, to what `loadEml` reads of one.
 *
 * @throws LoadError (`unreadable`) when it is damaged, (`unsupported`) without the package that reads it.
 */
export const loadMsg: Loader = async (file, ...how) => {
  const { bytes, uri } = file;
  if (!isCompoundFile(bytes)) {
    throw new LoadError("unreadable", uri, `${uri} ${wrongKindReason(bytes, "Office 97") ?? "is no mail of Outlook"}`);
  }
  const unreadable = (reason: string, cause?: unknown) =>
    new LoadError("unreadable", uri, `${uri} is damaged (${reason}): open it in Outlook and save it again`, { cause });
  if (hasCircularChain(bytes)) throw unreadable("its chains of sectors run in circles");
  let reader = await openMsg(file);
  let fields;
  try {
    fields = reader.getFileData();
    const codePage = String(fields.messageCodepage ?? fields.internetCodepage);
    if (readableCodePage.test(codePage)) {
      reader = await openMsg(file, codePage);
      fields = reader.getFileData();
    }
  } catch (cause) {
    throw unreadable(asError(cause).message, cause);
  }
  if (fields.error !== undefined) throw unreadable(fields.error);
  const people = (kind: string) =>
    (fields.recipients ?? [])
      .filter(({ recipType }) => recipType === kind)
      .map((recipient) => person(recipient.name, recipient.smtpAddress ?? recipient.email));
  const headerOf = (name: string) =>
    new RegExp(`^${name}:\\s*((?:.|\\r?\\n[ \\t])*)`, "im").exec(fields.headers ?? "")?.[1];
  const date = fields.messageDeliveryTime ?? fields.clientSubmitTime;
  const written = {
    text: fields.body,
    html:
      fields.bodyHtml ?? (fields.html && decodeText({ bytes: fields.html, uri }, declaredCharset(fields.html)).text),
  };
  return mailDocument({
    subject: fields.subject,
    from:
      fields.senderName || fields.senderEmail
        ? person(fields.senderName, fields.senderSmtpAddress ?? fields.senderEmail)
        : undefined,
    to: people("to"),
    cc: people("cc"),
    date: date && new Date(date).toISOString().replace(".000", ""),
    messageId: fields.messageId ?? headerOf("message-id"),
    inReplyTo: headerOf("in-reply-to"),
    references:
      headerOf("references")
        ?.split(/\s+/)
        .filter((id) => id !== "") ?? [],
    ...(written.text || written.html || !fields.compressedRtf
      ? written
      : { text: await richText(fields.compressedRtf), html: undefined }),
    attachments: (fields.attachments ?? []).flatMap((attachment): InnerFile[] => {
      if (
        attachment.attachmentHidden ||
        (attachment.pidContentId && (attachment.attachMimeTag ?? "").startsWith("image/"))
      )
        return [];
      const { fileName, content } = reader.getAttachment(attachment);
      const name = fileName || attachment.name || "attachment";
      const path = attachment.innerMsgContent && !/\.msg$/i.test(name) ? `${name}.msg` : name;
      return [{ name, path, bytes: content }];
    }),
  });

  async function richText(compressed: Uint8Array): Promise<string> {
    // A dependency of the package, which only the package itself may be able to resolve.
    const ofPackage = createRequire(createRequire(import.meta.url).resolve("@kenjiuno/msgreader"));
    const { decompressRTF } = ofPackage("@kenjiuno/decompressrtf") as {
      decompressRTF: (bytes: number[]) => number[];
    };
    return (await loadRtf({ ...file, bytes: Uint8Array.from(decompressRTF([...compressed])) }, ...how)).text;
  }
};

/** Code pages of text that is not Unicode, as older versions of Outlook wrote it. */
const readableCodePage = /^(?:125\d|2859\d|20866|21866|866|874|932|936|949|950)$/;

async function openMsg(file: FileToLoad, ansiEncoding?: string) {
  const reader = await optionalPackage(
    "@kenjiuno/msgreader",
    file,
    () => createRequire(import.meta.url)("@kenjiuno/msgreader") as MsgReaderPackage,
  );
  const { buffer, byteOffset, byteLength } = file.bytes;
  const opened = new reader.default(new DataView(buffer as ArrayBuffer, byteOffset, byteLength));
  if (ansiEncoding !== undefined) opened.parserConfig = { ansiEncoding };
  return opened;
}

function person(name: string | undefined, address: string | undefined): string {
  return name && address && name !== address ? `${name} <${address}>` : (address ?? name ?? "");
}
