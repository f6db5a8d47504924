import { z } from "zod";
import { version } from "../../core/version.js";
import type { Operation } from "./route.js";
import { WireEvent, WireFailure } from "./wire.js";

type JsonObject = Readonly<Record<string, unknown>>;

/** Operations of one tag, and how they differ from those of the API itself. */
export interface OperationGroup {
  readonly tag: string;
  readonly description: string;
  readonly operations: readonly Operation[];
  /** Shape of failures. Default: that of the API. */
  readonly failure?: z.ZodType | "text";
  /** Replies that are JSON are streams of events where the request has `stream: true`. */
  readonly streams?: true;
  /** Needs no key or token. */
  readonly isOpen?: true;
}

export interface ApiDescription {
  readonly title: string;
  /** Path at which the handler is mounted. */
  readonly basePath: string;
}

/** The API as an OpenAPI 3.1 document, made from the schemas that requests are checked with. Pure. */
export function openApiDocument(groups: readonly OperationGroup[], { title, basePath }: ApiDescription): JsonObject {
  const schemas = new Schemas();
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const group of groups) {
    for (const row of group.operations) {
      (paths[row.path] ??= {})[row.method.toLowerCase()] = described(row, group, schemas);
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title,
      description: "Search and cited answers over a collection of documents.",
      version,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: basePath === "" ? "/" : basePath }],
    security: [{ bearer: [] }, { session: [] }, {}],
    tags: groups.map(({ tag: name, description }) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "A key, an access token, or the server's token" },
        session: { type: "apiKey", in: "cookie", name: "citewell", description: "Of who has signed in on the page" },
      },
      schemas: schemas.all,
    },
  };
}

function described(row: Operation, group: OperationGroup, schemas: Schemas): JsonObject {
  const { operation: operationId, path, summary, request, takesBytes, method } = row;
  const {
    properties = {},
    required = [],
    additionalProperties,
  } = schemas.of(request) as {
    readonly additionalProperties?: boolean;
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
    ...(additionalProperties === false && { additionalProperties }),
  };
  return {
    operationId,
    tags: [group.tag],
    summary,
    ...(group.isOpen && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody &&
      fields.length > 0 && { requestBody: json(body, { example: exampleOf(Object.fromEntries(fields)) }) }),
    ...(takesBytes === true && { requestBody: { required: true, content: { "application/octet-stream": {} } } }),
    responses: { ...replyOf(row, group, schemas), ...failuresOf(row, group, schemas) },
  };
}

function json(schema: unknown, more: JsonObject = {}): JsonObject {
  return { required: true, content: { "application/json": { schema, ...more } } };
}

/** A body of the fields that have examples. */
function exampleOf(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, schema]) => {
      const { examples } = schema as { readonly examples?: readonly unknown[] };
      return examples ? [[name, examples[0]]] : [];
    }),
  );
}

const words = { "text/plain": { schema: { type: "string" } } };
/** Events as a generator sees them: a text, whose data are Events. */
function eventsOf(description: string, event?: JsonObject): JsonObject {
  const data = event && { contentMediaType: "application/json", contentSchema: event };
  return { "text/event-stream": { schema: { type: "string", description, ...data } } };
}

function replyOf(
  { reply, takesBytes, path }: Operation,
  { streams, failure }: OperationGroup,
  schemas: Schemas,
): JsonObject {
  if (reply === "nothing") return { 204: { description: "Done" } };
  if (reply === "events") {
    const description = "Server-sent events";
    return {
      200: { description, content: eventsOf(description, failure === "text" ? undefined : schemas.of(WireEvent)) },
    };
  }
  if (reply === "file") return { 200: { description: "The file", content: { "application/octet-stream": {} } } };
  if (reply === "text") return { 200: { description: "Yes", content: words } };
  const content = { "application/json": { schema: schemas.of(reply) } };
  const isAccepted = takesBytes === true || path.endsWith("/retry");
  return {
    [isAccepted ? 202 : 200]: {
      description: isAccepted ? "Taken, and read soon after" : "Done",
      content: { ...content, ...(streams && eventsOf("With stream: true, the reply as it is made")) },
    },
  };
}

const reasons: Readonly<Record<number, string>> = {
  400: "The request is not as it must be",
  401: "No key or token, or one that does not hold",
  403: "The caller may not do this, or the page may not use this server",
  404: "There is no such thing, or it is somebody else's",
  409: "An answer of this conversation is being made, or was decided before",
  413: "The body is too large",
  415: "The body is of a kind that is not read",
  429: "Too many requests, tokens or answers: retry-after says when to try again",
  500: "The server failed; its log says why",
  503: "The server is ending, or makes as many answers as it can: retry-after says when to try again",
};

/** Every status with which an operation may be refused, by what it takes and gives. */
function failuresOf({ method, path, request, reply }: Operation, group: OperationGroup, schemas: Schemas) {
  if (reply === "text") return { 503: failureOf(503, "text", schemas) };
  const fields = Object.keys(request.shape);
  const hasBody = method !== "GET" && method !== "DELETE";
  const isAnswering = reply === "events" || group.streams;
  const statuses = [
    ...(fields.length > 0 ? [400] : []),
    401,
    403,
    ...(path.includes("{") || fields.includes("uri") ? [404] : []),
    ...(isAnswering && hasBody ? [409] : []),
    ...(hasBody ? [413, 415] : []),
    429,
    500,
    ...(isAnswering ? [503] : []),
  ];
  return Object.fromEntries(statuses.map((status) => [status, failureOf(status, group.failure, schemas)]));
}

function failureOf(status: number, failure: OperationGroup["failure"], schemas: Schemas): JsonObject {
  const description = reasons[status];
  if (failure === "text") return { description, content: words };
  return { description, content: { "application/json": { schema: schemas.of(failure ?? Failure) } } };
}

const Failure = z.object({ error: WireFailure }).meta({ id: "Failure" });

/** JSON Schemas, of which those with an id stand in the document once. */
class Schemas {
  readonly all: Record<string, unknown> = {};

  of(schema: z.ZodType): JsonObject {
    const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
    for (const [name, part] of Object.entries($defs)) this.all[name] ??= referring(part);
    return referring(rest);
  }
}

/** With references to where the document has its schemas. */
function referring(schema: object): JsonObject {
  return JSON.parse(
    JSON.stringify(schema).replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/'),
  ) as JsonObject;
}
