import { setTimeout as sleep } from "node:timers/promises";

/** How long a receiver may take to answer, on the wall clock. */
const answerMs = 5000;
/** Waits between attempts, on the wall clock. */
const gapsMs = [1000, 3000];

/** Attempts that a state is worth: its end is told up to three times. */
export function callbackAttempts(status: string): number {
  return status === "succeeded" || status === "failed" || status === "expired" ? 1 + gapsMs.length : 1;
}

/** Posts a body until it is answered with a 2xx. Never throws: nobody is there to hear of it. */
export async function postCallback(url: string, body: unknown, attempts: number, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; attempt < attempts && !signal.aborted; attempt++) {
    if (attempt > 0) await waited(gapsMs[attempt - 1] ?? 0, signal);
    if (await delivered(url, body, signal)) return;
  }
}

async function waited(milliseconds: number, signal: AbortSignal): Promise<void> {
  // Cut short when the service closes; the loop sees that by itself.
  await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => {});
}

async function delivered(url: string, body: unknown, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
