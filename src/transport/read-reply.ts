import type { z } from "zod";
import type { Operation } from "../contract/operation.js";
import type { OperationName } from "../contract/operations.js";
import { errorIn } from "./error-body.js";
import type { Exchange } from "./exchange.js";
import { FailedAttempt, badReply } from "./failure.js";
import { refusal, requestIdOf } from "./refusal.js";
import { type ReadJson, readJson, utf8 } from "./reply-json.js";

type ReplyOf<Schema extends z.ZodType> = Pick<Operation<z.ZodType, Schema>, "reply"> & { readonly name: OperationName };

export interface Reply<T> {
  /** The fields we read. */
  readonly reply: T;
  /** All of it. */
  readonly raw: unknown;
}

/** The whole reply as JSON that keeps the operation's schema. */
export async function readReply<Schema extends z.ZodType>(
  operation: ReplyOf<Schema>,
  exchange: Exchange,
  read: ReadJson = readJson,
): Promise<Reply<z.output<Schema>>> {
  return parseReply(operation, await exchange.bytes(), exchange, read);
}

/**
 * @throws FailedAttempt also for an error that came with status 200: a body without the field that was asked for, but
 * with a code or a message.
 */
export function parseReply<Schema extends z.ZodType>(
  operation: ReplyOf<Schema>,
  body: Buffer,
  exchange: Pick<Exchange, "status" | "headers">,
  read: ReadJson = readJson,
): Reply<z.output<Schema>> {
  const { status, headers } = exchange;
  const requestId = requestIdOf(headers);
  const known = { status, ...(requestId !== undefined && { requestId }) };
  let raw: unknown;
  try {
    raw = read(body);
  } catch (cause) {
    const start = utf8(body).trim().slice(0, 80);
    throw badReply(
      start === "" ? "the reply is empty" : `the reply is not JSON, it starts with ${JSON.stringify(start)}`,
      {
        ...known,
        cause,
      },
    );
  }
  // TEI answers rerank with the bare list.
  const reply = operation.name === "rerank" && Array.isArray(raw) ? { results: raw } : raw;
  const parsed = operation.reply.safeParse(reply);
  if (parsed.success) return { reply: parsed.data, raw };
  const said = errorIn(raw);
  if (said)
    throw new FailedAttempt(refusal({ operation: operation.name, status, headers, body: said, nowMs: Date.now() }));
  const [issue] = parsed.error.issues;
  const where = issue && issue.path.length > 0 ? `${issue.path.join(".")}: ` : "";
  throw badReply(`the reply is not what the contract says: ${where}${issue?.message ?? ""}`, {
    ...known,
    cause: parsed.error,
  });
}
