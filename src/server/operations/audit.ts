import { appendFile } from "node:fs/promises";
import { z } from "zod";
import { observerOption, optionsOf } from "../../core/options.js";

/** A deed that an audit log records. */
export interface AuditedDeed {
  /**
   * - `question`, `search`: a question was answered, or its passages were searched for.
   * - `document`: a passage was read in its document.
   * - `upload`, `deletion`: of a file, a document or a conversation.
   * - `approval`: calls of tools were allowed or refused.
   * - `sign-in`: on the page.
   * - `refusal`: the caller was not let in, may not do this, or did too much (401, 403, 429).
   */
  readonly event:
    | "question"
    | "search"
    | "document"
    | "upload"
    | "deletion"
    | "approval"
    | "feedback"
    | "sign-in"
    | "refusal";
  /** Id of the conversation. */
  readonly conversation?: string;
  /** Address of the document. */
  readonly uri?: string;
  /** Name of the uploaded file. */
  readonly file?: string;
  /** Decisions by the ids of the calls. */
  readonly approvals?: Readonly<Record<string, boolean>>;
  /** The question, where `texts` asks for it. */
  readonly text?: string;
  /** Code of the refusal. */
  readonly code?: string;
}

/** A line of the audit log. */
export interface AuditEntry extends AuditedDeed {
  /** ISO 8601, on the wall clock. */
  readonly time: string;
  /** `key:…`, `user:…`, or the owner that `access` says; absent where callers are not told apart, or are unknown. */
  readonly caller?: string;
  /** Address that the request came from. */
  readonly address?: string;
  /** The `x-request-id` of the reply, where the server gives one. */
  readonly requestId?: string;
  /** HTTP method and path, without its query. */
  readonly request: string;
}

/** Record of who did what. */
export interface AuditOptions {
  /** A file that lines of JSON are appended to, created if it does not exist; or a function that gets the entries. */
  readonly to: string | ((entry: AuditEntry) => void);
  /** Whether questions stand in it. Default: false. */
  readonly texts?: boolean;
}

/** @internal */
export const auditOptions = optionsOf<AuditOptions>()({
  to: z.union([z.string().min(1), observerOption<(entry: AuditEntry) => void>("audit.to")]),
  texts: z.boolean().default(false),
});

/** @internal Writes the audit log. */
export class AuditLog {
  readonly #options: z.output<typeof auditOptions>;
  readonly #onError: ((error: unknown) => void) | undefined;
  #written: Promise<void> = Promise.resolve();
  #waiting = "";

  /** @param onError hears of lines that could not be written. Default: a warning of the process. */
  constructor(options: z.output<typeof auditOptions>, onError: ((error: unknown) => void) | undefined) {
    this.#options = options;
    this.#onError = onError ?? ((error) => process.emitWarning(error as Error));
  }

  record(entry: AuditEntry): void {
    const { to, texts } = this.#options;
    const { text, ...others } = entry;
    const kept = texts && text !== undefined ? { ...others, text } : others;
    if (typeof to === "function") return to(kept);
    this.#waiting += `${JSON.stringify(kept)}\n`;
    // The file is opened for each writing, so that it can be moved away and is begun anew.
    this.#written = this.#written.then(() => this.#write(to));
  }

  /** Waits until everything is in the file. */
  async close(): Promise<void> {
    await this.#written;
  }

  async #write(path: string): Promise<void> {
    const lines = this.#waiting;
    this.#waiting = "";
    if (lines !== "") await appendFile(path, lines, { mode: 0o600 }).catch(this.#onError);
  }
}
