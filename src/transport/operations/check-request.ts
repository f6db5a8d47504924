import type { z } from "zod";
import { type ModelInfo, type ModelType, modelInfo } from "../../contract/catalogue.js";
import { type Operation, type Violation, violations } from "../../contract/operation.js";
import type { OperationName } from "../../contract/operations.js";
import { TransportError } from "../../core/errors.js";
import type { Caller } from "../calls/caller.js";

/**
 * Checks a request against the contract, and returns its model. Rules that the options relax become warnings, or are
 * skipped.
 *
 * @throws TransportError (`request`) naming every field that breaks a rule; nothing was sent.
 */
export function checkRequest<Request extends z.ZodType>(
  operation: Operation<Request> & { readonly name: OperationName },
  request: { readonly model: string },
  caller: Caller,
  type: ModelType,
): ModelInfo {
  requireRequest(operation.name, request);
  const { models: catalogue, settings } = caller;
  const { bounds, family } = settings.strictness;
  const suitable = catalogue.filter((known) => serves(known.type, type));
  // Without types it may have none, which the schema then says.
  const model = modelInfo(suitable, typeof request.model === "string" ? request.model : "", type);
  const isGuessed = (field: string) => operation.guessedBounds?.includes(field) ?? false;
  const relaxed = bounds === "error" ? request : withoutNumbers(request, isGuessed);
  const found: Violation[] = [];
  const listed = catalogue.find(({ id }) => id === request.model);
  if (listed && !suitable.some(({ id }) => id === request.model)) {
    const wanted = serves(type, "llm") ? "models of type llm or vlm" : `models of type ${type}`;
    found.push({ field: "model", message: `is of type ${listed.type}, ${operation.name} takes ${wanted}` });
  }
  const doubtful =
    bounds === "warn" ? violations(operation, request, model).filter(({ field }) => isGuessed(field)) : [];
  for (const violation of violations(operation, relaxed, model)) {
    const severity = violation.rule === "family" ? family : "error";
    if (severity === "error") found.push(violation);
    else if (severity === "warn") doubtful.push(violation);
  }
  if (found.length === 0) {
    for (const violation of doubtful) caller.warn(operation.name, model.id, withValue(request, violation));
    return model;
  }
  const dependsOnModel = found.some(({ rule }) => rule === "family" || rule === "model");
  const unlisted =
    dependsOnModel && !listed
      ? `. ${request.model} is not in the catalogue: createTransport({ models }) can describe it`
      : "";
  const beyond = operation.name === "chat" && found.some(({ rule }) => rule === "unknown-field");
  const extra = beyond ? ". What a service takes beyond the contract goes into extra, beside signal" : "";
  const problems = found.map((violation) => withValue(request, violation)).join("; ");
  throw requestError(operation.name, `${problems}${unlisted}${extra}`);
}

export function requestError(operation: OperationName, problem: string): TransportError {
  return new TransportError("request", `${operation}: ${problem}`, { operation });
}

/** Checks that the request is an object before a field of it is read: without types it may be anything. */
export function requireRequest(operation: OperationName, request: unknown): void {
  if (typeof request === "object" && request !== null) return;
  throw requestError(operation, `the request must be an object (got ${String(request)})`);
}

/** Text models and vision models answer the same operation. */
function serves(known: ModelType, wanted: ModelType): boolean {
  const chat: readonly ModelType[] = ["llm", "vlm"];
  return known === wanted || (chat.includes(known) && chat.includes(wanted));
}

function withoutNumbers<Request extends object>(request: Request, leaveOut: (field: string) => boolean): Request {
  return Object.fromEntries(
    Object.entries(request).filter(([field, value]) => !(leaveOut(field) && Number.isFinite(value))),
  ) as Request;
}

function withValue(request: object, { field, message }: Violation): string {
  return field === "" ? message : `${field}: ${message}${valueAt(request, field)}`;
}

function valueAt(request: unknown, field: string): string {
  let index = request;
  for (const key of field.split(".")) index = (index as Readonly<Record<string, unknown>> | null | undefined)?.[key];
  if (typeof index === "number" || typeof index === "boolean") return ` (got ${index})`;
  if (typeof index === "string")
    return ` (got ${JSON.stringify(index.length > 60 ? `${index.slice(0, 57)}...` : index)})`;
  return Array.isArray(index) ? ` (got ${index.length} items)` : "";
}
