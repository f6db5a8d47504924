import type { RouteContext, RouteReply } from "./route.js";

export function serveModelList(_: object, { models }: RouteContext): Promise<RouteReply> {
  const data = models.map(({ id, type, family }) => ({ id, object: "model", type, ...(family && { family }) }));
  return Promise.resolve({ json: { object: "list", data } });
}
