import { serviceCodes, unsupportedModelMessage } from "../contract/failures.js";
import type { Violation } from "../contract/operation.js";

/** A request that the service does not carry out: thrown by a route, answered as it stands. */
export class Refusal extends Error {
  readonly status: number;
  /** The JSON body of the answer. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    super(`Answered with status ${status}`);
    this.name = "Refusal";
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** The service's own error shape. */
export function failureBody(code: number, message: string): unknown {
  return { code, message, data: null };
}

/** A bare JSON string, with which services of this shape answer 401. */
export function unauthorized(reason: "missing" | "wrong"): Refusal {
  return new Refusal(401, reason === "missing" ? "Invalid token" : "Api key is invalid", {
    "www-authenticate": "Bearer",
  });
}

export function invalidRequest(message: string): Refusal {
  return new Refusal(400, failureBody(serviceCodes.invalidParameter, message));
}

export function unsupportedModel(): Refusal {
  return new Refusal(400, failureBody(serviceCodes.unsupportedModel, unsupportedModelMessage));
}

export function tooLarge(message: string): Refusal {
  return new Refusal(413, failureBody(serviceCodes.tooLarge, message));
}

/** Most violations that one message lists: a request of thousands of bad fields must not make an answer of megabytes. */
const maxListed = 8;

export function broken(violations: readonly Violation[]): Refusal {
  const listed = violations
    .slice(0, maxListed)
    .map(({ field, message }) => (field === "" ? message : `${field}: ${message}`));
  const rest = violations.length - listed.length;
  return invalidRequest(listed.join("; ") + (rest > 0 ? `; and ${rest} more` : ""));
}
