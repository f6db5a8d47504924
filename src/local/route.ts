import type { z } from "zod";
import type { ModelInfo, ModelType } from "../contract/catalogue.js";
import { violations, type Operation } from "../contract/operation.js";
import type { OperationName } from "../contract/operations.js";
import { broken, invalidRequest, unsupportedModel } from "./failure/refusal.js";
import type { ServiceParts } from "./service-parts.js";

/** What a route needs beside the request. */
export interface RouteContext extends ServiceParts {
  /** Aborts when the socket closes. */
  readonly signal: AbortSignal;
  /** Counts the request and its tokens against the limits of its key and model, or throws a 429. */
  readonly admit: (model: string, tokens: number) => void;
}

/** What a route answers: one JSON value, events that are sent as they come, or another service's answer as it stands. */
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
  readonly serve: (fields: Fields, context: RouteContext) => Promise<RouteReply>;
}

export type CarryOut<Request extends z.ZodType> = (
  request: z.output<Request>,
  model: ModelInfo,
  context: RouteContext,
) => Promise<RouteReply>;

/**
 * Makes a row of an operation that names a model. Checks come in the order in which the service makes them: the model,
 * then the fields, then what carries it out knows; that is loaded when it is first needed.
 */
export function modelRoute<Request extends z.ZodType>(
  operation: Operation<Request> & { readonly name: OperationName },
  types: readonly ModelType[],
  load: () => Promise<CarryOut<Request>>,
): Route {
  return {
    name: operation.name,
    method: operation.method,
    path: operation.path,
    serve: async (fields, context) => {
      const id = fields["model"];
      if (id === undefined) throw invalidRequest("model: is required", "model");
      if (typeof id !== "string" || id === "") throw invalidRequest("model: must be a non-empty string", "model");
      const model = context.models.find((one) => one.id === id && types.includes(one.type));
      if (model === undefined) throw unsupportedModel();
      const found = violations(operation, fields, model);
      if (found.length > 0) throw broken(found);
      const carryOut = await load();
      return carryOut(operation.request.parse(fields), model, context);
    },
  };
}

/** Makes a row of an operation that names no model. */
export function plainRoute<Request extends z.ZodType>(
  operation: Operation<Request> & { readonly name: OperationName },
  load: () => Promise<(request: z.output<Request>, context: RouteContext) => Promise<RouteReply>>,
): Route {
  return {
    name: operation.name,
    method: operation.method,
    path: operation.path,
    serve: async (fields, context) => {
      const found = violations(operation, fields, { id: "", type: "llm" });
      if (found.length > 0) throw broken(found);
      const carryOut = await load();
      return carryOut(operation.request.parse(fields), context);
    },
  };
}
