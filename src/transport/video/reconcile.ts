import { z } from "zod";
import { taskRetentionDays } from "../../contract/video-tasks.js";
import { callOptions } from "../../core/call-options.js";
import { OptionsError, type Submission } from "../../core/errors.js";
import { listOption, optionsOf, resolve } from "../../core/options.js";
import type { CallOptions } from "../../core/ports.js";
import type { Caller } from "../calls/caller.js";
import type { VideoTask } from "./task.js";
import { listVideoTasks } from "./tasks.js";

export interface ReconcileVideoOptions extends CallOptions {
  /**
   * How far the service's clock may be off, and how late it may create what it was sent, in milliseconds. 0 to
   * 86,400,000, default 120,000.
   */
  readonly toleranceMs?: number;
  /** Ids of tasks that are known to belong to other requests, such as the rest of a batch. Default: none. */
  readonly knownIds?: readonly string[];
}

const reconcileOptions = optionsOf<ReconcileVideoOptions>()({
  ...callOptions.shape,
  toleranceMs: z.number().min(0).max(86_400_000).default(120_000),
  knownIds: listOption(z.array(z.string())).default([]),
});

/** Outcome of the search for a creation whose answer was lost. */
export type ReconciledVideo =
  /** One task fits, and no other may: wait for it by its id. */
  | {
      readonly outcome: "found";
      /** The task that was created. */
      readonly task: VideoTask;
    }
  /** Several fit, or too little is known of the only one to be sure: someone has to look. Closest in time first. */
  | {
      readonly outcome: "ambiguous";
      /** The tasks that may be it. */
      readonly candidates: readonly VideoTask[];
    }
  /** None fits. While one `mayStillAppear`, ask again later; then it is safe to create the video anew. */
  | {
      readonly outcome: "none";
      /** Whether the service may yet create it, or list it. */
      readonly mayStillAppear: boolean;
    };

const pageSize = 100;
const maxPages = 500;

/**
 * Looks through the service's list for the task of an `ambiguous` creation. Only asks, never creates. The record of a
 * task does not hold the content it was made from, so model, time and settings decide; name the ids that are known to
 * belong to other requests, because a task that another program created with the same key in the same minutes looks alike.
 *
 * @throws OptionsError when the submission is older than the list reaches; TransportError `not-found` or `refused` when
 *   the service has no list.
 * @internal
 */
export async function reconcileVideo(
  caller: Caller,
  submission: Submission,
  given: ReconcileVideoOptions,
): Promise<ReconciledVideo> {
  const { toleranceMs, knownIds, ...options } = resolve("reconcileVideo", reconcileOptions, given);
  const startedAtMs = Date.now();
  const ageDays = (startedAtMs - submission.notBefore.getTime()) / 86_400_000;
  if (ageDays >= taskRetentionDays) {
    const problem = `the request was sent ${Math.floor(ageDays)} days ago, and records are kept for ${taskRetentionDays}`;
    throw new OptionsError("options", `reconcileVideo: ${problem}: the list cannot tell any more`);
  }
  const models = caller.models.filter(({ type }) => type === "video").map(({ id }) => id);
  const unknown = [...(await allTasks(caller, submission, options))].filter(({ id }) => !knownIds.includes(id));
  const matching = (wanted: VideoMatch) =>
    unknown.filter((task) => matchVideoTask(task, submission, { models, toleranceMs }) === wanted);
  const candidates = [...matching("fits"), ...matching("may-fit")];
  const [only] = candidates;
  if (!only) return { outcome: "none", mayStillAppear: startedAtMs <= submission.notAfter.getTime() + toleranceMs };
  if (candidates.length === 1 && matching("fits").length === 1) return { outcome: "found", task: only };
  return { outcome: "ambiguous", candidates: byCloseness(candidates, submission) };
}

