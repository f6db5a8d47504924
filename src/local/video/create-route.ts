import type { ModelInfo } from "../../contract/catalogue.js";
import { broken } from "../failure/refusal.js";
import type { RouteContext, RouteReply } from "../route.js";
import { callbackViolation } from "./callback-reach.js";
import { contentMediaViolations } from "./media-checks.js";
import { planVideo, videoTokens, type CheckedVideoRequest } from "./video-plan.js";

export function serveCreateVideoTask(
  request: CheckedVideoRequest,
  model: ModelInfo,
  { tasks, admit }: RouteContext,
): Promise<RouteReply> {
  const found = contentMediaViolations(request.content);
  if (found.length > 0) throw broken(found);
  const callbackUrl = request.callback_url;
  const unreachable = callbackUrl === undefined ? undefined : callbackViolation(callbackUrl, tasks.mayCall);
  if (unreachable !== undefined) throw broken([{ field: "callback_url", message: unreachable }]);
  const plan = planVideo(request);
  admit(model.id, videoTokens(plan));
  return Promise.resolve({ json: { id: tasks.create(plan, callbackUrl).id } });
}
