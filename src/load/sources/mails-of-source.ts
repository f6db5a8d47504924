import { createReadStream } from "node:fs";
import { lines } from "../formats/lines.js";

const mailbox = /\.mbo?x$/i;
const mail = /\.(?:eml|mbo?x)$/i;
/** The line that starts a mail in a mailbox. */
const separator = /^From \S/;
const messageId = /^message-id:\s*<([^>\s]+)>/i;
/** Lines of a head are shorter. */
const maxLineBytes = 10_000;

/** Tells which mails a source holds, by their ids: those that were read, and those of the mail files that it lists. */
export class MailsOfSource {
  readonly #ids = new Set<string>();
  readonly #files: readonly string[];
  #looked: Promise<void> | undefined;

  /** @param files paths of the source's files on disk; those that hold mails are looked into when a reply first asks. */
  constructor(files: readonly string[] = []) {
    this.#files = files.filter((path) => mail.test(path));
  }

  /** Notes a mail that was read. */
  add(id: unknown): void {
    if (typeof id === "string") this.#ids.add(id);
  }

  /** Whether one of the mails is in the source. */
  async hold(ids: readonly string[], signal: AbortSignal): Promise<boolean> {
    const areHeld = () => ids.some((id) => this.#ids.has(id));
    if (areHeld() || ids.length === 0) return areHeld();
    this.#looked ??= this.#lookThrough(signal);
    await this.#looked;
    return areHeld();
  }

  async #lookThrough(signal: AbortSignal): Promise<void> {
    for (const path of this.#files) {
      try {
        for await (const id of idsIn(path, signal)) this.#ids.add(id);
      } catch {
        // A file that cannot be read is reported where it is read as a document.
        signal.throwIfAborted();
      }
    }
  }
}

/** Ids in the heads of a file's mails. Those below, such as in the notice that a mail was not delivered, are of mails elsewhere. */
async function* idsIn(path: string, signal: AbortSignal): AsyncGenerator<string> {
  const isMailbox = mailbox.test(path);
  let inHead = !isMailbox;
  let afterEmpty = true;
  /** The name of a field and the lines that continue it. */
  let field = "";
  for await (const { text = "a long line" } of lines(
    createReadStream(path, { encoding: "latin1", signal }),
    maxLineBytes,
  )) {
    const line = text.trimEnd();
    if (isMailbox && afterEmpty && separator.test(line)) inHead = true;
    else if (inHead && line !== "") {
      field = /^\s/.test(line) ? field + line : line;
      const id = messageId.exec(field)?.[1];
      if (id !== undefined) yield id;
    } else if (inHead && field !== "") {
      if (!isMailbox) return;
      inHead = false;
      field = "";
    }
    afterEmpty = line === "";
  }
}
