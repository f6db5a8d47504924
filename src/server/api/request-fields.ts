import type { IncomingMessage } from "node:http";
import type { HonoRequest } from "hono";
import { z } from "zod";
import { isRecord, isTooDeep, maxDepth } from "../../core/json.js";
import { type BodyProblem, readBody } from "../../network/request-body.js";
import { Refusal } from "../guard/refusal.js";

/** A request of Node.js, with what frameworks such as Express leave on it. */
export type NodeRequest = IncomingMessage & { readonly body?: unknown; readonly originalUrl?: unknown };

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a request's query. */
export function queryFieldsOf(request: HonoRequest): Fields {
  const query = Object.entries(request.queries());
  return Object.fromEntries(query.map(([name, values]) => [name, values.length > 1 ? values : values[0]]));
}

/**
 * The fields of a JSON body of at most `maxBytes`, or of the query of a request that has no body by its method.
 *
 * @param incoming the request of Node.js, whose body a framework may have read already.
 */
export async function fieldsOf(
  request: HonoRequest,
  maxBytes: number,
  incoming: NodeRequest | undefined,
): Promise<Fields> {
  if (["GET", "HEAD", "DELETE"].includes(request.method)) return queryFieldsOf(request);
  const fields = incoming?.readableDidRead ? parsedBefore(incoming) : parsed(await bytesOf(request.raw, maxBytes));
  if (!isRecord(fields)) throw new Refusal(400, "options", "The request body must be a JSON object");
  if (isTooDeep(fields)) throw new Refusal(400, "options", `The request body nests deeper than ${maxDepth} levels`);
  return { ...fields };
}

/** The body that `express.json()` and the like have read and left on the request. */
function parsedBefore({ body }: NodeRequest): unknown {
  if (typeof body === "string" || body instanceof Uint8Array) return parsed(Buffer.from(body));
  if (body !== undefined) return body;
  const message =
    "The request body was read before it came here, and not left as request.body. Mount the handler before what reads bodies";
  throw new Refusal(400, "options", message);
}

function parsed(body: Uint8Array): unknown {
  if (body.length === 0) return {};
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    throw new Refusal(400, "options", `The request body is not valid JSON: ${(error as Error).message}`);
  }
}

async function bytesOf(request: Request, maxBytes: number): Promise<Uint8Array> {
  const body = await readBody(request, maxBytes);
  if ("problem" in body) throw refusalOfBody(body);
  return body;
}

function refusalOfBody({ problem, message }: BodyProblem): Refusal {
  if (problem === "damaged") return new Refusal(400, "options", message);
  const headers = { connection: "close" };
  return problem === "too-large"
    ? new Refusal(413, "too-large", message, headers)
    : new Refusal(415, "encoding", message, headers);
}

/** @throws Refusal when the bytes of a file do not come as they are: they are stored as they are read. */
export function requireUnreadBytes(request: Request, incoming: NodeRequest | undefined): void {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding !== "identity") {
    throw new Refusal(415, "encoding", "A file is uploaded as it is, without content-encoding", {
      connection: "close",
    });
  }
  if (!incoming?.readableDidRead) return;
  throw new Refusal(
    400,
    "options",
    "The file was read before it came here. Mount the handler before what reads bodies",
  );
}

/** Query parameters of a list that is read a page at a time. @param limit default size of a page. */
export function pageFields(limit: number) {
  return {
    offset: z.coerce.number().int().min(0).default(0),
    limit: z.coerce.number().int().min(1).max(1000).default(limit),
  };
}
