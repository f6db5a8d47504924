import type { z } from "zod";
import type { ModelInfo, ModelType } from "../contract/catalogue.js";
import { violations, type Operation } from "../contract/operation.js";
import type { Engines } from "./engines.js";
import { broken, invalidRequest, unsupportedModel } from "./refusal.js";

/** What a route needs beside the request. */
export interface RouteContext {
  readonly models: readonly ModelInfo[];
  readonly engines: Engines;
  readonly maxBatchTexts: number;
  readonly maxChoices: number;
  /** Pause before each streamed event, in milliseconds. */
  readonly eventDelayMs: number;
  /** Aborts when the socket closes. */
  readonly signal: AbortSignal;
}

/** What a route answers: one JSON value, or events that are sent as they come. */
export type RouteReply = { readonly json: unknown } | { readonly events: AsyncIterable<unknown> };

/** A row of the route table: an operation of the contract and what carries it out. */
export interface Route {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly serve: (body: Readonly<Record<string, unknown>>, context: RouteContext) => Promise<RouteReply>;
}

/**
 * Makes a row of an operation. Checks come in the order in which the service makes them: the model, then the
 * fields, then what `carryOut` knows.
 */
export function route<Request extends z.ZodType>(
  operation: Operation<Request>,
  types: readonly ModelType[],
  carryOut: (request: z.output<Request>, model: ModelInfo, context: RouteContext) => Promise<RouteReply>,
): Route {
  return {
    name: operation.name,
    method: operation.method,
    path: operation.path,
    serve: async (body, context) => {
      const id = body["model"];
      if (id === undefined) throw invalidRequest("model: is required");
      if (typeof id !== "string" || id === "") throw invalidRequest("model: must be a non-empty string");
      const model = context.models.find((one) => one.id === id && types.includes(one.type));
      if (model === undefined) throw unsupportedModel();
      const found = violations(operation, body, model);
      if (found.length > 0) throw broken(found);
      return carryOut(operation.request.parse(body), model, context);
    },
  };
}
