import type { Violation } from "../../contract/operation.js";
import { unsupportedModelMessage } from "../../contract/failures.js";
import type { FailureKind } from "./failure-kinds.js";

export interface RefusalDetails {
  /** Replaces the kind's own status. */
  readonly status?: number;
  /** The field that is to blame. */
  readonly field?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that the service does not carry out: thrown by a route, answered in the shape of the route's errors. */
export class Refusal extends Error {
  readonly kind: FailureKind;
  readonly status: number | undefined;
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: FailureKind, message: string, { status, field, headers = {} }: RefusalDetails = {}) {
    super(message);
    this.name = "Refusal";
    this.kind = kind;
    this.status = status;
    this.field = field;
    this.headers = headers;
  }
}

export function unauthorized(reason: "missing" | "wrong"): Refusal {
  const message = reason === "missing" ? "Invalid token" : "Api key is invalid";
  return new Refusal("unauthorized", message, { headers: { "www-authenticate": "Bearer" } });
}

export function invalidRequest(message: string, field?: string): Refusal {
  return new Refusal("invalid", message, field === undefined ? {} : { field });
}

export function unsupportedModel(): Refusal {
  return new Refusal("unsupported-model", unsupportedModelMessage, { field: "model" });
}

export function tooLarge(message: string): Refusal {
  return new Refusal("too-large", message);
}

/** Most violations that one message lists: a request of thousands of bad fields must not make an answer of megabytes. */
const maxListed = 8;
/** Longest message: field names are the caller's and may be of any length. */
const maxMessageLength = 2000;

export function broken(violations: readonly Violation[]): Refusal {
  const listed = violations
    .slice(0, maxListed)
    .map(({ field, message }) => (field === "" ? message : `${field}: ${message}`));
  const rest = violations.length - listed.length;
  const message = listed.join("; ") + (rest > 0 ? `; and ${rest} more` : "");
  const shown = message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message;
  const field = violations.find((violation) => violation.field !== "")?.field;
  return invalidRequest(shown, field);
}
