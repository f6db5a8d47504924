/** Shapes in which services of this kind write what went wrong. */
export const failureShapes = [
  /** `{code, message, data}`; a bare string at 401, 403, 404 and 504; no code at 429. */
  "flat",
  /** The same, and where it is an object with `error: {message, type, param, code}`, of which most clients show the message. */
  "flat-with-error",
  /** `{error: {message, type, param, code}}`, as OpenAI writes it. */
  "openai",
  /** `{error: {code, message, param, type}}`. */
  "nested",
  /** `{object: "error", message, type, code}`. */
  "object",
  /** `{message, code: <status>, type}`. */
  "typed",
  /** `{error: "…", error_type}`. */
  "named",
  /** `{errors: {message}}`. */
  "errors",
  /** `{detail}`. */
  "detail",
  /** A JSON string. */
  "string",
  /** A page, as gateways send it. */
  "html",
] as const;
export type FailureShape = (typeof failureShapes)[number];

export interface ShapedFailure {
  readonly status: number;
  readonly code: number | string;
  readonly name: string;
  readonly openAiCode?: string | undefined;
  readonly message: string;
  readonly field?: string | undefined;
  readonly requestId: string;
}

/** Statuses at which the flat shape is a JSON string. */
const bareStatuses: ReadonlySet<number> = new Set([401, 403, 404, 504]);

const types: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  413: "BadRequest",
  429: "TooManyRequests",
};

function flat({
  status,
  code,
  message,
}: ShapedFailure): string | { code?: number | string; message: string; data: null } {
  if (bareStatuses.has(status)) return message;
  return status === 429 ? { message, data: null } : { code, message, data: null };
}

function openAiError({ status, message, field }: ShapedFailure, code: number | string | undefined): object {
  const type = status === 429 ? "rate_limit_error" : status < 500 ? "invalid_request_error" : "server_error";
  return { message, type, param: field ?? null, code: code ?? null };
}

/** The JSON value of a failure in a shape; for `html` the page itself. Pure. */
export function failureBody(shape: FailureShape, failure: ShapedFailure): unknown {
  const { status } = failure;
  const type = types[status] ?? (status < 500 ? "BadRequest" : "InternalServerError");
  return bodies[shape](failure, type);
}

const bodies: Readonly<Record<FailureShape, (failure: ShapedFailure, type: string) => unknown>> = {
  flat,
  "flat-with-error": (failure) => {
    const body = flat(failure);
    return typeof body === "string" ? body : { ...body, error: openAiError(failure, body.code) };
  },
  openai: (failure) => ({ error: openAiError(failure, failure.openAiCode) }),
  nested: ({ name, message, field, requestId }, type) => {
    const place = field === undefined ? "" : `The parameter \`${field}\` specified in the request is not valid: `;
    return { error: { code: name, message: `${place}${message} Request id: ${requestId}`, param: field ?? "", type } };
  },
  object: ({ status, message, field }, type) => ({
    object: "error",
    message,
    type,
    param: field ?? null,
    code: status,
  }),
  typed: ({ status, message }, type) => ({ message, code: status, type }),
  named: ({ message }, type) => ({ error: message, error_type: type }),
  errors: ({ message, requestId }) => ({ errors: { message }, request_id: requestId }),
  detail: ({ message }) => ({ detail: message }),
  string: ({ message }) => message,
  html: ({ status, message }) =>
    `<html><head><title>${status}</title></head><body><h1>${status}</h1><p>${escapeHtml(message)}</p></body></html>`,
};

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** The HTTP response of a failure. */
export function failureResponse(
  shape: FailureShape,
  failure: ShapedFailure,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = failureBody(shape, failure);
  const html = shape === "html";
  return new Response(html ? String(body) : JSON.stringify(body), {
    status: failure.status,
    headers: { "content-type": html ? "text/html; charset=utf-8" : "application/json", ...headers },
  });
}
