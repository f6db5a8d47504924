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
  const fitting = catalogue.filter((known) => serves(known.type, type));
  const model = modelInfo(fitting, request.model, type);
  const guessed = (field: string) => operation.guessedBounds?.includes(field) ?? false;
  const eased = bounds === "error" ? request : withoutNumbers(request, guessed);
  const found: Violation[] = [];
  const other = catalogue.find(({ id }) => id === request.model);
  if (other && !fitting.some(({ id }) => id === request.model)) {
    found.push({ field: "model", message: `is of type ${other.type}, ${operation.name} takes ${kindsOf(type)}` });
  }
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
  const beyond =
    operation.name === "chat" && found.some(({ message }) => message.startsWith("the contract has no field"));
  const extra = beyond ? ". What a service takes beyond the contract goes into extra, beside signal" : "";
  const problems = found.map((violation) => listed(request, violation)).join("; ");
  throw new TransportError("request", `${operation.name}: ${problems}${unknown}${extra}`, {
    operation: operation.name,
  });
}

/** Before a field of it is read: without types a request may be anything. */
export function requireRequest(operation: OperationName, request: unknown): void {
  if (typeof request === "object" && request !== null) return;
  throw new TransportError("request", `${operation}: the request must be an object (got ${String(request)})`, {
    operation,
  });
}

/** Models that read text and those that see answer the same operation. */
function serves(known: ModelType, wanted: ModelType): boolean {
  const chat = (type: ModelType) => type === "llm" || type === "vlm";
  return known === wanted || (chat(known) && chat(wanted));
}

function kindsOf(type: ModelType): string {
  return serves(type, "llm") ? "models of type llm or vlm" : `models of type ${type}`;
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
