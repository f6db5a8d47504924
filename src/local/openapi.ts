import { z } from "zod";
import { chatDefaults } from "../contract/chat.js";
import type { Operation } from "../contract/operation.js";
import { operations, type OperationName } from "../contract/operations.js";
import { videoDefaults } from "../contract/video.js";
import { failureKinds } from "./failure/request-failure.js";

type JsonObject = Readonly<Record<string, unknown>>;

const summaries: Readonly<Record<OperationName, string>> = {
  embeddings: "Turn texts into vectors",
  rerank: "Order documents by relevance to a query",
  chat: "Answer messages, whole or streamed",
  createVideoTask: "Start a video",
  videoTask: "State and result of a video task",
  listVideoTasks: "Video tasks of the last seven days",
  cancelVideoTask: "Cancel a queued video task, or delete a finished one",
  listModels: "Models that the service publishes",
};

/** Defaults of fields, when they do not depend on the model. */
const defaults: Partial<Record<OperationName, JsonObject>> = {
  embeddings: { encoding_format: "float" },
  rerank: { return_documents: false, max_chunks_per_doc: 1024, overlap_tokens: 80 },
  chat: Object.fromEntries(Object.entries(chatDefaults).filter(([, value]) => typeof value !== "object")),
  createVideoTask: videoDefaults,
};

const NestedFailure = z.object({
  code: z.union([z.string(), z.int()]).nullable(),
  message: z.string(),
  param: z.string().nullable().optional(),
  type: z.string().optional(),
});

const Failure = z
  .union([
    z.object({ code: z.int().optional(), message: z.string(), data: z.null().optional(), error: NestedFailure }),
    z.object({ error: NestedFailure }),
    z.string(),
  ])
  .describe("Video operations nest it under `error` alone; 401 and 404 of the others are a JSON string.");

/** Statuses of refusals that any operation may answer with. */
const refusals = [400, 401, 413, 429] as const;

/** The contract as an OpenAPI 3.1 document, made from the schemas that requests are checked with. Pure. */
export function openApiDocument(): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const operation of Object.values<Described>(operations)) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = described(operation);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "AI inference service: video generation, chat completion, rerank and embeddings",
      description:
        "Served locally by citewell, without network: by engines that count words, and by the models of a folder.",
      version: "1",
    },
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
      schemas: {
        Failure: schemaOf(Failure),
      },
    },
  };
}

/** The part of an operation that the document describes. */
type Described = Pick<Operation, "method" | "path" | "request" | "reply" | "extension"> & {
  readonly name: OperationName;
};

function described(operation: Described): JsonObject {
  const { name, method, path, reply, extension } = operation;
  const request = withDefaults(schemaOf(operation.request), defaults[name] ?? {});
  return {
    operationId: name,
    summary: summaries[name],
    ...(extension === true && { "x-extension": true }),
    ...(method === "POST"
      ? { requestBody: { required: true, content: { "application/json": { schema: request } } } }
      : { parameters: parameters(request, path) }),
    responses: {
      200: {
        description: "Done",
        content: {
          "application/json": { schema: schemaOf(reply) },
          ...(name === "chat" && {
            "text/event-stream": { schema: { type: "string", description: "Chunks, and [DONE] after the last" } },
          }),
        },
      },
      ...Object.fromEntries(refusals.map((status) => [status, refusal(status)])),
      ...(path.includes("{") && { 404: refusal(404) }),
      ...(method === "DELETE" && { 409: refusal(409) }),
    },
  };
}

function refusal(status: number): JsonObject {
  const names = Object.entries(failureKinds).flatMap(([name, kind]) => (kind.status === status ? [name] : []));
  return {
    description: names.join(", "),
    content: { "application/json": { schema: { $ref: "#/components/schemas/Failure" } } },
  };
}

function schemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest;
}

function withDefaults(schema: JsonObject, values: JsonObject): JsonObject {
  const properties = Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, JsonObject>>);
  const completed = properties.map(([name, property]) => [
    name,
    name in values ? { ...property, default: values[name] } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(completed) };
}

function parameters(schema: JsonObject, path: string): readonly JsonObject[] {
  const required = new Set((schema["required"] ?? []) as readonly string[]);
  return Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, JsonObject>>).map(
    ([name, property]) => ({
      name,
      in: path.includes(`{${name}}`) ? "path" : "query",
      required: required.has(name),
      schema: property,
    }),
  );
}
