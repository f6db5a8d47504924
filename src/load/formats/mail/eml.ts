import { LoadError, asError } from "../../../core/errors.js";
import { wrongKindReason } from "../binary.js";
import type { InnerFile, Loader } from "../loader.js";
import { mailDocument } from "./mail.js";

/** Parts inside one another; a mail has five. */
const maxDepth = 50;
const maxHeaderBytes = 2_000_000;

const partOfPage = /^(?:image|font|audio|video)\/|^text\/css$|javascript$/;

/**
 * Reads a mail (RFC 5322, MIME) or a page saved with its pictures: its own words as the text, what it replies to cut, sender,
 * receivers, date and thread as metadata, and what is attached as files that lie in it.
 *
 * @throws LoadError (`unreadable`) when it is no mail, or its parts are nested more than 50 deep.
 */
export const loadEml: Loader = async (file) => {
  const { bytes, uri } = file;
  const { default: PostalMime } = await import("postal-mime");
  if (!hasHeader(bytes)) {
    throw new LoadError("unreadable", uri, `${uri} ${wrongKindReason(bytes, "mail") ?? "is no mail"}`);
  }
  let mail;
  try {
    const limits = { maxNestingDepth: maxDepth, maxHeadersSize: maxHeaderBytes };
    mail = await new PostalMime({ ...limits, forceRfc822Attachments: true }).parse(bytes);
  } catch (cause) {
    throw new LoadError("unreadable", uri, `${uri} is no mail that can be read: ${asError(cause).message}`, { cause });
  }
  const addresses = (given: typeof mail.to) => (given ?? []).map(addressOf);
  return mailDocument({
    subject: mail.subject,
    from: mail.from && addressOf(mail.from),
    to: addresses(mail.to),
    cc: addresses(mail.cc),
    date: mail.date && asIsoDate(mail.date),
    messageId: mail.messageId,
    inReplyTo: mail.inReplyTo,
    references: mail.references?.split(/\s+/).filter((id) => id !== "") ?? [],
    text: mail.text,
    html: mail.html,
    attachments: mail.attachments.flatMap(({ filename, mimeType, related, content }, index): InnerFile[] => {
      // Pictures, styles and the like of the letter or page itself.
      if ((related || !filename) && partOfPage.test(mimeType)) return [];
      const ending = mimeType === "message/rfc822" ? ".eml" : "";
      const name = filename || `attachment-${index + 1}${ending}`;
      const path = ending !== "" && !name.endsWith(ending) ? `${name}${ending}` : name;
      return [{ name, path, bytes: typeof content === "string" ? Buffer.from(content) : new Uint8Array(content) }];
    }),
  });
};

/** A mail starts with named lines; one saved from a mailbox, or by a browser, with a line before them. */
function hasHeader(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 4096)).toString("latin1");
  return /^(?:\xef\xbb\xbf)?(?:\s*|From .*\r?\n)[\w-]+[ \t]*:/.test(start);
}

type Address = import("postal-mime").Address;

function addressOf({ name, address, group }: Address): string {
  if (group) return `${name}: ${group.map(addressOf).join(", ")}`;
  return name && name !== address ? `${name} <${address}>` : (address ?? "");
}

function asIsoDate(date: string): string {
  const ms = Date.parse(date);
  return Number.isNaN(ms) ? date : new Date(ms).toISOString().replace(".000", "");
}
