import type { z } from "zod";
import type { ModelInfo, ModelType } from "../../contract/catalogue.js";
import { violations } from "../../contract/operation.js";
import type { OperationName } from "../../contract/operations.js";
import { invalidFields, invalidRequest, RequestFailure } from "../failure/request-failure.js";
import { ignoredHeader } from "../../network/connections.js";
import { noModel, type Route, type RouteContext, type RouteReply } from "../route.js";
import { ignoredFields, writtenFields } from "./ignored-fields.js";

/** A reply, with fields of the request that were understood but had no effect. */
export type NeighbourReply = RouteReply & { readonly ignored?: readonly string[] };

export interface NeighbourSettings<Body extends z.ZodType> {
  /** Operation that it is translated to, whose faults apply. */
  readonly name: OperationName;
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly body: Body;
  /** Types of model that a request may name; left out when it names none. */
  readonly models?: readonly ModelType[];
  /** Whether the first model of such a type is meant when a request names none. Default: false, it is refused. */
  readonly modelOptional?: boolean;
  /** Loads what translates the request, carries it out and translates the reply; called when it is first needed. */
  readonly load: () => Promise<(body: z.output<Body>, context: RouteContext) => Promise<NeighbourReply>>;
}

/** Makes a row of a neighbour's operation. What it does not know is ignored, and named in a header of the reply. */
export function neighbourRoute<Body extends z.ZodType>(settings: NeighbourSettings<Body>): Route {
  const { name, method = "POST", path, body, models: types, modelOptional = false, load } = settings;
  return {
    name,
    method,
    path,
    errorShape: "openai",
    serve: async (fields, context) => {
      const given = fields["model"] ?? undefined;
      const model = types === undefined ? noModel : publishedModel(given, types, context.models, modelOptional);
      const found = violations({ request: body }, fields, model);
      if (found.length > 0) throw invalidFields(found);
      const carryOut = await load();
      const read = body.parse(fields);
      const { ignored = [], ...reply } = await carryOut(read, { ...context, model });
      const names = [...ignoredFields(fields, read), ...ignored];
      if (names.length === 0) return reply;
      return { ...reply, headers: { ...reply.headers, [ignoredHeader]: writtenFields(names) } };
    },
  };
}

function publishedModel(
  id: unknown,
  types: readonly ModelType[],
  models: readonly ModelInfo[],
  optional: boolean,
): ModelInfo {
  const usable = models.filter(({ type }) => types.includes(type));
  const found = id === undefined && optional ? usable[0] : usable.find((one) => one.id === id);
  if (found !== undefined) return found;
  const choose = `Choose one of ${usable.map((one) => one.id).join(", ")}`;
  if (typeof id !== "string" || id === "") throw invalidRequest(`model: must name a model. ${choose}`, "model");
  const message = `The model ${JSON.stringify(id.slice(0, 100))} is not published here for this operation. ${choose}`;
  throw new RequestFailure("unsupported-model", message, { status: 404, field: "model" });
}
