import type { z } from "zod";
import type { VideoTaskListRequest, videoTask } from "../../contract/video-tasks.js";
import { Refusal } from "../failure/refusal.js";
import type { RouteContext, RouteReply } from "../route.js";
import { taskState, type VideoTask } from "./video-task.js";
import type { VideoTasks } from "./video-tasks.js";

type TaskRequest = z.output<typeof videoTask.request>;

/** What the list shows when a request does not say. */
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
  // As services of this shape do: a tier that is not asked for stays invisible.
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
    throw new Refusal("task-running", `The task is ${status} and cannot be cancelled.`, { field: "id" });
  }
  if (status === "queued") tasks.cancel(task);
  else tasks.remove(task);
  return Promise.resolve({ json: {} });
}

function taskOf(tasks: VideoTasks, id: string): VideoTask {
  const task = tasks.get(id);
  if (task === undefined) throw new Refusal("no-task", `The specified task ${id.slice(0, 100)} is not found.`);
  return task;
}
