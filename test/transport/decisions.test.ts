import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { failure, transportFor, vectors } from "../support/transport-for.js";

const message = { role: "user" as const, content: "?" };
const chatRequest = { model: "q", messages: [message] };
const models = [
  { id: "d", type: "llm" as const, family: "D" as const },
  { id: "see", type: "vlm" as const },
];
const whole = (...choices: readonly object[]) => ({ json: { choices } });
const said = (content: string, index = 0) => ({ index, message: { content }, finish_reason: "stop" });

/** What goes over the wire for a request to chat. */
async function sentFor(request: object): Promise<unknown> {
  const { transport, upstream } = await transportFor([whole(said("x"))], { models });
  await transport.chat({ ...chatRequest, ...request });
  return upstream.requests[0]!.body;
}

/** What a request is refused with, before anything is sent. */
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

/**
 * Where the contract is silent: what the client does. Each has a test that is named by it. V21, what a video counts for,
 * is the service's alone.
 */
const decisions: Readonly<Record<string, string>> = {
  E1: "every shape of error body is read",
  E2: "a model that is not published is told from all else",
  E3: "status codes have kinds",
  E4: "an error with status 200 is an error",
  E5: "what passes is sent again",
  E6: "the waits that services ask for are kept",
  E7: "the id of a request is found",
  E8: "budgets per minute are kept for each model",
  E9: "a key of another data center is suspected",
  E10: "pasted addresses are put right",
  E11: "bodies have a limit",
  C1: "stream always goes out, and either reply is read",
  C2: "a stream is put together",
  C3: "the last usage counts",
  C4: "reasons for the end are put into our words",
  C5: "max_tokens always goes out",
  C6: "numbers keep their bounds",
  C7: "presence_penalty is passed through",
  C8: "several choices are read",
  C9: "thinking is switched the way of the family",
  C10: "fields of another family are refused",
  C11: "thinking and sampling go together",
  C12: "there are three roles",
  C13: "there are ten messages",
  C14: "pictures have an address and a detail",
  C15: "a vision model stops as any other",
  C16: "one stop sequence becomes a list",
  C17: "content may be null",
  C18: "tool_choice is not sent",
  C19: "json_schema is refused",
  C20: "the model that answered is told",
  R1: "every naming is read",
  R2: "a document of null is none",
  R3: "top_n is clamped",
  R4: "no documents need no call",
  R5: "documents are not split unless the options say so",
  R6: "limits of long documents go out when they are set",
  R7: "results are put in order",
  R8: "scores have no scale",
  M1: "32 texts go into one request",
  M2: "the limit of a text is learned from its refusal",
  M3: "the limit of a batch is learned from its refusal",
  M4: "an empty text is refused",
  M5: "token ids are refused",
  M6: "vectors are decoded by what arrives",
  M7: "dimensions is sent to models that have several",
  M8: "vectors are checked against the texts",
  M9: "usage may lack fields",
  V1: "a task is asked for by GET",
  V2: "a task is read from whatever is told of it",
  V3: "numbers may be written as strings",
  V4: "a creation answers with an id",
  V5: "an expired task ends the wait",
  V6: "unknown statuses are waited out",
  V7: "tasks are listed",
  V8: "tasks are cancelled",
  V9: "records live for seven days",
  V10: "links live for a day",
  V11: "results are fetched without the key",
  V12: "a creation may take 15 minutes",
  V13: "a creation is never sent twice",
  V14: "a wait asks every 10 to 30 seconds",
  V15: "queries are sent again",
  V16: "the role has three places",
  V17: "defaults stay out",
  V18: "resolutions have no case",
  V19: "the ratio is the one that was chosen",
  V20: "a search that will not be done is warned of",
  V22: "ids are opaque",
  V23: "callbacks are hints",
  V24: "other formats of pictures are refused, but for models that take them",
  V25: "frames and references do not mix",
};

test("every decision has a test that is named by it", () => {
  const root = fileURLToPath(new URL("../", import.meta.url));
  const files = ["transport", "models", "contract"].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: "utf8" }).flatMap((name) =>
      name.endsWith(".test.ts") ? [join(root, room, name)] : [],
    ),
  );
  // A title is the first thing that test, describe or an each is called with.
  const titles = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/(?:test|describe|\]|const)\)?\(\s*"([^"]+)"/g)].map(([, title]) => title!),
  );
  const named = new Set(titles.flatMap((title) => title.match(/\b[ECRMV]\d+\b/g) ?? []));
  expect(Object.keys(decisions).filter((id) => !named.has(id))).toEqual([]);
  // And the search is one that can fail.
  expect(named).not.toContain("E12");
});
