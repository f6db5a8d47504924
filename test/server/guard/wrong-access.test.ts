import { describe, expect, onTestFinished, test } from "vitest";
import { createHandler } from "../../../src/server/create-handler.js";
import type { AccessOf } from "../../../src/server/access.js";
import type { KnowledgeBase } from "../../../src/knowledge-base/options.js";
import { served } from "../../support/served.js";

const documents = [
  { uri: "north:keys", text: "API keys of north expire after 90 days.", metadata: { tenant: "north" } },
];
const filter = { metadata: { tenant: "north" } };

class Limits {
  readonly owner = "ada";
  get filter() {
    return filter;
  }
}

const lacking = (given: object) => Object.assign(given, { product: { exists: false } });

const wrong: readonly (readonly [string, unknown])[] = [
  ["a mistyped name", { filters: filter }],
  ["a filter that turned out undefined", { filter: undefined }],
  ["a filter that is null", { filter: null }],
  ["a filter without a condition", { filter: {} }],
  ["a filter of a field that turned out undefined", { filter: { metadata: { tenant: undefined } } }],
  ["a filter and a name that does not exist", { filter, tenant: "north" }],
  ["an owner that turned out undefined", { filter, owner: undefined }],
  ["an owner of nothing", { filter, owner: "" }],
  ["a number for an owner", { filter, owner: 7 }],
  ["a role that does not exist", { filter, role: "owner" }],
  ["a role that turned out undefined", { filter, role: undefined }],
  ["a list of roles", { filter, role: ["ask"] }],
  ["metadata that JSON has no form for", { filter, metadata: { at: new Date(0) } }],
  ["true", true],
  ["false", false],
  ["null", null],
  ["a number", 0],
  ["a text", "ada"],
  ["nothing but a text of no length", ""],
  ["a list", [{ filter }]],
  ["an empty list", []],
  ["a function", () => ({ filter })],
  ["a Map", new Map([["filter", filter]])],
  ["a Headers", new Headers({ filter: "north" })],
  ["an error that was returned", new Error("not signed in")],
  ["an instance of a class whose filter is a getter", new Limits()],
  ["an object that inherits its filter", Object.create({ filter })],
  ["an object without a prototype", Object.assign(Object.create(null) as object, { filters: filter })],
  ["a getter", Object.defineProperty({}, "filter", { get: () => filter, enumerable: true })],
  ["a filter that cannot be seen", Object.defineProperty({}, "filter", { value: filter, enumerable: false })],
  ["a proxy", new Proxy({}, { get: (_, name) => (name === "filter" ? filter : undefined) })],
  [
    "conditions of which one is inherited",
    { filter: { metadata: lacking(Object.create({ tenant: "north" }) as object) } },
  ],
  ["conditions behind a proxy", { filter: { metadata: new Proxy(lacking({}), {}) } }],
  ["a filter with a symbol as a name", { filter: { metadata: lacking({}), [Symbol("all")]: [filter] } }],
  ["a symbol as a name", { [Symbol("filter")]: filter }],
];

async function statusesWith(kb: KnowledgeBase, access: AccessOf, onError?: (error: unknown) => void) {
  const handler = createHandler(kb, { access, ...(onError && { onError }) });
  onTestFinished(handler.close);
  const question = { question: "When do API keys expire?" };
  const body = JSON.stringify(question);
  const chat = JSON.stringify({ model: "citewell", messages: [{ role: "user", content: question.question }] });
  const replies = [
    await handler.fetch(new Request("https://docs.example/api/documents")),
    await handler.fetch(new Request("https://docs.example/api/search", { method: "POST", body })),
    await handler.fetch(new Request("https://docs.example/v1/chat/completions", { method: "POST", body: chat })),
  ];
  const texts = await Promise.all(replies.map((reply) => reply.text()));
  return { statuses: replies.map(({ status }) => status), text: texts.join("\n") };
}

describe("a function of the access that returns", () => {
  test("anything but what it may lets nobody see anything, and the log says why once", async () => {
    const { kb } = await served(documents);
    for (const [what, given] of wrong) {
      for (const access of [() => given as never, async () => given as never] satisfies AccessOf[]) {
        const told: Error[] = [];
        const { statuses, text } = await statusesWith(kb, access, (error) => told.push(error as Error));
        expect({ what, statuses }).toEqual({ what, statuses: [500, 500, 500] });
        expect(text).toContain("The server failed to answer. Its log says why");
        expect(text).not.toMatch(/north|90 days|access/);
        expect(told.map(({ message }) => message)).toEqual([expect.stringMatching(/^access: /)]);
      }
    }
  });

  test("undefined is refused with 401, and what is right is let in", async () => {
    const { kb } = await served(documents);
    expect((await statusesWith(kb, () => undefined)).statuses).toEqual([401, 401, 401]);
    const right = { filter, owner: "ada", metadata: { tenant: "north", groups: ["a"] }, role: "ask" } as const;
    expect((await statusesWith(kb, () => right)).statuses).toEqual([200, 200, 200]);
    expect((await statusesWith(kb, async () => ({}))).statuses).toEqual([200, 200, 200]);
  });

  test("a wrong thing is a warning of the process where nobody listens to errors", async () => {
    const { kb } = await served(documents);
    const warnings: Error[] = [];
    const hear = (warning: Error) => void warnings.push(warning);
    process.on("warning", hear);
    onTestFinished(() => void process.off("warning", hear));
    await statusesWith(kb, () => ({ filters: filter }) as never);
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings.map(({ message }) => message)).toEqual([
      'access: there is no option "filters"; did you mean "filter"?',
    ]);
  });

  test("the token of a request does not write it into the log", async () => {
    const { kb } = await served(documents);
    const told: Error[] = [];
    await statusesWith(
      kb,
      () => "eyJhbGciOi.secret" as never,
      (error) => told.push(error as Error),
    );
    expect(told.map(({ message }) => message).join()).not.toContain("eyJ");
  });
});
