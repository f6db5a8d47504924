import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conformanceCases } from "./conformance-cases.js";
import { models, openTarget } from "./conformance-target.js";
import { paths, post, type Target } from "./conformance.js";

let target: Target;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ target, close } = await openTarget());
});
afterAll(() => close());

const cases = conformanceCases(models);
const sections = [...new Set(cases.map(({ section }) => section))];

describe.each(sections)("%s", (section) => {
  const own = cases.filter((one) => one.section === section);

  const good = own.filter(({ refused }) => refused === undefined);
  test.each(good)("$what is accepted ($operation)", async ({ operation, body }) => {
    const { status, text } = await post(target, paths[operation], body);
    expect({ status, text }).toEqual({ status: 200, text: expect.any(String) });
  });

  const bad = own.filter(({ refused }) => refused !== undefined);
  test.each(bad)("$what is refused and the error names $refused ($operation)", async ({ operation, body, refused }) => {
    const answer = await post(target, paths[operation], body);
    expect(answer.status).toBe(400);
    const message = expect.stringMatching(naming(refused ?? ""));
    // Fields beside these are the service's own: the contract does not show the shape of errors.
    expect(answer.body).toMatchObject(
      operation === "createVideoTask"
        ? { error: { code: "InvalidParameter", message, param: expect.any(String), type: "BadRequest" } }
        : { code: 20_015, message, data: null },
    );
  });
});

/** The field by itself, not as letters of another word. */
function naming(field: string): RegExp {
  return new RegExp(`(^|[\\s"\`])${field.replaceAll(".", "\\.")}[:."\`]`);
}

describe("Errors", () => {
  const text = "暂不支持此种模型";

  test.each([
    ["embeddings", { input: "a" }],
    ["rerank", { query: "a", documents: ["a"] }],
    ["chat", { messages: [{ role: "user", content: "a" }] }],
  ] as const)(
    "1. a model that is not published for %s is refused with the service's words",
    async (operation, body) => {
      for (const model of ["unknown", operation === "chat" ? models.embedding : models.llm]) {
        const answer = await post(target, paths[operation], { model, ...body });
        expect(answer).toMatchObject({ status: 400, body: { code: 20_012, message: text, data: null } });
      }
    },
  );
});

describe("Authentication", () => {
  test.each(Object.entries(paths))("%s is refused without a key and with a wrong one (section 1)", async (_, path) => {
    expect((await post(target, path, {}, { authorization: "" })).status).toBe(401);
    expect((await post(target, path, {}, { authorization: "Bearer wrong" })).status).toBe(401);
    expect((await post(target, path, {}, { authorization: `Basic ${target.apiKey}` })).status).toBe(401);
  });
});

describe("Limits", () => {
  const textOf = (tokens: number) => " a".repeat(tokens);

  test.each([
    [models.embedding, 512],
    [models.longEmbedding, 8192],
  ])("Embeddings: %s takes %i tokens in one text and not one more", async (model, limit) => {
    expect((await post(target, paths.embeddings, { model, input: ["a", textOf(limit)] })).status).toBe(200);
    expect(await post(target, paths.embeddings, { model, input: ["a", textOf(limit + 1)] })).toMatchObject({
      status: 413,
      body: { code: 20_042, message: `input must have at most ${limit} tokens`, data: null },
    });
  });

  test("a video request with a body of more than 64 MB is refused with 413", async () => {
    const answer = await post(target, paths.createVideoTask, `{"content":"${"a".repeat(64 * 1024 * 1024)}"}`);
    expect(answer.status).toBe(413);
  });
});
