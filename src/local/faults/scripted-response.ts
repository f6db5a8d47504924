import { failureResponse, type FailureShape } from "../failure/failure-shapes.js";
import { failureKinds, kindOfStatus } from "../failure/failure-kinds.js";
import type { ScriptedAnswer } from "./fault-options.js";

/** Turns a scripted answer into a response. `ownShape` is the operation's shape of errors. Pure. */
export function scriptedResponse(answer: ScriptedAnswer, ownShape: FailureShape, requestId: string): Response {
  const { status, retryAfterSeconds } = answer;
  const headers = {
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    ...answer.headers,
  };
  if (status === 204 || status === 304) return new Response(null, { status, headers });
  if (answer.text !== undefined) return new Response(answer.text, { status, headers });
  if (answer.json !== undefined) return Response.json(answer.json, { status, headers });
  // A body of an error behind a status that says all is well is an internal error.
  const kind = failureKinds[kindOfStatus(status < 400 ? 500 : status)];
  const { code = kind.code, message } = answer;
  const name = typeof code === "string" ? code : kind.name;
  return failureResponse(answer.shape ?? ownShape, { status, code, name, message, requestId }, headers);
}
