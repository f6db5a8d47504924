import { setTimeout as sleep } from "node:timers/promises";
import { failureBody } from "../failure/failure-shapes.js";
import type { FaultSettings } from "./fault-options.js";

export type StreamFaults = FaultSettings["stream"];

export interface StreamConnection {
  readonly signal: AbortSignal;
  /** Breaks the connection. */
  readonly cut: () => void;
}

/** The lines of an event stream, with what goes wrong in it. Whole frames unless they are to be split. */
export async function* streamFrames(
  events: AsyncIterable<unknown>,
  faults: StreamFaults,
  connection: StreamConnection,
): AsyncGenerator<Uint8Array> {
  for await (const frame of frames(events, faults, connection)) {
    const bytes = Buffer.from(faults.lineEnd === "\n" ? frame : frame.replaceAll("\n", faults.lineEnd));
    const size = faults.splitBytes ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
}

/** Time for what was sent to leave this machine before the connection breaks. */
const flushMs = 20;

async function* frames(
  events: AsyncIterable<unknown>,
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
    yield `data: ${JSON.stringify(event)}\n\n`;
    sent++;
  }
  for (let done = doneFrames(faults); done > 0; done--) yield "data: [DONE]\n\n";
}

function doneFrames({ omitDone, repeatDone }: StreamFaults): number {
  if (omitDone) return 0;
  return repeatDone ? 2 : 1;
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
