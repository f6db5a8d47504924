import { z } from "zod";
import { version } from "../../knowledge-base/ingest/run-memory.js";
import type { Route } from "./route.js";
import { WireEvent, WireFailure } from "./wire.js";

type JsonObject = Readonly<Record<string, unknown>>;

/** The API as an OpenAPI 3.1 document, made from the schemas that requests are checked with. Pure. */
export function openApiDocument(routes: readonly Route[], title: string): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const row of routes) (paths[row.path] ??= {})[row.method.toLowerCase()] = described(row);
  return {
    openapi: "3.1.0",
    info: { title, description: "Search and cited answers over a collection of documents.", version },
    security: [{ token: [] }, {}],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: {
        Failure: schemaOf(z.object({ error: WireFailure })),
        Event: schemaOf(WireEvent),
      },
    },
  };
}

function described({ path, summary, request, reply, takesBytes, method }: Route): JsonObject {
  const { properties = {}, required = [] } = schemaOf(request) as {
    readonly properties?: JsonObject;
    readonly required?: readonly string[];
  };
  const inPath = (name: string) => path.includes(`{${name}}`);
  const hasBody = method !== "GET" && method !== "DELETE" && takesBytes !== true;
  const parameters = Object.entries(properties).flatMap(([name, schema]) => {
    if (hasBody && !inPath(name)) return [];
    return [{ name, in: inPath(name) ? "path" : "query", required: inPath(name) || required.includes(name), schema }];
  });
  const fields = Object.entries(properties).filter(([name]) => !inPath(name));
  const body = {
    type: "object",
    properties: Object.fromEntries(fields),
    required: required.filter((name) => !inPath(name)),
  };
  return {
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody &&
      fields.length > 0 && { requestBody: { required: true, content: { "application/json": { schema: body } } } }),
    ...(takesBytes === true && { requestBody: { required: true, content: { "application/octet-stream": {} } } }),
    responses: { ...replyOf(reply), default: failure },
  };
}

const failure = {
  description: "Refused or failed: code and message say why",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Failure" } } },
};

function replyOf(reply: Route["reply"]): JsonObject {
  if (reply === "nothing") return { 204: { description: "Done" } };
  if (reply !== "events") {
    return { 200: { description: "Done", content: { "application/json": { schema: schemaOf(reply) } } } };
  }
  const description = "Server-sent events, numbered from 0, named by their type, with an Event as data";
  return { 200: { description, content: { "text/event-stream": { schema: { type: "string", description } } } } };
}

function schemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest;
}
