import type { z } from "zod";
import type { ModelInfo, ModelType } from "../../contract/catalogue.js";
import { unsupportedModelMessage } from "../../contract/failures.js";
import { violations, type Operation } from "../../contract/operation.js";
import type { OperationName } from "../../contract/operations.js";
import { invalidFields, invalidRequest, RequestFailure } from "../failure/request-failure.js";
import type { ServiceParts } from "../service-parts.js";

/** What a route gets of one request, beside its fields. */
export interface RequestParts extends ServiceParts {
  /** Aborts when the socket closes. */
  readonly signal: AbortSignal;
  /** Counts the request and its tokens against the limits of its key and model, or throws a 429. */
  readonly admit: (model: string, tokens: number) => void;
}

/** Everything that carries out an operation, beside the request. */
export interface RouteContext extends RequestParts {
  /** The model that the request names; one without an id for operations that name none. */
  readonly model: ModelInfo;
}

/** The reply of a route: one JSON value, events that are sent as they come, or another service's answer as it stands. */
export type RouteReply =
  | { readonly json: unknown }
  | { readonly events: AsyncIterable<unknown> }
  | { readonly response: Response };

/** Fields of a request: of its body, of its query and of its path. */
export type Fields = Readonly<Record<string, unknown>>;

/** A row of the route table: an operation of the contract and what carries it out. */
export interface Route {
  readonly name: OperationName;
  readonly method: string;
  readonly path: string;
  readonly serve: (fields: Fields, parts: RequestParts) => Promise<RouteReply>;
}

/**
 * Makes a row of an operation; `types` are the types of model that it may name. Checks come in the order in which the
 * service makes them: the model, then the fields, then what carries it out knows; that is loaded when first needed.
 */
export function route<Request extends z.ZodType>(
  operation: Operation<Request> & { readonly name: OperationName },
  load: () => Promise<(request: z.output<Request>, context: RouteContext) => Promise<RouteReply>>,
  types?: readonly ModelType[],
): Route {
  const { name, method, path } = operation;
  return {
    name,
    method,
    path,
    serve: async (fields, parts) => {
      const model = types === undefined ? noModel : namedModel(fields["model"], types, parts.models);
      const found = violations(operation, fields, model);
      if (found.length > 0) throw invalidFields(found);
      const carryOut = await load();
      return carryOut(operation.request.parse(fields), { ...parts, model });
    },
  };
}

const noModel: ModelInfo = { id: "", type: "llm" };

function namedModel(id: unknown, types: readonly ModelType[], models: readonly ModelInfo[]): ModelInfo {
  if (id === undefined) throw invalidRequest("model: is required", "model");
  if (typeof id !== "string" || id === "") throw invalidRequest("model: must be a non-empty string", "model");
  const found = models.find((one) => one.id === id && types.includes(one.type));
  if (found === undefined) throw new RequestFailure("unsupported-model", unsupportedModelMessage, { field: "model" });
  return found;
}
