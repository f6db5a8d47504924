import type { z } from "zod";
import { type ModelInfo, type ModelType, modelInfo } from "../contract/catalogue.js";
import { type Operation, violations } from "../contract/operation.js";
import { TransportError } from "../errors.js";

/**
 * The request's model, once the request is known to keep the contract.
 *
 * @throws TransportError (`request`) naming every field that breaks it; nothing was sent.
 */
export function checkRequest<Request extends z.ZodType>(
  operation: Operation<Request>,
  request: { readonly model: string },
  catalogue: readonly ModelInfo[],
  type: ModelType,
): ModelInfo {
  const model = modelInfo(catalogue, request.model, type);
  const found = violations(operation, request, model);
  if (found.length === 0) return model;
  const listed = found.map(({ field, message }) =>
    field === "" ? message : `${field}: ${message}${valueAt(request, field)}`,
  );
  const byKind = found.some(({ message }) => /\b(family|vision|known to take)\b/.test(message));
  const unknown =
    byKind && !catalogue.some(({ id }) => id === request.model)
      ? `. ${request.model} is not in the catalogue: createTransport({ models }) can describe it`
      : "";
  throw new TransportError("request", `${operation.name}: ${listed.join("; ")}${unknown}`, {
    operation: operation.name,
  });
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
