import { setTimeout as sleep } from "node:timers/promises";
import { failureBody, failureResponse, type FailureShape } from "../failure/failure-shapes.js";
import { type FailureDescription, failureKinds, kindOfStatus } from "../failure/request-failure.js";
import type { FaultSettings, ScriptedAnswerSettings } from "./faults.js";
import type { RouteReply } from "../route.js";

/** Turns a scripted answer into a response. `ownShape` is the operation's shape of errors. Pure. */
export function scriptedResponse(answer: ScriptedAnswerSettings, ownShape: FailureShape, requestId: string): Response {
  const { status, retryAfterSeconds } = answer;
  const headers = {
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    ...answer.headers,
  };
  if (status === 204 || status === 304) return new Response(null, { status, headers });
  if (answer.text !== undefined) return new Response(answer.text, { status, headers });
  if (answer.json !== undefined) return Response.json(answer.json, { status, headers });
  // A body of an error behind a status that says all is well is an internal error.
  const kind: FailureDescription = failureKinds[kindOfStatus(status < 400 ? 500 : status)];
  const { code = kind.code, message } = answer;
  const name = typeof code === "string" ? code : kind.name;
  const openAiCode = typeof code === "string" ? code : kind.openAiCode;
  return failureResponse(answer.shape ?? ownShape, { status, code, name, openAiCode, message, requestId }, headers);
}

/** Time for sent bytes to leave this machine before the connection breaks. */
const flushMs = 20;

/** A response of which the first half of the bytes comes, and then `cut` breaks the connection. */
export async function halved(response: Response, cut: () => void): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const half = bytes.subarray(0, Math.ceil(bytes.length / 2));
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(half),
    pull: async () => {
      await sleep(flushMs);
      cut();
    },
  });
  const { status } = response;
  const headers = { ...Object.fromEntries(response.headers), "content-length": String(bytes.length) };
  return new Response(body, { status, headers });
}

type StreamedReply = Extract<RouteReply, { readonly events: unknown }>;

export type StreamFaults = FaultSettings["stream"];

export interface StreamConnection {
  readonly signal: AbortSignal;
  /** Breaks the connection. */
  readonly cut: () => void;
}

/** The lines of an event stream, with what goes wrong in it. Whole frames unless they are to be split. */
export async function* streamFrames(
  reply: StreamedReply,
  faults: StreamFaults,
  connection: StreamConnection,
): AsyncGenerator<Uint8Array> {
  for await (const frame of frames(reply, faults, connection)) {
    const bytes = Buffer.from(faults.lineEnd === "\n" ? frame : frame.replaceAll("\n", faults.lineEnd));
    const size = faults.splitBytes ?? bytes.length;
    for (let index = 0; index < bytes.length; index += size) yield bytes.subarray(index, index + size);
  }
}

async function* frames(
  { events, isNamed }: StreamedReply,
  faults: StreamFaults,
  { signal, cut }: StreamConnection,
): AsyncGenerator<string> {
  let sent = 0;
  for await (const event of events) {
    if (sent === faults.cutAfterEvents) {
      await sleep(flushMs);
      cut();
      return;
    }
    if (sent === faults.stallAfterEvents && !(await stalled(faults.stallMs, signal))) return;
    if (sent === faults.errorAfterEvents) {
      yield errorFrame(faults.errorShape);
      return;
    }
    if (faults.comments) yield ": keep-alive\n\n";
    const name = isNamed === true ? `event: ${(event as { readonly type: string }).type}\n` : "";
    yield `${name}data: ${JSON.stringify(event)}\n\n`;
    sent++;
  }
  if (isNamed === true) return;
  if (!faults.omitDone) yield "data: [DONE]\n\n";
  if (!faults.omitDone && faults.repeatDone) yield "data: [DONE]\n\n";
}

/** Whether the caller is still there after the wait. */
async function stalled(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(milliseconds, undefined, { signal, ref: false });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

function errorFrame(shape: StreamFaults["errorShape"]): string {
  const body = failureBody(shape === "event" ? "nested" : shape, {
    status: 500,
    code: 50_500,
    name: "InternalServiceError",
    message: "Injected fault",
    requestId: "",
  });
  return `${shape === "event" ? "event: error\n" : ""}data: ${JSON.stringify(body)}\n\n`;
}
