import { serviceCodes } from "../../contract/failures.js";

export interface FailureDescription {
  readonly status: number;
  /** Number in the flat shape. */
  readonly code: number;
  /** Name in the nested shape. */
  readonly name: string;
}

/** What can go wrong, and how services of this shape number and name it. */
export const failureKinds = {
  invalid: { status: 400, code: serviceCodes.invalidParameter, name: "InvalidParameter" },
  "unsupported-model": {
    status: 400,
    code: serviceCodes.unsupportedModel,
    name: "InvalidEndpointOrModel.NotFound",
  },
  unauthorized: { status: 401, code: 20_001, name: "AuthenticationError" },
  "no-path": { status: 404, code: 20_063, name: "NotFound" },
  "no-task": { status: 404, code: 20_063, name: "ResourceNotFound.Task" },
  "link-expired": { status: 403, code: 20_063, name: "AccessDenied" },
  method: { status: 405, code: serviceCodes.invalidParameter, name: "MethodNotAllowed" },
  "task-running": { status: 409, code: serviceCodes.invalidParameter, name: "TaskRunningCannotCancel" },
  "too-large": { status: 413, code: serviceCodes.tooLarge, name: "RequestBodyTooLarge" },
  "range-not-satisfiable": { status: 416, code: serviceCodes.invalidParameter, name: "InvalidRange" },
  "requests-per-minute": {
    status: 429,
    code: serviceCodes.requestsPerMinute,
    name: "ModelAccountRpmRateLimitExceeded",
  },
  "tokens-per-minute": { status: 429, code: serviceCodes.tokensPerMinute, name: "ModelAccountTpmRateLimitExceeded" },
  concurrency: { status: 429, code: serviceCodes.overloaded, name: "InflightBatchsizeExceeded" },
  "too-many-tasks": { status: 429, code: serviceCodes.overloaded, name: "QuotaExceeded" },
  internal: { status: 500, code: 50_500, name: "InternalServiceError" },
  upstream: { status: 502, code: 50_507, name: "InternalServiceError" },
  busy: { status: 503, code: serviceCodes.busy, name: "ServerOverloaded" },
  "no-answer": { status: 504, code: 50_501, name: "InternalServiceError" },
} as const satisfies Record<string, FailureDescription>;

export type FailureKind = keyof typeof failureKinds;

/** The kind that a status alone comes to. */
export function kindOfStatus(status: number): FailureKind {
  const found = Object.entries(failureKinds).find(([, kind]) => kind.status === status);
  if (found) return found[0] as FailureKind;
  return status < 500 ? "invalid" : "internal";
}
