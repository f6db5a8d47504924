import type { z } from "zod";
import { mediaViolations, totalDurationViolations } from "../../contract/media.js";
import type { Violation } from "../../contract/operation.js";
import type { VideoTaskListRequest, videoTask } from "../../contract/video-tasks.js";
import { invalidFields, RequestFailure } from "../failure/request-failure.js";
import type { RouteContext, RouteReply } from "../route.js";
import { callbackViolation } from "./callbacks.js";
import { dataFacts } from "./media-facts.js";
import { planVideo, type CheckedVideoRequest } from "./video-plan.js";
import { taskState, videoTokens, type VideoTask } from "./video-task.js";
import type { VideoTasks } from "./video-tasks.js";

export function serveCreateVideoTask(
  request: CheckedVideoRequest,
  { model, tasks, admit }: RouteContext,
): Promise<RouteReply> {
  const found = contentMediaViolations(request.content);
  if (found.length > 0) throw invalidFields(found);
  const callbackUrl = request.callback_url;
  const unreachable = callbackUrl === undefined ? undefined : callbackViolation(callbackUrl, tasks.mayCall);
  if (unreachable !== undefined) throw invalidFields([{ field: "callback_url", message: unreachable }]);
  const plan = planVideo(request);
  admit(model.id, videoTokens(plan));
  return Promise.resolve({ json: { id: tasks.create(plan, callbackUrl).id } });
}

/** Bounds of size, shape and length that the media in a request break. Those at an address are not fetched. */
function contentMediaViolations(content: CheckedVideoRequest["content"]): readonly Violation[] {
  const found: Violation[] = [];
  const clipSeconds: number[] = [];
  for (const [index, item] of content.entries()) {
    if (item.type === "image_url") {
      const facts = dataFacts("image", item.image_url.url);
      if (facts) found.push(...mediaViolations("image", facts, `content.${index}.image_url.url`));
    } else if (item.type === "audio_url") {
      const facts = dataFacts("audio", item.audio_url.url);
      if (facts) found.push(...mediaViolations("audio", facts, `content.${index}.audio_url.url`));
      if (facts?.durationSeconds !== undefined) clipSeconds.push(facts.durationSeconds);
    }
  }
  return [...found, ...totalDurationViolations("audio", clipSeconds)];
}

type TaskRequest = z.output<typeof videoTask.request>;

/** The page that the list shows by default. */
const defaultPage = { number: 1, size: 10 };

export function serveVideoTask({ id }: TaskRequest, { tasks }: RouteContext): Promise<RouteReply> {
  return Promise.resolve({ json: tasks.view(taskOf(tasks, id)) });
}

export function serveVideoTaskList(
  request: z.output<typeof VideoTaskListRequest>,
  { tasks, clock }: RouteContext,
): Promise<RouteReply> {
  const { page_num: page = defaultPage.number, page_size: size = defaultPage.size } = request;
  const ids = request["filter.task_ids"];
  const status = request["filter.status"];
  const model = request["filter.model"];
  // Services of this shape hide tasks of tiers that were not requested.
  const tier = request["filter.service_tier"] ?? "default";
  const now = clock.nowSeconds();
  const found = tasks
    .all()
    .filter(
      (task) =>
        task.plan.serviceTier === tier &&
        (ids === undefined || ids.includes(task.id)) &&
        (model === undefined || task.plan.model === model) &&
        (status === undefined || taskState(task, now).status === status),
    );
  const items = found.slice((page - 1) * size, page * size).map((task) => tasks.view(task));
  return Promise.resolve({ json: { items, total: found.length } });
}

export function serveCancelVideoTask({ id }: TaskRequest, { tasks, clock }: RouteContext): Promise<RouteReply> {
  const task = taskOf(tasks, id);
  const { status } = taskState(task, clock.nowSeconds());
  if (status === "running" || status === "cancelled") {
    throw new RequestFailure("task-running", `The task is ${status} and cannot be cancelled.`, { field: "id" });
  }
  if (status === "queued") tasks.cancel(task);
  else tasks.remove(task);
  return Promise.resolve({ json: {} });
}

function taskOf(tasks: VideoTasks, id: string): VideoTask {
  const task = tasks.get(id);
  if (task === undefined) throw new RequestFailure("no-task", `The specified task ${id.slice(0, 100)} is not found.`);
  return task;
}
