import { setTimeout as sleep } from "node:timers/promises";
import type { VideoStatus } from "../../contract/video-tasks.js";
import type { Faults } from "../faults/faults.js";
import { callbackAttempts, isEnd, postCallback, type Delivery } from "./callback.js";

/** A change of a task's status, to be told. */
export interface Announcement {
  readonly taskId: string;
  readonly status: VideoStatus;
  readonly url: string;
  /** What the query would answer at this moment. */
  readonly body: unknown;
}

/** Sends callbacks, and does to them what the faults say. */
export class CallbackSender {
  readonly #faults: Faults;
  readonly #delivery: Delivery;
  /** By task: callbacks that wait for its end, in order. */
  readonly #held = new Map<string, Announcement[]>();

  constructor(faults: Faults, delivery: Delivery) {
    this.#faults = faults;
    this.#delivery = delivery;
  }

  /** Never fails: nobody is there to hear of it. */
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

  /** What is known of a task is forgotten: nothing of it is sent any more. */
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

  async #post({ url, body, status }: Announcement): Promise<void> {
    const { callbackDelayMs } = this.#faults.settings.video;
    const { signal } = this.#delivery;
    if (callbackDelayMs > 0) await sleep(callbackDelayMs, undefined, { signal, ref: false }).catch(() => {});
    await postCallback({ url, body, attempts: callbackAttempts(status) }, this.#delivery);
  }
}
