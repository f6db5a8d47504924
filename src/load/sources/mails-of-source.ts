import { createReadStream } from "node:fs";

const mailbox = /\.mbo?x$/i;
const mail = /\.(?:eml|mbo?x)$/i;
/** The id may stand on the line behind the name. */
const messageId = /^message-id:\s*<([^>\s]{1,500})>/gim;

/** The head of a mail, with the ways that it took, is shorter. */
const maxHeadBytes = 256 * 1024;
/** A line of an id is shorter, so that one which is cut by the end of a piece is found with the next piece. */
const carriedCharacters = 1000;

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
      let carried = "";
      const end = mailbox.test(path) ? Infinity : maxHeadBytes - 1;
      try {
        for await (const piece of createReadStream(path, { end, encoding: "latin1", signal })) {
          const text = carried + String(piece);
          for (const [, id] of text.matchAll(messageId)) this.#ids.add(id!);
          carried = text.slice(-carriedCharacters);
        }
      } catch {
        // A file that cannot be read is reported where it is read as a document.
        signal.throwIfAborted();
      }
    }
  }
}
