import { z } from "zod";
import { isTooDeep, maxDepth } from "../core/json.js";
import { nearestName } from "../core/options.js";
import type { ModelInfo } from "./catalogue.js";

/** One rule that a request breaks: the field, what it holds, and what it may hold. */
export interface Violation {
  /** Path of the field, such as `messages.3.content`; empty for the request as a whole. */
  readonly field: string;
  readonly message: string;
  /**
   * `family`: a field of another model family, which a service may take all the same. `model`: the model is not known to
   * take it. `unknown-field`: the contract has no such field.
   */
  readonly rule?: "family" | "model" | "unknown-field";
}

/**
 * One operation of the service, written once: the transport's typed method and the local service's route are both made
 * from it.
 */
export interface Operation<Request extends z.ZodType = z.ZodType, Reply extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** Path below `{base_url}`. A `{name}` in it is filled from the field of that name; other fields of a GET are its query. */
  readonly path: string;
  /** Fields, types and bounds. Strict: a field the contract does not know is a violation. */
  readonly request: Request;
  /** The fields of a reply that the client reads; others pass. */
  readonly reply: Reply;
  /** Rules between fields and about the model, for requests that satisfy `request`. Default: none. */
  readonly rules?: (request: z.output<Request>, model: ModelInfo) => readonly Violation[];
  /** Fields whose bounds the contract does not state: ours are those of public services of its shape. */
  readonly guessedBounds?: readonly string[];
  /**
   * `always`: carrying it out twice does no harm. `undelivered`: sent again only when it surely never arrived, because
   * it creates something that costs.
   */
  readonly repeat: "always" | "undelivered";
  /** Maximum silence of the service before it answers, in milliseconds. */
  readonly readTimeoutMs: number;
  /** Whether the operation is missing in the published contract; other services of the same shape may lack it. */
  readonly extension?: boolean;
  /** Name of the receiver of these requests, for messages. Default: the contract. */
  readonly owner?: string;
}

/** Maximum size of a request body. */
export const maxBodyBytes = 64 * 1024 * 1024;

/** The fields of a request that are too deep. */
function deepFields(request: unknown): readonly Violation[] {
  if (!isTooDeep(request)) return [];
  const message = `nests deeper than ${maxDepth} levels, or holds itself`;
  const fields = Object.entries(request as object).filter(([, value]) => isTooDeep([value]));
  return fields.map(([field]) => ({ field, message }));
}

/** Lists the rules of the operation that a request breaks; empty when it breaks none. */
export function violations<Request extends z.ZodType>(
  operation: Pick<Operation<Request>, "request" | "rules">,
  request: unknown,
  model: ModelInfo,
): readonly Violation[] {
  const deep = deepFields(request);
  if (deep.length > 0) return deep;
  const parsed = operation.request.safeParse(request);
  if (!parsed.success) {
    return parsed.error.issues.flatMap((issue) => {
      const place = issue.path.join(".");
      if (issue.code !== "unrecognized_keys") return [{ field: place, message: issue.message }];
      return issue.keys.map((key) => unknownField(operation, place, key));
    });
  }
  return operation.rules?.(parsed.data, model) ?? [];
}

function unknownField(
  { request, owner = "the contract" }: Pick<Operation, "request" | "owner">,
  place: string,
  key: string,
): Violation {
  const known = place === "" && request instanceof z.ZodObject ? Object.keys(request.shape) : [];
  const meant = nearestName(key, known);
  const hint = meant === undefined ? "" : `, did you mean ${meant}`;
  return {
    field: place === "" ? key : `${place}.${key}`,
    message: `${owner} has no field ${JSON.stringify(key)}${hint}`,
    rule: "unknown-field",
  };
}

/** Values of an operation's parameters; a list is written once for each of its items. */
export type Parameters = Readonly<Record<string, string | number | readonly (string | number)[] | undefined>>;

/**
 * Fills in the `{names}` of a path, URL-encoded; parameters that the path does not name become the query. Pure.
 *
 * @throws RangeError when a name in the path has no value, or one that would change the path (`.`, `..`, nothing).
 */
export function fillPath(template: string, parameters?: Parameters): string {
  if (parameters === undefined && !template.includes("{")) return template;
  const rest = new Map(Object.entries(parameters ?? {}));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    if ((typeof value !== "string" && typeof value !== "number") || /^\.{0,2}$/.test(String(value))) {
      throw new RangeError(`${template} needs ${name}, which is ${JSON.stringify(value)}`);
    }
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of rest) {
    for (const item of [value].flat()) if (item !== undefined) query.append(name, String(item));
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
