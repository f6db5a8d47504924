import { LoadError } from "../../../core/errors.js";
import { lines } from "../lines.js";
import type { FileOutcome, InnerFile, RowReader } from "../loader.js";

/** Lines that start a mail, after an empty line or at the start: `From`, an address, a day. RFC 4155. */
const separator = /^From \S.*\d{4}\r?$|^From (?:-|MAILER-DAEMON).*$/;

/** Reads the mails of a mailbox, each by the reader of mails; what is attached to one lies in it. */
export const readMbox: RowReader = async function* (file, { maxRowBytes, readInner }): AsyncGenerator<FileOutcome> {
  const { uri } = file;
  let number = 0;
  for await (const { startLine, text } of mails(latin1Pieces(file.chunks), maxRowBytes)) {
    number++;
    if (text === undefined) {
      const message = `${uri} line ${startLine}: the mail has more than ${maxRowBytes} bytes, which is maxFileBytes`;
      yield { error: new LoadError("too-large", `${uri}#mail-${number}`, message, { option: "maxFileBytes" }) };
    } else yield* readInner(mailFile(text, number, startLine));
  }
  if (number === 0)
    throw new LoadError("unreadable", uri, `${uri} is no mailbox: no line in it starts a mail with "From "`);
};

interface FoundMail {
  readonly startLine: number;
  /** One character a byte; `undefined` when it is too long. */
  readonly text: string | undefined;
}

function mailFile(text: string, number: number, line: number): InnerFile {
  const header = text.slice(0, Math.max(0, text.search(/\r?\n\r?\n/)));
  const id = /^message-id:\s*<([^>\s]{1,500})>/im.exec(header)?.[1];
  return { name: id ?? `mail-${number}`, path: "mail.eml", bytes: Buffer.from(text, "latin1"), metadata: { line } };
}

async function* mails(pieces: AsyncIterable<string>, maxBytes: number): AsyncGenerator<FoundMail> {
  let held: string[] = [];
  let length = 0;
  let startLine = 0;
  let afterEmpty = true;
  const take = (): FoundMail => {
    const mail = { startLine, text: length > maxBytes ? undefined : held.join("\n") };
    held = [];
    length = 0;
    return mail;
  };
  for await (const { number, text } of lines(pieces, maxBytes)) {
    if (text === undefined) {
      length = Infinity;
      continue;
    }
    if (afterEmpty && separator.test(text)) {
      if (startLine > 0) yield take();
      startLine = number;
      afterEmpty = false;
      continue;
    }
    afterEmpty = text === "" || text === "\r";
    length += text.length + 1;
    if (length > maxBytes) held = [];
    // A line that starts as a separator does is written with a bracket before it.
    else if (startLine > 0) held.push(text.replace(/^>(>*From )/, "$1"));
  }
  if (startLine > 0) yield take();
}

async function* latin1Pieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const { buffer, byteOffset, byteLength } of chunks)
    yield Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
}