/** Fetches pages until nothing new comes: some services do not tell how many there are, or make pages smaller than asked. */
async function allTasks(
  caller: Caller,
  { settings }: Submission,
  { deadlineMs, ...options }: CallOptions,
): Promise<Iterable<VideoTask>> {
  const endsAtMs = deadlineMs === undefined ? undefined : performance.now() + deadlineMs;
  const tasks = new Map<string, VideoTask>();
  // Without the filter, tasks of that tier may stay invisible.
  const filter = settings["service_tier"] === "flex" ? { "filter.service_tier": "flex" as const } : {};
  for (let page = 1, seen = 0; page <= maxPages; page++) {
    const request = { page_num: page, page_size: pageSize, ...filter };
    const leftMs = endsAtMs === undefined ? undefined : endsAtMs - performance.now();
    const { tasks: found, total, entries } = await listVideoTasks(caller, request, { ...options, deadlineMs: leftMs });
    const before = tasks.size;
    for (const task of found) tasks.set(task.id, task);
    seen += entries;
    if (entries === 0 || tasks.size === before || (total !== undefined && seen >= total)) break;
  }
  return tasks.values();
}

function byCloseness(tasks: readonly VideoTask[], { notBefore }: Submission): readonly VideoTask[] {
  const distanceMs = ({ createdAt }: VideoTask) =>
    createdAt ? Math.abs(createdAt.getTime() - notBefore.getTime()) : Number.MAX_VALUE;
  return tasks.toSorted((one, other) => distanceMs(one) - distanceMs(other));
}

/** How well a task fits a creation whose answer was lost. */
export type VideoMatch =
  /** Model, time and settings agree. */
  | "fits"
  /** Nothing speaks against it, but its model or its time is missing, or its model has a name that nobody knows. */
  | "may-fit"
  | "differs";

/**
 * Compares only what both sides name: a service may fill in what was left out as it likes, and a task that is wrongly
 * thought to differ would be paid for twice. Pure.
 */
export function matchVideoTask(
  task: VideoTask,
  submission: Submission,
  { models, toleranceMs }: { readonly models: readonly string[]; readonly toleranceMs: number },
): VideoMatch {
  const model = isSameModel(task.model, submission.model, models);
  const time = isInTime(task.createdAt, submission, toleranceMs);
  if (model === false || time === false || contradicts(task, submission.settings)) return "differs";
  return model === true && time === true ? "fits" : "may-fit";
}

/** Tasks are dated in whole seconds, by a clock that is not ours. */
function isInTime(createdAt: Date | undefined, { notBefore, notAfter }: Submission, toleranceMs: number) {
  if (createdAt === undefined) return undefined;
  const atMs = createdAt.getTime();
  return atMs > notBefore.getTime() - toleranceMs - 1000 && atMs <= notAfter.getTime() + toleranceMs;
}

/** Services answer with name and version, and leave out the maker: `vendor-video-2.0-250115` for `vendor/vendor-video-2.0`. */
function isSameModel(told: string | undefined, asked: string, models: readonly string[]): boolean | undefined {
  if (told === undefined) return undefined;
  if (isVersionOf(told, asked)) return true;
  return models.some((model) => model !== asked && isVersionOf(told, model)) ? false : undefined;
}

function isVersionOf(told: string, model: string): boolean {
  const plain = (name: string) => name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  const [given, base] = [plain(told), plain(model)];
  return given.startsWith(base) && /^$|^[-@:.]?\d/.test(given.slice(base.length));
}

function contradicts(task: VideoTask, settings: Submission["settings"]): boolean {
  const { safety_identifier } = (task.raw ?? {}) as { readonly safety_identifier?: unknown };
  const pairs: readonly (readonly [unknown, unknown])[] = [
    [settings["resolution"], task.resolution],
    [settings["ratio"] === "adaptive" ? undefined : settings["ratio"], task.ratio],
    [settings["duration"] === -1 || "frames" in settings ? undefined : settings["duration"], task.durationSeconds],
    [settings["frames"], task.frames],
    [settings["seed"] === -1 ? undefined : settings["seed"], task.seed],
    [settings["generate_audio"], task.generateAudio],
    [settings["service_tier"], task.serviceTier],
    [settings["execution_expires_after"], task.expiresAfterSeconds],
    [settings["safety_identifier"], typeof safety_identifier === "string" ? safety_identifier : undefined],
  ];
  return pairs.some(([asked, told]) => asked !== undefined && told !== undefined && asked !== told);
}
