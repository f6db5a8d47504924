import type { Submission } from "../errors.js";
import type { VideoTask } from "./video-task.js";

/** How well a task fits a creation whose answer was lost. */
export type VideoMatch =
  /** Of this model, created at that time, with these settings. */
  | "fits"
  /** Nothing speaks against it, but its model or its time is not told, or is named in a way nobody knows. */
  | "may-fit"
  | "differs";

/**
 * Only what both sides name counts: a service may fill in what was left out as it likes, and a task that is wrongly
 * thought to differ would be paid for twice. Pure.
 */
export function matchVideoTask(
  task: VideoTask,
  submission: Submission,
  { models, toleranceMs }: { readonly models: readonly string[]; readonly toleranceMs: number },
): VideoMatch {
  const model = sameModel(task.model, submission.model, models);
  const time = inTime(task.createdAt, submission, toleranceMs);
  if (model === false || time === false || contradicts(task, submission.settings)) return "differs";
  return model === true && time === true ? "fits" : "may-fit";
}

/** Tasks are dated in whole seconds, by a clock that is not ours. */
function inTime(createdAt: Date | undefined, { notBefore, notAfter }: Submission, toleranceMs: number) {
  if (createdAt === undefined) return undefined;
  const atMs = createdAt.getTime();
  return atMs > notBefore.getTime() - toleranceMs - 1000 && atMs <= notAfter.getTime() + toleranceMs;
}

/** Services answer with name and version, and leave out who made it: `vendor-video-2.0-250115` for `vendor/vendor-video-2.0`. */
function sameModel(told: string | undefined, asked: string, models: readonly string[]): boolean | undefined {
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
