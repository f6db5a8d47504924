import type { WireEvent } from "../../../api/wire.js";
import { eventsOf } from "../api/read-answer-events.js";
import { ApiError } from "../api/http.js";

export interface Following {
  /** Sends the request whose reply is the stream. */
  readonly open: () => Promise<Response>;
  /** Joins the stream again behind an event. */
  readonly reopen: (after: number | undefined) => Promise<Response>;
  readonly onEvent: (event: WireEvent) => void;
  readonly onConnection: (state: "connected" | "lost") => void;
  readonly signal: AbortSignal;
}

const pausesMs = [500, 1000, 2000, 4000, 8000];

/**
 * Follows an answer to its end, over broken connections. Returns `gone` when the server no longer has the stream, so
 * that the conversation has to be loaded.
 */
export async function follow({ open, reopen, onEvent, onConnection, signal }: Following): Promise<"ended" | "gone"> {
  let last: number | undefined;
  let failures = 0;
  let isEnded = false;
  let response = await open();
  for (;;) {
    try {
      for await (const { number, event } of eventsOf(response, signal)) {
        failures = 0;
        last = number ?? last;
        onEvent(event);
        isEnded ||= event.type === "finish" || event.type === "stopped" || event.type === "error";
      }
    } catch (error) {
      if (!isOffline(error)) throw error;
    }
    if (isEnded) return "ended";
    onConnection("lost");
    for (;;) {
      await pause(pausesMs[Math.min(failures++, pausesMs.length - 1)]!, signal);
      try {
        response = await reopen(last);
        onConnection("connected");
        break;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) {
          onConnection("connected");
          return "gone";
        }
        if (!isOffline(error)) throw error;
      }
    }
  }
}

function isOffline(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 502);
}

/** Waits, less long when the browser says that the network is back. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = new AbortController();
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      done.abort();
      settle();
    };
    const timer = setTimeout(() => finish(resolve), milliseconds);
    window.addEventListener("online", () => finish(resolve), { signal: done.signal });
    signal.addEventListener("abort", () => finish(() => reject(signal.reason as Error)), { signal: done.signal });
  });
}
