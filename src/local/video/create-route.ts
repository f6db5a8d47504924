import type { ModelInfo } from "../../contract/catalogue.js";
import { broken } from "../failure/refusal.js";
import type { RouteContext, RouteReply } from "../route.js";
import { contentMediaViolations } from "./media-checks.js";
import { planVideo, videoTokens, type CheckedVideoRequest } from "./video-plan.js";

const thisMachine = /^https?:\/\/(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?(?:[/?#]|$)/i;

export function serveCreateVideoTask(
  request: CheckedVideoRequest,
  model: ModelInfo,
  { tasks, admit }: RouteContext,
): Promise<RouteReply> {
  const found = contentMediaViolations(request.content);
  if (found.length > 0) throw broken(found);
  const callbackUrl = request.callback_url;
  if (callbackUrl !== undefined && !tasks.settings.remoteCallbacks && !thisMachine.test(callbackUrl)) {
    throw broken([{ field: "callback_url", message: "must be on this machine: the service was started so" }]);
  }
  if (callbackUrl !== undefined && !URL.canParse(callbackUrl)) {
    throw broken([{ field: "callback_url", message: "is not an address" }]);
  }
  const plan = planVideo(request);
  admit(model.id, videoTokens(plan));
  return Promise.resolve({ json: { id: tasks.create(plan, callbackUrl).id } });
}
