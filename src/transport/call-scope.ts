import { randomUUID } from "node:crypto";
import type { CallOptions } from "../ports.js";
import type { CallJournal } from "./call-journal.js";
import { Stopping } from "./stopping.js";

/** The life of one call with all its attempts. */
export class CallScope extends Stopping {
  readonly journal: CallJournal;
  /** Times the call was sent. */
  attempts = 0;
  /** Whether the attempt in progress went onto a connection. */
  departed = false;
  /** Whether an attempt before it may have been carried out all the same. */
  mayHaveArrived = false;
  #traceId: string | undefined;

  constructor(options: CallOptions, journal: CallJournal) {
    super(options);
    this.journal = journal;
  }

  /** Of all attempts; made when it is first asked for. */
  get traceId(): string {
    this.#traceId ??= randomUUID();
    return this.#traceId;
  }
}
