import { z } from "zod";
import type { ModelInfo } from "./catalogue.js";

/** One rule that a request breaks: where, what it holds, what it may hold. */
export interface Violation {
  /** `messages.3.content`; empty for the request as a whole. */
  readonly field: string;
  readonly message: string;
  /** `family`: a field of another model family, which a service may take all the same. */
  readonly rule?: "family";
}

/**
 * One operation of the service, written once: the transport's typed method and the local service's route are both made
 * from it.
 */
export interface Operation<Request extends z.ZodType = z.ZodType, Reply extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** Below `{base_url}`. A `{name}` in it is filled from the field of that name; other fields of a GET are its query. */
  readonly path: string;
  /** Fields, types and bounds. Strict: a field the contract does not know is a violation. */
  readonly request: Request;
  /** What the client reads of a reply; other fields pass. */
  readonly reply: Reply;
  /** Rules between fields, and those that depend on the model. Called with requests that satisfy `request`. */
  readonly rules: (request: z.output<Request>, model: ModelInfo) => readonly Violation[];
  /** Fields whose bounds the contract does not show: ours are those of public services of its shape. */
  readonly guessedBounds?: readonly string[];
  /**
   * `always`: carrying it out twice does no harm. `undelivered`: sent again only when it surely never arrived, since
   * it creates something that costs.
   */
  readonly repeat: "always" | "undelivered";
  /** How long the service may be silent before it answers, in milliseconds. */
  readonly readTimeoutMs: number;
  /** Not in the published contract; other services of the same shape may lack it. */
  readonly extension?: boolean;
}

/** Largest request body that the service takes. */
export const maxBodyBytes = 64 * 1024 * 1024;

/** What a request holds that the operation does not allow; empty when all is well. */
export function violations<Request extends z.ZodType>(
  operation: Operation<Request>,
  request: unknown,
  model: ModelInfo,
): readonly Violation[] {
  const parsed = operation.request.safeParse(request);
  if (!parsed.success) {
    return parsed.error.issues.flatMap((issue) => {
      const place = issue.path.join(".");
      if (issue.code !== "unrecognized_keys") return [{ field: place, message: issue.message }];
      return issue.keys.map((key) => unknownField(operation, place, key));
    });
  }
  return operation.rules(parsed.data, model);
}

function unknownField({ request }: Operation, place: string, key: string): Violation {
  const known = place === "" && request instanceof z.ZodObject ? Object.keys(request.shape) : [];
  const meant = known.find((field) => field.replaceAll("_", "") === key.toLowerCase().replaceAll("_", ""));
  const hint = meant === undefined ? "" : `, did you mean ${meant}`;
  return {
    field: place === "" ? key : `${place}.${key}`,
    message: `the contract has no field ${JSON.stringify(key)}${hint}`,
  };
}
