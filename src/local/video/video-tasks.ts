import { randomBytes } from "node:crypto";
import type { MayReach } from "../../network/guarded-lookup.js";
import { Refusal } from "../failure/refusal.js";
import type { Faults } from "../faults/faults.js";
import type { ServiceClock } from "../service-clock.js";
import { CallbackSender } from "./callback-sender.js";
import { taskView } from "./task-view.js";
import type { VideoSettings } from "./video-options.js";
import type { VideoPlan } from "./video-plan.js";
import type { TaskDatabase } from "./task-database.js";
import { isForgotten, taskState, taskStates, untoldStates, type VideoTask, type VideoTaskState } from "./video-task.js";

export interface VideoTasksParts {
  readonly settings: VideoSettings;
  readonly clock: ServiceClock;
  readonly faults: Faults;
  readonly mayCall: MayReach;
  /** Address of the service, known once it listens. */
  readonly baseUrl: () => string;
  /** Where they outlive the service. */
  readonly database: TaskDatabase | undefined;
}

/** Longest wait that a timer takes. */
const longestTimerMs = 2 ** 31 - 1;

/** The tasks of one service. */
export class VideoTasks {
  readonly #parts: VideoTasksParts;
  readonly #tasks = new Map<string, VideoTask>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #closing = new AbortController();

  readonly #callbacks: CallbackSender;

  constructor(parts: VideoTasksParts) {
    const { mayCall: mayReach, faults } = parts;
    this.#parts = parts;
    this.#callbacks = new CallbackSender(faults, { mayReach, signal: this.#closing.signal });
    for (const { task } of parts.database?.kept ?? []) this.#tasks.set(task.id, task);
  }

  /** Goes on with the callbacks of tasks that an earlier run left. To be called once the service listens. */
  resume(): void {
    const now = this.#parts.clock.nowSeconds();
    for (const { task, toldSeconds } of this.#parts.database?.kept ?? []) {
      if (task.callbackUrl === undefined) continue;
      for (const state of untoldStates(task, toldSeconds, now)) this.#announce(task.id, state);
    }
  }

  /** Whether callbacks may go to an address. */
  get mayCall(): MayReach {
    return this.#parts.mayCall;
  }

  /** @throws {Refusal} when as many are remembered as may be. */
  create(plan: VideoPlan, callbackUrl?: string): VideoTask {
    this.#forget();
    const { settings, clock, faults } = this.#parts;
    if (this.#tasks.size >= settings.maxTasks) {
      throw new Refusal("too-many-tasks", `The service keeps at most ${settings.maxTasks} tasks: delete some first`);
    }
    const { outcome, errorCode, errorMessage } = faults.settings.video;
    const createdSeconds = clock.nowSeconds();
    const task: VideoTask = {
      id: taskId(createdSeconds, plan.serviceTier),
      createdSeconds,
      queueSeconds: settings.queueSeconds,
      runSeconds: settings.runSeconds,
      outcome,
      error: { code: errorCode, message: errorMessage },
      plan,
      ...(callbackUrl !== undefined && { callbackUrl }),
      linkToken: randomBytes(18).toString("base64url"),
    };
    this.#parts.database?.put(task);
    this.#tasks.set(task.id, task);
    if (callbackUrl !== undefined) {
      for (const state of taskStates(task)) this.#announce(task.id, state);
    }
    return task;
  }

  /** `undefined` when there is none, or its record has been removed. */
  get(id: string): VideoTask | undefined {
    const task = this.#tasks.get(id);
    return task === undefined || isForgotten(task, this.#parts.clock.nowSeconds()) ? undefined : task;
  }

  /** All that are remembered, newest first. */
  all(): readonly VideoTask[] {
    this.#forget();
    return [...this.#tasks.values()].toReversed();
  }

  cancel(task: VideoTask): void {
    const cancelled = { ...task, cancelledSeconds: this.#parts.clock.nowSeconds() };
    this.#parts.database?.put(cancelled);
    this.#callbacks.drop(task.id);
    this.#tasks.set(task.id, cancelled);
  }

  remove(task: VideoTask): void {
    this.#parts.database?.remove([task.id]);
    this.#tasks.delete(task.id);
    this.#callbacks.drop(task.id);
  }

  view(task: VideoTask): Readonly<Record<string, unknown>> {
    return taskView(task, taskState(task, this.#parts.clock.nowSeconds()), this.#parts.baseUrl());
  }

  /** Ends all callbacks. */
  close(): void {
    this.#closing.abort();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #forget(): void {
    const now = this.#parts.clock.nowSeconds();
    const forgotten: string[] = [];
    for (const [id, task] of this.#tasks) if (isForgotten(task, now)) forgotten.push(id);
    if (forgotten.length > 0) this.#parts.database?.remove(forgotten);
    for (const id of forgotten) this.#tasks.delete(id);
  }

  /** Sends a callback when a state begins. */
  #announce(id: string, state: VideoTaskState): void {
    if (this.#closing.signal.aborted) return;
    const { clock } = this.#parts;
    const waitMs = Math.max(0, clock.wallMs(state.sinceSeconds - clock.nowSeconds()));
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        if (clock.nowSeconds() < state.sinceSeconds) this.#announce(id, state);
        else this.#send(id, state);
      },
      Math.min(Math.ceil(waitMs), longestTimerMs),
    ).unref();
    this.#timers.add(timer);
  }

  /** A disk that is full must not end the service: after a restart, the receiver hears of the state again. */
  #remember(id: string, { sinceSeconds }: VideoTaskState): void {
    try {
      this.#parts.database?.told(id, sinceSeconds);
    } catch {
      return;
    }
  }

  #send(id: string, state: VideoTaskState): void {
    const task = this.get(id);
    // A task that was cancelled since never comes to this state.
    if (task?.callbackUrl === undefined || task.cancelledSeconds !== undefined) return;
    this.#remember(id, state);
    const body = taskView(task, state, this.#parts.baseUrl());
    this.#callbacks.send({ taskId: id, status: state.status, url: task.callbackUrl, body });
  }
}

/** `cgt-20260131235959-a1b2c`, with the time of creation. */
function taskId(createdSeconds: number, tier: string): string {
  const time = new Date(createdSeconds * 1000).toISOString().replace(/\D/g, "").slice(0, 14);
  const suffix = randomBytes(4).readUInt32BE().toString(36).padStart(7, "0");
  return `cgt-${tier === "flex" ? "batch-" : ""}${time}-${suffix}`;
}
