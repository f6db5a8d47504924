import type { z } from "zod";
import type { ModelInfo, ModelType } from "../contract/catalogue.js";
import { unsupportedModelMessage } from "../contract/failures.js";
import { violations, type Operation } from "../contract/operation.js";
import type { OperationName } from "../contract/operations.js";
import type { Engines } from "./engines/engines.js";
import type { FailureShape } from "./failure/failure-shapes.js";
import { invalidFields, invalidRequest, RequestFailure } from "./failure/request-failure.js";
import type { Faults } from "./faults/faults.js";
import type { ServiceClock } from "./service-clock.js";
import type { KeptResponses } from "./neighbours/kept-responses.js";
import type { VideoTasks } from "./video/video-tasks.js";
import type { Forwarding } from "./http/forward.js";

/** The parts of a service that requests to models need. */
export interface ModelParts {
  readonly models: readonly ModelInfo[];
  readonly engines: Engines;
  readonly maxBatchTexts: number;
  readonly maxChoices: number;
  /** Pause before each streamed event, in milliseconds. */
  readonly eventDelayMs: number;
  readonly forward: Forwarding;
  readonly faults: Faults;
}

/** The parts that all requests of one service share. */
export interface ServiceParts extends ModelParts {
  readonly clock: ServiceClock;
  readonly tasks: VideoTasks;
  /** Responses that clients may go on from. */
  readonly responses: KeptResponses;
}

/** Context of one request. */
interface OneRequest {
  /** The model that the request names; one without an id for operations that name none. */
  readonly model: ModelInfo;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
  /** Counts the request and its tokens against the limits of its key and model, or throws a 429. */
  readonly admit: (model: string, tokens: number) => void;
}

/** Context of a request to a model. */
export interface ModelContext extends ModelParts, OneRequest {}

/** Context of an operation. */
export interface RouteContext extends ServiceParts, OneRequest {}

/** The reply of a route: one JSON value, events that are sent as they come, or another service's answer as it stands. */
export type RouteReply = (
  | { readonly json: unknown }
  | {
      readonly events: AsyncIterable<unknown>;
      /** Each event is sent with its type as its name, and the last one is the end. */
      readonly isNamed?: true;
    }
  | { readonly response: Response }
) & {
  /** Headers beside those of its kind. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** Fields of a request: of its body, of its query and of its path. */
export type Fields = Readonly<Record<string, unknown>>;

/** A row of the route table: what is asked where, how it is refused, and what carries it out. */
export interface Route<Context extends ModelContext = RouteContext> {
  /** Operation name for faults. */
  readonly name: OperationName;
  readonly method: string;
  /** Path with `{name}` for a parameter. */
  readonly path: string;
  readonly errorShape: FailureShape;
  readonly serve: (fields: Fields, context: Omit<Context, "model">) => Promise<RouteReply>;
}

export interface RouteSettings<Request extends z.ZodType, Context extends ModelContext> {
  /** Types of model that a request may name; left out when it names none. */
  readonly models?: readonly ModelType[];
  readonly errorShape: FailureShape;
  /** Loads the operation's implementation; called when it is first needed. */
  readonly load: () => Promise<(request: z.output<Request>, context: Context) => RouteReply | Promise<RouteReply>>;
}

/**
 * Makes a row of an operation. Checks come in the order in which the service makes them: the model, then the fields, then
 * what carries it out knows.
 */
export function route<Request extends z.ZodType, Context extends ModelContext>(
  operation: Operation<Request> & { readonly name: OperationName },
  { models: types, errorShape, load }: RouteSettings<Request, Context>,
): Route<Context> {
  const { name, method, path } = operation;
  return {
    name,
    method,
    path,
    errorShape,
    serve: async (fields, context) => {
      const model = types === undefined ? noModel : namedModel(fields["model"], types, context.models);
      const found = violations(operation, fields, model);
      if (found.length > 0) throw invalidFields(found);
      const carryOut = await load();
      return carryOut(operation.request.parse(fields), { ...context, model } as Context);
    },
  };
}

export const noModel: ModelInfo = { id: "", type: "llm" };

function namedModel(id: unknown, types: readonly ModelType[], models: readonly ModelInfo[]): ModelInfo {
  if (id === undefined) throw invalidRequest("model: is required", "model");
  if (typeof id !== "string" || id === "") throw invalidRequest("model: must be a non-empty string", "model");
  const found = models.find((one) => one.id === id && types.includes(one.type));
  if (found === undefined) throw new RequestFailure("unsupported-model", unsupportedModelMessage, { field: "model" });
  return found;
}
