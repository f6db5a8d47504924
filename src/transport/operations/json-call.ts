import type { z } from "zod";
import type { Operation, Parameters } from "../../contract/operation.js";
import type { OperationName } from "../../contract/operations.js";
import type { Call } from "../calls/caller.js";
import { type ErrorBody, errorIn } from "../failures/error-body.js";
import { FailedAttempt, badReply } from "../failures/failure.js";
import { type ResponseHeaders, requestIdOf } from "../failures/response-headers.js";
import { serviceFailure } from "../failures/service-failure.js";
import { type ReadJson, readJson, utf8 } from "../http/reply-json.js";

type JsonOperation<Schema extends z.ZodType> = Omit<Operation<z.ZodType, Schema>, "name" | "request" | "rules"> & {
  readonly name: OperationName;
};

/** Fields that every result keeps of its reply. */
export interface Received {
  readonly requestId?: string;
  /** The reply as it came. */
  readonly raw: unknown;
}

interface JsonRequest<Reply> {
  /** The model, or for requests without one, what they are about. */
  readonly model: string;
  readonly body?: unknown;
  readonly parameters?: Parameters;
  /** Puts a reply that services shorten into the contract's form. Default: it is left as it is. */
  readonly envelope?: (raw: unknown) => unknown;
  /** Whether a reply holds less than was asked for: then an error beside it is the reason. Default: it never does. */
  readonly isShort?: (reply: Reply) => boolean;
  /** Default: `readJson`. */
  readonly parse?: ReadJson;
}

/** A call that is answered with JSON which satisfies the operation's schema; `read` makes the result of it. */
export function jsonCall<Schema extends z.ZodType, T>(
  operation: JsonOperation<Schema>,
  { envelope, isShort, parse, ...request }: JsonRequest<z.output<Schema>>,
  read: (reply: z.output<Schema>, received: Received) => T,
): Call<T> {
  return {
    ...request,
    operation: operation.name,
    accept: "application/json",
    read: async (exchange) => {
      const { reply, received } = parseReply(operation, await exchange.bytes(), exchange, { envelope, isShort, parse });
      return read(reply, received);
    },
  };
}

/**
 * @throws FailedAttempt also for an error that came with status 200: a body without the expected field, or with less in it
 *   than was asked for, but with a code or a message.
 */
export function parseReply<Schema extends z.ZodType>(
  operation: JsonOperation<Schema>,
  body: Buffer,
  { status, headers }: { readonly status: number; readonly headers: ResponseHeaders },
  {
    envelope = (raw) => raw,
    isShort = () => false,
    parse = readJson,
  }: Pick<JsonRequest<z.output<Schema>>, "envelope" | "isShort" | "parse"> = {},
): { readonly reply: z.output<Schema>; readonly received: Received } {
  const requestId = requestIdOf(headers);
  const identity = requestId === undefined ? {} : { requestId };
  let raw: unknown;
  try {
    raw = parse(body);
  } catch (cause) {
    const start = utf8(body).trim().slice(0, 80);
    const problem = start === "" ? "is empty" : `is not JSON, it starts with ${JSON.stringify(start)}`;
    throw badReply(`the reply ${problem}`, { status, ...identity, cause });
  }
  const parsed = operation.reply.safeParse(envelope(raw));
  const said = parsed.success && !isShort(parsed.data) ? undefined : errorIn(raw);
  if (parsed.success && (!said || isSuccessNotice(said))) return { reply: parsed.data, received: { ...identity, raw } };
  if (said) {
    const failure = serviceFailure({ operation: operation.name, status, headers, body: said, nowMs: Date.now() });
    throw new FailedAttempt(failure);
  }
  const { error: cause } = parsed;
  throw badReply(`the reply does not follow the contract${placeOf(cause!)}`, { status, ...identity, cause });
}

/** Some services put a code and a message beside every reply. */
function isSuccessNotice({ code = "", message }: ErrorBody): boolean {
  return ["0", "200"].includes(code) || /^(success|succeeded|ok)\W?$/i.test(message);
}

/** Names the first field that does not follow a schema, and says why. */
export function placeOf({ issues: [issue] }: z.ZodError): string {
  if (!issue) return "";
  return `: ${issue.path.length > 0 ? `${issue.path.join(".")}: ` : ""}${issue.message}`;
}
