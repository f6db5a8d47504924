import {
  AnswerError,
  CitewellError,
  OptionsError,
  StoreError,
  type StoreErrorCode,
  TransportError,
} from "../../core/errors.js";

/** A request that is not carried out. Its message is for the caller. */
export class Refusal extends Error {
  readonly status: number;
  /** Stable name of the case. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = new.target.name;
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** A moment in which a few hundred searches are made. */
const busySeconds = 2;

const storeMessages: Partial<Record<StoreErrorCode, string>> = {
  closed: "The documents were closed: ask again when the server has started anew",
  locked: "Another process is writing the documents: try again in a moment",
  busy: "Too many questions wait already: try again in a moment",
};

/**
 * Maps an error to the refusal that the caller gets. The library's own messages are written for people and hold no key;
 * those of a store name its folder, and others may reveal internals of the program, so neither is shown.
 */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreError) {
    const message =
      storeMessages[error.code] ?? `The documents cannot be read (${error.code}). The server's log says why`;
    const headers: Record<string, string> = error.code === "busy" ? { "retry-after": String(busySeconds) } : {};
    return new Refusal(statusOf(error), error.code, message, headers);
  }
  if (error instanceof CitewellError) return new Refusal(statusOf(error), error.code, error.message);
  return new Refusal(500, "internal", "The server failed to answer. Its log says why");
}

function statusOf(error: CitewellError): number {
  if (error instanceof OptionsError) return error.code === "options" ? 400 : 500;
  if (error instanceof AnswerError)
    return error.code === "decided" ? 409 : error.code === "question-too-long" ? 400 : 502;
  if (error instanceof StoreError) return ["locked", "closed", "busy"].includes(error.code) ? 503 : 500;
  if (error instanceof TransportError)
    return error.code === "rate-limited" ? 503 : error.code === "timeout" ? 504 : 502;
  return 500;
}
