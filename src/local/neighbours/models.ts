import type { ModelInfo } from "../../contract/catalogue.js";
import { RequestFailure } from "../failure/request-failure.js";
import type { RouteContext, RouteReply } from "../route.js";

export function serveOpenAiModels(_: object, { models }: RouteContext): Promise<RouteReply> {
  return Promise.resolve({ json: { object: "list", data: models.map(described) } });
}

export function serveOpenAiModel(
  { vendor, id }: { readonly vendor?: string | undefined; readonly id: string },
  { models }: RouteContext,
): Promise<RouteReply> {
  const asked = vendor === undefined ? id : `${vendor}/${id}`;
  const found = models.find((model) => model.id === asked);
  if (found === undefined) {
    const message = `The model ${JSON.stringify(asked.slice(0, 100))} is not published here. GET /v1/models lists those that are`;
    throw new RequestFailure("unsupported-model", message, { status: 404, field: "model" });
  }
  return Promise.resolve({ json: described(found) });
}

/** The models are as old as the first version: clients want a date, and sort by it. */
const createdSeconds = Date.UTC(2026, 0, 1) / 1000;

function described({ id, type, family }: ModelInfo): object {
  return { id, object: "model", created: createdSeconds, owned_by: "citewell", type, ...(family && { family }) };
}
