import { randomBytes } from "node:crypto";
import { z } from "zod";
import { optionsOf } from "../../core/options.js";
import type { MayReach } from "../../network/addresses.js";
import { RequestFailure } from "../failure/request-failure.js";
import type { Faults } from "../faults/faults.js";
import type { ServiceClock } from "../service-clock.js";
import { CallbackSender } from "./callbacks.js";
import type { TaskDatabase } from "./task-database.js";

import {
  isForgotten,
  taskState,
  taskStates,
  taskView,
  untoldStates,
  type VideoPlan,
  type VideoTask,
  type VideoTaskState,
} from "./video-task.js";

export interface VideoOptions {
  /** Seconds of the service's time that a task waits before it runs. 0 to 259,200, default 2. */
  readonly queueSeconds?: number;
  /** Seconds of the service's time that a task runs. 0 to 259,200, default 30. */
  readonly runSeconds?: number;
  /**
   * Whether callbacks go to addresses that are not this machine. Default: true. They follow no redirects, and carry
   * nothing but the task.
   */
  readonly remoteCallbacks?: boolean;
  /**
   * Whether they go to addresses that are not public: of the local network, and of this machine where the service
   * listens to others too. A service that listens on loopback calls loopback in any case. Default: false.
   */
  readonly privateCallbacks?: boolean;
  /** Maximum number of tasks that are remembered; one more is refused with 429. 1 to 1,000,000, default 10,000. */
  readonly maxTasks?: number;
  /**
   * An SQLite file that keeps the tasks, so that they go on by their clock after a restart; made where there is none.
   * One service uses it at a time. Default: none, tasks end with the service.
   */
  readonly file?: string;
}

/** @internal */
export const videoOptions = optionsOf<VideoOptions>()({
  queueSeconds: z.number().min(0).max(259_200).default(2),
  runSeconds: z.number().min(0).max(259_200).default(30),
  remoteCallbacks: z.boolean().default(true),
  privateCallbacks: z.boolean().default(false),
  maxTasks: z.int().min(1).max(1_000_000).default(10_000),
  file: z.string().min(1).optional(),
});
/** @internal */
export type VideoSettings = z.output<typeof videoOptions>;

/** @internal */
export interface VideoTasksParts {
  readonly settings: VideoSettings;
  readonly clock: ServiceClock;
  readonly faults: Faults;
  readonly mayCall: MayReach;
  /** Address of the service, set once it listens. */
  readonly baseUrl: () => string;
  /** Keeps tasks from one run of the service to the next. */
  readonly database: TaskDatabase | undefined;
}

/** Maximum delay that a timer takes. */
const maxTimerMs = 2 ** 31 - 1;

/** The tasks of one service. @internal */
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

  /** Continues the callbacks of tasks of an earlier run. To be called once the service listens. */
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

  /** @throws {RequestFailure} when as many are remembered as may be. */
  create(plan: VideoPlan, callbackUrl?: string): VideoTask {
    this.#forget();
    const { settings, clock, faults } = this.#parts;
    if (this.#tasks.size >= settings.maxTasks) {
      throw new RequestFailure(
        "too-many-tasks",
        `The service keeps at most ${settings.maxTasks} tasks: delete some first`,
      );
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

  /** Returns `undefined` for an unknown task and after its record was removed. */
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
      Math.min(Math.ceil(waitMs), maxTimerMs),
    ).unref();
    this.#timers.add(timer);
  }

  #send(id: string, state: VideoTaskState): void {
    const task = this.get(id);
    // A task that was cancelled since never comes to this state.
    if (task?.callbackUrl === undefined || task.cancelledSeconds !== undefined) return;
    try {
      this.#parts.database?.told(id, state.sinceSeconds);
    } catch {
      // A disk that is full must not end the service: after a restart, the receiver hears of the state again.
    }
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
