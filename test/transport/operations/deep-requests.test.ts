import { describe, expect, test } from "vitest";
import { chatModel } from "../../../src/models/chat-model.js";
import { collect } from "../../../src/core/stream.js";
import { isTooDeep, maxDepth } from "../../../src/core/json.js";
import { failure, transportFor } from "../../support/transport-for.js";

/** A schema that nests objects so deep. */
function nested(depth: number): Record<string, unknown> {
  let schema: Record<string, unknown> = { type: "string" };
  for (let level = 1; level < depth; level++) schema = { a: schema };
  return schema;
}

const cyclic: Record<string, unknown> = { type: "object" };
cyclic["properties"] = { self: cyclic };

const asking = (parameters: Record<string, unknown>) => ({
  model: "m",
  messages: [{ role: "user" as const, content: "?" }],
  tools: [{ type: "function" as const, function: { name: "f", parameters } }],
});
const finished = { json: { choices: [{ index: 0, message: { content: "ok" }, finish_reason: "stop" }] } };

describe("a request that is too deep is refused before a byte is sent, and names the field", () => {
  test.each([
    ["20,000 levels", nested(20_000)],
    ["as few as are too many", nested(maxDepth + 1)],
    ["itself", cyclic],
  ])("a tool's schema with %s", async (_, parameters) => {
    for (const service of ["contract", "openai"] as const) {
      const { transport, upstream } = await transportFor([], { service });
      const error = await failure(transport.chat(asking(parameters)));
      expect(error).toMatchObject({ code: "request" });
      expect(String(error)).toMatch(/tools: nests deeper than 100 levels, or holds itself/);
      expect(upstream.requests).toHaveLength(0);
    }
  });

  test("fields that nobody checks, and what JSON cannot hold", async () => {
    for (const extra of [{ deep: nested(20_000) }, { big: 10n }, { cyclic }]) {
      const { transport, upstream } = await transportFor([]);
      const error = await failure(transport.chat(asking({}), { extra }));
      expect(error).toMatchObject({ code: "request" });
      expect(String(error)).toContain("cannot be written as JSON");
      expect(upstream.requests).toHaveLength(0);
    }
  });

  test("the schema of a reply", async () => {
    const { transport } = await transportFor([], { service: "openai" });
    const request = { messages: [{ role: "user" as const, content: "?" }], format: "json" as const };
    const model = chatModel(transport, { model: "m" });
    const stream = async () => collect(model.stream({ ...request, schema: nested(20_000) }));
    expect(String(await failure(stream()))).toMatch(/schema: must not nest deeper than 100 levels/);
  });

  test("and one of 60 levels goes out as it is", async () => {
    const { transport, upstream } = await transportFor([finished]);
    await transport.chat(asking(nested(60)));
    expect(upstream.requests[0]!.body).toMatchObject(asking(nested(60)));
  });
});

test("what is shared many times over is looked at once a level", () => {
  let shared: unknown = "x";
  for (let level = 0; level < 90; level++) shared = [shared, shared];
  expect(isTooDeep(shared)).toBe(false);
  for (let level = 0; level < 11; level++) shared = [shared, shared];
  expect(isTooDeep(shared)).toBe(true);
});
