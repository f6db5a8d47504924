import type { z } from "zod";
import { type ModelInfo, type ModelType, modelInfo } from "../contract/catalogue.js";
import { type Operation, type Violation, violations } from "../contract/operation.js";
import type { OperationName } from "../contract/operations.js";
import { TransportError } from "../errors.js";
import type { TransportSettings } from "./options.js";

/**
 * The request's model, once the request is known to keep the contract. What the options ease is warned of, or passed over.
 *
 * @throws TransportError (`request`) naming every field that breaks it; nothing was sent.
 */
export function checkRequest<Request extends z.ZodType>(
  operation: Operation<Request> & { readonly name: OperationName },
  request: { readonly model: string },
  upstream: Checking,
  type: ModelType,
): ModelInfo {
  const { models: catalogue, settings } = upstream;
  const { bounds, family } = settings.strictness;
  const model = modelInfo(catalogue, request.model, type);
  const guessed = (field: string) => operation.guessedBounds?.includes(field) ?? false;
  const eased = bounds === "error" ? request : withoutNumbers(request, guessed);
  const found: Violation[] = [];
  const doubtful = bounds === "warn" ? violations(operation, request, model).filter(({ field }) => guessed(field)) : [];
  for (const violation of violations(operation, eased, model)) {
    const severity = violation.rule === "family" ? family : "error";
    if (severity === "error") found.push(violation);
    else if (severity === "warn") doubtful.push(violation);
  }
  if (found.length === 0) {
    for (const violation of doubtful) upstream.warn(operation.name, model.id, listed(request, violation));
    return model;
  }
  const byKind = found.some(({ message }) => /\b(family|vision|known to take)\b/.test(message));
  const unknown =
    byKind && !catalogue.some(({ id }) => id === request.model)
      ? `. ${request.model} is not in the catalogue: createTransport({ models }) can describe it`
      : "";
  const problems = found.map((violation) => listed(request, violation)).join("; ");
  throw new TransportError("request", `${operation.name}: ${problems}${unknown}`, { operation: operation.name });
}

/** What checking a request needs of the transport. */
interface Checking {
  readonly models: readonly ModelInfo[];
  readonly settings: Pick<TransportSettings, "strictness">;
  readonly warn: (operation: OperationName, model: string, message: string) => void;
}

function withoutNumbers<Request extends object>(request: Request, leaveOut: (field: string) => boolean): Request {
  return Object.fromEntries(
    Object.entries(request).filter(([field, value]) => !(leaveOut(field) && Number.isFinite(value))),
  ) as Request;
}

function listed(request: object, { field, message }: Violation): string {
  return field === "" ? message : `${field}: ${message}${valueAt(request, field)}`;
}

function valueAt(request: unknown, field: string): string {
  let at = request;
  for (const key of field.split(".")) at = (at as Readonly<Record<string, unknown>> | null | undefined)?.[key];
  if (typeof at === "number" || typeof at === "boolean") return ` (got ${at})`;
  if (typeof at === "string") return ` (got ${JSON.stringify(at.length > 60 ? `${at.slice(0, 57)}...` : at)})`;
  if (Array.isArray(at)) return ` (got ${at.length} items)`;
  return "";
}

/** The request without the fields that say what the service does anyway: some services refuse what does not apply. */
export function withoutDefaults<Request extends object>(
  request: Request,
  defaults: Readonly<Record<string, unknown>>,
): Request {
  return Object.fromEntries(
    Object.entries(request).filter(([field, value]) => {
      if (value === undefined || value === null) return false;
      return !(field in defaults) || JSON.stringify(defaults[field]) !== JSON.stringify(value);
    }),
  ) as Request;
}
