import { serviceCodes } from "../../contract/failures.js";
import type { Violation } from "../../contract/operation.js";
import type { ShapedFailure } from "./failure-shapes.js";

export interface FailureDescription {
  readonly status: number;
  /** Number in the flat shape. */
  readonly code: number;
  /** Name in the nested shape. */
  readonly name: string;
  /** Code in the shape of the neighbours, which give one only to failures that a program acts on. */
  readonly openAiCode?: string;
}

/** The kinds of failure, with the numbers and names that services of this shape give them. */
export const failureKinds = {
  invalid: { status: 400, code: serviceCodes.invalidParameter, name: "InvalidParameter" },
  "unsupported-model": {
    status: 400,
    code: serviceCodes.unsupportedModel,
    name: "InvalidEndpointOrModel.NotFound",
    openAiCode: "model_not_found",
  },
  "context-length": {
    status: 400,
    code: serviceCodes.invalidParameter,
    name: "OutofContextError",
    openAiCode: "context_length_exceeded",
  },
  unauthorized: { status: 401, code: 20_001, name: "AuthenticationError", openAiCode: "invalid_api_key" },
  "no-path": { status: 404, code: 20_063, name: "NotFound" },
  "no-task": { status: 404, code: 20_063, name: "ResourceNotFound.Task" },
  "link-expired": { status: 403, code: 20_063, name: "AccessDenied" },
  method: { status: 405, code: serviceCodes.invalidParameter, name: "MethodNotAllowed" },
  "task-running": { status: 409, code: serviceCodes.invalidParameter, name: "TaskRunningCannotCancel" },
  "too-large": { status: 413, code: serviceCodes.tooLarge, name: "RequestBodyTooLarge" },
  "media-type": { status: 415, code: serviceCodes.invalidParameter, name: "InvalidContentType" },
  "range-not-satisfiable": { status: 416, code: serviceCodes.invalidParameter, name: "InvalidRange" },
  "requests-per-minute": {
    status: 429,
    code: serviceCodes.requestsPerMinute,
    name: "ModelAccountRpmRateLimitExceeded",
    openAiCode: "rate_limit_exceeded",
  },
  "tokens-per-minute": {
    status: 429,
    code: serviceCodes.tokensPerMinute,
    name: "ModelAccountTpmRateLimitExceeded",
    openAiCode: "rate_limit_exceeded",
  },
  concurrency: {
    status: 429,
    code: serviceCodes.overloaded,
    name: "InflightBatchsizeExceeded",
    openAiCode: "rate_limit_exceeded",
  },
  "too-many-tasks": { status: 429, code: serviceCodes.overloaded, name: "QuotaExceeded" },
  internal: { status: 500, code: 50_500, name: "InternalServiceError" },
  upstream: { status: 502, code: 50_507, name: "InternalServiceError" },
  busy: { status: 503, code: serviceCodes.busy, name: "ServerOverloaded" },
  "no-answer": { status: 504, code: 50_501, name: "InternalServiceError" },
} as const satisfies Record<string, FailureDescription>;

export type FailureKind = keyof typeof failureKinds;

/** The kind that a status alone comes to: the first of the table. */
export function kindOfStatus(status: number): FailureKind {
  const found = Object.entries(failureKinds).find(([, kind]) => kind.status === status);
  if (found) return found[0] as FailureKind;
  return status < 500 ? "invalid" : "internal";
}

export interface FailureDetails {
  /** Replaces the kind's own status. */
  readonly status?: number;
  /** Name of the invalid field. */
  readonly field?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that the service does not carry out: thrown by a route, answered in the shape of the route's errors. */
export class RequestFailure extends Error {
  readonly kind: FailureKind;
  readonly status: number | undefined;
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: FailureKind, message: string, { status, field, headers = {} }: FailureDetails = {}) {
    super(message);
    this.name = "RequestFailure";
    this.kind = kind;
    this.status = status;
    this.field = field;
    this.headers = headers;
  }
}

/** Turns any error into a refusal; an unexpected one is an internal error. */
export function asRequestFailure(error: Error): RequestFailure {
  if (error instanceof RequestFailure) return error;
  return new RequestFailure("internal", `Internal error of the local service: ${error.message}`);
}

/** The fields that a dialect's error body is written from. */
export function shapedFailure({ kind, status, message, field }: RequestFailure, requestId: string): ShapedFailure {
  const described = failureKinds[kind];
  return { ...described, status: status ?? described.status, message, field, requestId };
}

export function invalidRequest(message: string, field?: string): RequestFailure {
  return new RequestFailure("invalid", message, field === undefined ? {} : { field });
}

/** Maximum number of violations that one message lists: a request of thousands of bad fields must not make an answer of megabytes. */
const maxListed = 8;
/** Longest message: field names are the caller's and may be of any length. */
const maxMessageLength = 2000;

export function invalidFields(violations: readonly Violation[]): RequestFailure {
  const listed = violations
    .slice(0, maxListed)
    .map(({ field, message }) => (field === "" ? message : `${field}: ${message}`));
  const rest = violations.length - listed.length;
  const message = listed.join("; ") + (rest > 0 ? `; and ${rest} more` : "");
  const shown = message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message;
  const field = violations.find((violation) => violation.field !== "")?.field;
  return invalidRequest(shown, field);
}
