import type { z } from "zod";
import type { Operation } from "../../contract/operation.js";
import type { OperationName } from "../../contract/operations.js";
import { errorIn } from "../failures/error-body.js";
import { FailedAttempt, badReply } from "../failures/failure.js";
import { requestIdOf } from "../failures/response-headers.js";
import { serviceFailure } from "../failures/service-failure.js";
import type { Exchange } from "../http/exchange.js";
import { type ReadJson, readJson, utf8 } from "../http/reply-json.js";

type ReplyOf<Schema extends z.ZodType> = Pick<Operation<z.ZodType, Schema>, "reply"> & { readonly name: OperationName };

export interface Reply<T> {
  /** The fields we read. */
  readonly reply: T;
  /** The parts of a reply that every result keeps. */
  readonly received: {
    readonly requestId?: string;
    /** The reply as it came. */
    readonly raw: unknown;
  };
}

/** Reads the whole reply as JSON that satisfies the operation's schema. */
export async function readReply<Schema extends z.ZodType>(
  operation: ReplyOf<Schema>,
  exchange: Exchange,
  read: ReadJson = readJson,
): Promise<Reply<z.output<Schema>>> {
  return parseReply(operation, await exchange.bytes(), exchange, read);
}

/**
 * @throws FailedAttempt also for an error that came with status 200: a body without the expected field, but with a code or
 *   a message.
 */
export function parseReply<Schema extends z.ZodType>(
  operation: ReplyOf<Schema>,
  body: Buffer,
  { status, headers }: Pick<Exchange, "status" | "headers">,
  read: ReadJson = readJson,
): Reply<z.output<Schema>> {
  const requestId = requestIdOf(headers);
  const identity = requestId === undefined ? {} : { requestId };
  let raw: unknown;
  try {
    raw = read(body);
  } catch (cause) {
    const start = utf8(body).trim().slice(0, 80);
    const problem = start === "" ? "is empty" : `is not JSON, it starts with ${JSON.stringify(start)}`;
    throw badReply(`the reply ${problem}`, { status, ...identity, cause });
  }
  // TEI answers rerank with the bare list.
  const reply = operation.name === "rerank" && Array.isArray(raw) ? { results: raw } : raw;
  const parsed = operation.reply.safeParse(reply);
  if (parsed.success) return { reply: parsed.data, received: { ...identity, raw } };
  const said = errorIn(raw);
  if (said) {
    const failure = serviceFailure({ operation: operation.name, status, headers, body: said, nowMs: Date.now() });
    throw new FailedAttempt(failure);
  }
  const [issue] = parsed.error.issues;
  const where = issue && issue.path.length > 0 ? `${issue.path.join(".")}: ` : "";
  const message = `the reply does not follow the contract: ${where}${issue?.message ?? ""}`;
  throw badReply(message, { status, ...identity, cause: parsed.error });
}
