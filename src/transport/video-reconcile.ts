import { z } from "zod";
import { taskRetentionDays } from "../contract/video-tasks.js";
import { OptionsError, type Submission } from "../errors.js";
import { resolve } from "../options.js";
import type { CallOptions } from "../ports.js";
import type { Upstream } from "./upstream.js";
import { matchVideoTask } from "./video-match.js";
import type { VideoTask } from "./video-task.js";
import { listVideoTasks } from "./video-tasks.js";

const Settings = z.strictObject({
  /** How far the service's clock may be off, and how late it may create what it was sent. Default 120,000. */
  toleranceMs: z.number().min(0).max(86_400_000).default(120_000),
  /** Ids of tasks that are known to belong to other requests, such as the rest of a batch. Default: none. */
  knownIds: z.array(z.string()).default([]),
});

export interface ReconcileVideoOptions extends CallOptions, z.input<typeof Settings> {}

/** What became of a creation whose answer was lost. */
export type ReconciledVideo =
  /** One task fits, and no other may: wait for it by its id. */
  | { readonly outcome: "found"; readonly task: VideoTask }
  /** Several fit, or what is told of the only one is not enough to be sure: someone has to look. Closest in time first. */
  | { readonly outcome: "ambiguous"; readonly candidates: readonly VideoTask[] }
  /** None fits. While one `mayStillAppear`, ask again later; then it is safe to create the video anew. */
  | { readonly outcome: "none"; readonly mayStillAppear: boolean };

const pageSize = 100;
const maxPages = 500;

/**
 * Looks through the service's list for the task of an `ambiguous` creation. Only asks, never creates. The record of a
 * task does not hold what it was made from, so model, time and settings decide; name the ids that are known to belong to
 * other requests, for a task that another program created with the same key in the same minutes looks alike.
 *
 * @throws OptionsError when the submission is older than the list reaches; TransportError `not-found` or `refused` where
 *   the service has no list.
 */
export async function reconcileVideo(
  upstream: Upstream,
  submission: Submission,
  { signal, deadlineMs, ...given }: ReconcileVideoOptions,
): Promise<ReconciledVideo> {
  const { toleranceMs, knownIds } = resolve("reconcileVideo", Settings, given);
  const startedAtMs = Date.now();
  const ageDays = (startedAtMs - submission.notBefore.getTime()) / 86_400_000;
  if (ageDays >= taskRetentionDays) {
    throw new OptionsError(
      "options",
      `reconcileVideo: the request was sent ${Math.floor(ageDays)} days ago, and records are kept for ${taskRetentionDays}: the list cannot tell any more`,
    );
  }
  const models = upstream.models.filter(({ type }) => type === "video").map(({ id }) => id);
  const known = new Set(knownIds);
  const fitting: VideoTask[] = [];
  const possible: VideoTask[] = [];
  const call = { ...(signal && { signal }), ...(deadlineMs !== undefined && { deadlineMs }) };
  for (const task of await allTasks(upstream, submission, call)) {
    if (known.has(task.id)) continue;
    const match = matchVideoTask(task, submission, { models, toleranceMs });
    if (match === "fits") fitting.push(task);
    else if (match === "may-fit") possible.push(task);
  }
  const [only] = fitting;
  if (only && fitting.length + possible.length === 1) return { outcome: "found", task: only };
  const candidates = [...fitting, ...possible];
  if (candidates.length > 0) return { outcome: "ambiguous", candidates: byCloseness(candidates, submission) };
  return { outcome: "none", mayStillAppear: startedAtMs <= submission.notAfter.getTime() + toleranceMs };
}

/** Page by page until nothing new comes: some services do not tell how many there are, some make pages smaller than asked. */
async function allTasks(
  upstream: Upstream,
  { settings }: Submission,
  { deadlineMs, ...call }: CallOptions,
): Promise<Iterable<VideoTask>> {
  const endsAtMs = deadlineMs === undefined ? undefined : performance.now() + deadlineMs;
  const tasks = new Map<string, VideoTask>();
  // Without the filter, tasks of that tier may stay invisible.
  const filter = settings["service_tier"] === "flex" ? { "filter.service_tier": "flex" as const } : {};
  for (let page = 1, seen = 0; page <= maxPages; page++) {
    const request = { page_num: page, page_size: pageSize, ...filter };
    const left = endsAtMs === undefined ? {} : { deadlineMs: endsAtMs - performance.now() };
    const { tasks: found, total, entries } = await listVideoTasks(upstream, request, { ...call, ...left });
    const before = tasks.size;
    for (const task of found) tasks.set(task.id, task);
    seen += entries;
    if (entries === 0 || tasks.size === before || (total !== undefined && seen >= total)) break;
  }
  return tasks.values();
}

function byCloseness(tasks: readonly VideoTask[], { notBefore }: Submission): readonly VideoTask[] {
  const distanceMs = ({ createdAt }: VideoTask) =>
    createdAt ? Math.abs(createdAt.getTime() - notBefore.getTime()) : Infinity;
  return tasks.toSorted((one, other) => {
    const [a, b] = [distanceMs(one), distanceMs(other)];
    return a === b ? 0 : a - b;
  });
}
