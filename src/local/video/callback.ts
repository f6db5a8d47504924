import { request as sendPlainly } from "node:http";
import { request as sendSecurely } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { guardedLookup, isRefusedHost, type MayReach } from "../../network/guarded-lookup.js";

/** How long a receiver may take to answer, on the wall clock. */
const answerMs = 5000;
/** Waits between attempts, on the wall clock. */
const gapsMs = [1000, 3000];

/** Attempts that a state is worth: its end is told up to three times. */
export function callbackAttempts(status: string): number {
  return isEnd(status) ? 1 + gapsMs.length : 1;
}

/** Whether a status that is told of is the last. */
export function isEnd(status: string): boolean {
  return status === "succeeded" || status === "failed" || status === "expired";
}

/** A callback that is to be delivered. */
export interface Callback {
  readonly url: string;
  readonly body: unknown;
  readonly attempts: number;
}

/** What deliveries have in common. */
export interface Delivery {
  readonly mayReach: MayReach;
  readonly signal: AbortSignal;
}

/** Posts a body until it is answered with a 2xx. Never throws: nobody is there to hear of it. */
export async function postCallback({ url, body, attempts }: Callback, delivery: Delivery): Promise<void> {
  const { signal } = delivery;
  for (let attempt = 0; attempt < attempts && !signal.aborted; attempt++) {
    if (attempt > 0) await waited(gapsMs[attempt - 1] ?? 0, signal);
    if (await isDelivered(new URL(url), JSON.stringify(body), delivery)) return;
  }
}

async function waited(milliseconds: number, signal: AbortSignal): Promise<void> {
  // Cut short when the service closes; the loop sees that by itself.
  await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => {});
}

/** One attempt. Redirects are not followed: they could lead where the first address may not. */
function isDelivered(url: URL, body: string, { mayReach, signal }: Delivery): Promise<boolean> {
  if (isRefusedHost(url, mayReach)) return Promise.resolve(false);
  const send = url.protocol === "https:" ? sendSecurely : sendPlainly;
  return new Promise((resolve) => {
    const outgoing = send(url, {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      lookup: guardedLookup(mayReach, (what) => new Error(what)),
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
      agent: false,
    });
    outgoing.once("response", ({ statusCode = 0 }) => {
      resolve(statusCode >= 200 && statusCode < 300);
      outgoing.destroy();
    });
    // Also after the answer: what breaks then is of no more interest.
    outgoing.on("error", () => resolve(false));
    outgoing.end(body);
  });
}
