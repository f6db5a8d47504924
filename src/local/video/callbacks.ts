import { request as sendPlainly } from "node:http";
import { request as sendSecurely } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import type { VideoStatus } from "../../contract/video-tasks.js";
import {
  guardedLookup,
  isRefusedHost,
  type MayReach,
  isLoopbackAddress,
  isPublicAddress,
} from "../../network/addresses.js";
import type { Faults } from "../faults/faults.js";

/** A change of a task's status to report. */
export interface Announcement {
  readonly taskId: string;
  readonly status: VideoStatus;
  readonly url: string;
  /** The reply that a query would get at this moment. */
  readonly body: unknown;
}

/** Sends callbacks, with the injected faults. */
export class CallbackSender {
  readonly #faults: Faults;
  readonly #delivery: Delivery;
  /** Callbacks that wait for the end of their task, by task, in order. */
  readonly #held = new Map<string, Announcement[]>();

  constructor(faults: Faults, delivery: Delivery) {
    this.#faults = faults;
    this.#delivery = delivery;
  }

  /** Never fails, since no caller awaits it. */
  send(announcement: Announcement): void {
    const { taskId, status } = announcement;
    const { callbacks, callbackProbability } = this.#faults.settings.video;
    const held = this.#held.get(taskId);
    if (
      held !== undefined ||
      (callbacks === "reordered" && status === "queued" && this.#happens(callbackProbability))
    ) {
      const all = [...(held ?? []), announcement];
      this.#held.set(taskId, all);
      if (isEnd(status)) void this.#release(taskId, all);
      return;
    }
    const happens = (callbacks === "lost" || callbacks === "duplicated") && this.#happens(callbackProbability);
    const copies = !happens ? 1 : callbacks === "lost" ? 0 : 2;
    for (let copy = 0; copy < copies; copy++) void this.#post(announcement);
  }

  /** Forgets a task: nothing more is sent about it. */
  drop(taskId: string): void {
    this.#held.delete(taskId);
  }

  #happens(probability: number): boolean {
    return this.#faults.random() < probability;
  }

  async #release(taskId: string, all: readonly Announcement[]): Promise<void> {
    this.#held.delete(taskId);
    const order = all.map((announcement) => ({ announcement, rank: this.#faults.random() }));
    // One after the other: sent at once, they would arrive in an order that the network chose.
    for (const { announcement } of order.toSorted((a, b) => a.rank - b.rank)) await this.#post(announcement);
  }

  /** Posts until the answer is a 2xx. The end of a task is worth three attempts, other states one. */
  async #post({ url, body, status }: Announcement): Promise<void> {
    const { signal } = this.#delivery;
    // Cut short when the service closes; the loop sees that by itself.
    const wait = (milliseconds: number) => sleep(milliseconds, undefined, { signal, ref: false }).catch(() => {});
    const { callbackDelayMs } = this.#faults.settings.video;
    if (callbackDelayMs > 0) await wait(callbackDelayMs);
    for (const gapMs of isEnd(status) ? [0, ...gapsMs] : [0]) {
      if (gapMs > 0) await wait(gapMs);
      if (signal.aborted || (await isDelivered(new URL(url), JSON.stringify(body), this.#delivery))) return;
    }
  }
}

/** Maximum time for a receiver to answer, on the wall clock. */
const answerMs = 5000;
/** Waits between attempts, on the wall clock. */
const gapsMs = [1000, 3000];

/** Whether a status that is told of is the last. */
function isEnd(status: string): boolean {
  return status === "succeeded" || status === "failed" || status === "expired";
}

/** The settings that all deliveries share. */
export interface Delivery {
  readonly mayReach: MayReach;
  readonly signal: AbortSignal;
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
    // The listener stays after the answer, to ignore later errors.
    outgoing.on("error", () => resolve(false));
    outgoing.end(body);
  });
}

export interface CallbackSettings {
  readonly remoteCallbacks: boolean;
  readonly privateCallbacks: boolean;
}

/**
 * Decides which addresses callbacks may reach. Clients that create tasks make this machine send requests, which must not
 * become a way into its network. Pure.
 *
 * @param listensOn the host that the service was started on
 */
export function callbackReach({ remoteCallbacks, privateCallbacks }: CallbackSettings, listensOn: string): MayReach {
  const ownLoopback = listensOn === "localhost" || isLoopbackAddress(listensOn);
  return (address) => {
    if (isLoopbackAddress(address)) return ownLoopback || privateCallbacks;
    return remoteCallbacks && (privateCallbacks || isPublicAddress(address));
  };
}

/** Why a callback cannot go to an address, as far as the address itself shows it. Names are looked up when it is sent. Pure. */
export function callbackViolation(url: string, mayReach: MayReach): string | undefined {
  if (!URL.canParse(url)) return "is not an address";
  return isRefusedHost(new URL(url), mayReach)
    ? "leads where this service sends no callbacks (see remoteCallbacks and privateCallbacks of its options)"
    : undefined;
}
