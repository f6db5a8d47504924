import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { failure, transportFor, vectors } from "../support/transport-for.js";
import { decisions } from "./decisions.js";

const message = { role: "user" as const, content: "?" };
const chatRequest = { model: "q", messages: [message] };
const models = [
  { id: "d", type: "llm" as const, family: "D" as const },
  { id: "see", type: "vlm" as const },
];
const whole = (...choices: readonly object[]) => ({ json: { choices } });
const said = (content: string, index = 0) => ({ index, message: { content }, finish_reason: "stop" });

/** The body that goes over the wire for a chat request. */
async function sentFor(request: object): Promise<unknown> {
  const { transport, upstream } = await transportFor([whole(said("x"))], { models });
  await transport.chat({ ...chatRequest, ...request });
  return upstream.requests[0]!.body;
}

/** The message with which a request is refused before anything is sent. */
async function refusalOf(request: object): Promise<string> {
  const { transport, upstream } = await transportFor([], { models });
  const error = await failure(transport.chat({ ...chatRequest, ...request }));
  expect(error).toMatchObject({ code: "request", attempts: 0 });
  expect(upstream.requests).toHaveLength(0);
  return String(error);
}

describe("the id of a request (E7)", () => {
  test.each([
    [{ "x-tt-logid": "4", "x-client-request-id": "3", "x-siliconcloud-trace-id": "2", "x-request-id": "1" }, "1"],
    [{ "x-tt-logid": "4", "x-client-request-id": "3", "x-siliconcloud-trace-id": "2" }, "2"],
    [{ "x-tt-logid": "4", "x-client-request-id": "3" }, "3"],
    [{ "x-tt-logid": "4" }, "4"],
    [{}, "0217"],
  ])("of %j is %s, in the result and in an error", async (headers, requestId) => {
    const refused = { status: 400, headers, json: { message: "not valid. Request id: 0217" } };
    const { transport } = await transportFor([{ ...whole(said("x")), headers }, refused]);
    const result = await transport.chat(chatRequest);
    expect(result.requestId).toBe(requestId === "0217" ? undefined : requestId);
    expect(await failure(transport.chat(chatRequest))).toMatchObject({ requestId });
  });
});

test("presence_penalty goes out when it is given, and never else (C7)", async () => {
  expect(await sentFor({ presence_penalty: 0 })).toMatchObject({ presence_penalty: 0 });
  expect(await sentFor({})).not.toHaveProperty("presence_penalty");
});

test("of several choices the first by index is the reply's own (C8)", async () => {
  const { transport, upstream } = await transportFor([whole(said("second", 1), said("first", 0))]);
  expect((await transport.chat({ ...chatRequest, n: 2 })).text).toBe("first");
  expect(upstream.requests[0]!.body).toMatchObject({ n: 2 });
});

test("thinking and sampling together are no error (C11)", async () => {
  const fields = { thinking: { type: "disabled" }, temperature: 0.1, top_p: 0.5 };
  expect(await sentFor({ model: "d", ...fields })).toMatchObject(fields);
});

test.each(["tool", "developer", "function"])("%s is no role (C12)", async (role) => {
  expect(await refusalOf({ messages: [message, { role, content: "x" }] })).toMatch(/messages\.1\.role/);
});

describe("a picture (C14)", () => {
  const look = (image_url: object) => ({
    model: "see",
    messages: [{ role: "user" as const, content: [{ type: "image_url" as const, image_url }] }],
  });

  test.each([
    { url: "https://host/a.png" },
    { url: "http://host/a.png", detail: "low" },
    { url: "data:image/png;base64,AAAA", detail: "auto" },
  ])("%j is taken", async (picture) => {
    expect(await sentFor(look(picture))).toMatchObject(look(picture));
  });

  test.each([{ url: "file:///etc/passwd" }, { url: "https://host/a.png", detail: "best" }, { detail: "low" }])(
    "%j is refused",
    async (picture) => {
      expect(await refusalOf(look(picture))).toMatch(/messages\.0\.content/);
    },
  );
});

test("a vision model takes stop as any other (C15)", async () => {
  const look = { model: "see", messages: [{ role: "user", content: [{ type: "text", text: "?" }] }] };
  expect(await sentFor({ ...look, stop: ["a", "b", "c", "d"] })).toMatchObject({ stop: ["a", "b", "c", "d"] });
  expect(await refusalOf({ ...look, stop: ["a", "b", "c", "d", "e"] })).toMatch(/stop/);
});

test.each([["tool_choice"], ["parallel_tool_calls"], ["stream_options"]])("%s is not sent (C18)", async (field) => {
  expect(await refusalOf({ [field]: "auto" })).toContain(field);
});

test("json_object goes out, json_schema is refused (C19)", async () => {
  const format = { response_format: { type: "json_object" } };
  expect(await sentFor(format)).toMatchObject(format);
  expect(await refusalOf({ response_format: { type: "json_schema" } })).toMatch(/response_format\.type/);
});

test("documents go out in one request, however many (R5)", async () => {
  const { transport, upstream } = await transportFor([{ json: { results: [] } }]);
  const documents = Array.from({ length: 1000 }, (_, index) => `document ${index}`);
  await transport.rerank({ model: "r", query: "q", documents });
  expect(upstream.requests).toHaveLength(1);
  expect((upstream.requests[0]!.body as { readonly documents: unknown }).documents).toHaveLength(1000);
});

test("lists of token ids are refused, texts go out as they are (M5)", async () => {
  const { transport, upstream } = await transportFor([vectors(1)]);
  const ids = { model: "m", input: [1, 2, 3] } as unknown as { readonly model: string; readonly input: string[] };
  expect(await failure(transport.embeddings(ids))).toMatchObject({ code: "request", attempts: 0 });
  await transport.embeddings({ model: "m", input: "one text" });
  expect(upstream.requests.map(({ body }) => body)).toEqual([
    { model: "m", input: "one text", encoding_format: "base64" },
  ]);
});

const codesIn = (title: string) => title.match(/\b[ECRMV]\d+\b/g) ?? [];

/** Titles of tests in these folders. A title is the first argument of test, of describe, or of what an each returns. */
function titlesIn(folders: readonly string[]): string[] {
  const root = fileURLToPath(new URL("../", import.meta.url));
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => join(root, folder, name)),
  );
  return files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/(?:test|describe|\]|const)\)?\(\s*"([^"]+)"/g)].map(([, title]) => title!),
  );
}

test("every decision has a test that is named by it", () => {
  const named = new Set(titlesIn(["transport", "models", "contract"]).flatMap(codesIn));
  expect(Object.keys(decisions).filter((id) => !named.has(id))).toEqual([]);
  // And the search is one that can fail.
  expect(named).not.toContain("E12");
});

test("every code at the end of a title is explained in the legend", () => {
  const codes = titlesIn(["."]).flatMap((title) => codesIn(/\((?:[A-Z]\d+(?:, )?)+\)$/.exec(title)?.[0] ?? ""));
  expect(codes.length).toBeGreaterThan(80);
  expect(codes.filter((code) => !(code in decisions))).toEqual([]);
});
