import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../../../src/contract/operations.js";
import { openApiDocument } from "../../../src/local/openapi.js";
import { startLocalService, type LocalService } from "../../../src/local/service.js";

interface Described {
  readonly operationId: string;
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Schema } } };
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

let service: LocalService;
let paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
beforeAll(async () => {
  service = await startLocalService();
  const response = await fetch(`${service.url}/openapi.json`);
  ({ paths } = (await response.json()) as { readonly paths: typeof paths });
});
afterAll(() => service.close());

describe("/openapi.json", () => {
  test("is served without a key and matches the schemas", async () => {
    const served: unknown = await (await fetch(`${service.url}/openapi.json`)).json();
    expect(served).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
    expect(served).toMatchObject({
      openapi: "3.1.0",
      info: { title: expect.any(String), version: expect.any(String) },
    });
  });

  test("names every operation of the contract at its method and path", () => {
    for (const { name, method, path } of Object.values(operations)) {
      expect(paths[path]?.[method.toLowerCase()]?.operationId).toBe(name);
    }
    expect(Object.values(paths).flatMap((one) => Object.keys(one))).toHaveLength(Object.keys(operations).length);
  });

  test("lists bounds, enums, defaults and required fields", () => {
    const chat = paths[operations.chat.path]?.["post"]?.requestBody?.content["application/json"].schema;
    expect(chat?.required).toEqual(["model", "messages"]);
    expect(chat?.properties?.["max_tokens"]).toMatchObject({ minimum: 1, maximum: 16_384, default: 512 });
    expect(chat?.properties?.["messages"]).toMatchObject({ minItems: 1, maxItems: 10 });
    const video = paths[operations.createVideoTask.path]?.["post"]?.requestBody?.content["application/json"].schema;
    expect(video?.properties?.["ratio"]).toMatchObject({ enum: expect.arrayContaining(["21:9"]), default: "adaptive" });
    expect(video?.properties?.["execution_expires_after"]).toMatchObject({ minimum: 3600, maximum: 259_200 });
  });

  test("puts ids in the path and filters in the query", () => {
    const query = paths[operations.videoTask.path]?.["get"];
    expect(query?.parameters).toMatchObject([{ name: "id", in: "path", required: true }]);
    const listed = paths[operations.listVideoTasks.path]?.["get"]?.parameters;
    expect(listed?.map((one) => one.in)).toEqual(listed?.map(() => "query"));
  });

  test("resolves every reference within the document", () => {
    const document = openApiDocument();
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? "");
    expect(references.length).toBeGreaterThan(0);
    for (const reference of new Set(references)) {
      const found = reference
        .split("/")
        .reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key], document);
      expect({ reference, found }).toEqual({ reference, found: expect.anything() });
    }
  });
});
