import { inspect } from "node:util";
import { Agent } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { keepSecret } from "../../../src/transport/failures/transport-error.js";
import { createTransport } from "../../../src/transport/transport.js";
import type { ScriptedReply } from "../../support/scripted-upstream.js";
import { chunk, failure, transportFor } from "../../support/transport-for.js";

const apiKey = "sk-very-secret-0123456789";
const ask = { model: "m", messages: [{ role: "user" as const, content: "?" }] };
const everything = { depth: 20, showHidden: true, getters: true, maxStringLength: null };

/** All that a log, a debugger or an error page could print. */
function shown(value: unknown): string {
  return `${String(value)} ${inspect(value, everything)} ${JSON.stringify(value) ?? ""}`;
}

test("the key goes out as a bearer token, and only there", async () => {
  const { transport, upstream } = await transportFor([{ json: { results: [] } }], { apiKey });
  await transport.rerank({ model: "m", query: "q", documents: ["d"] });
  const [request] = upstream.requests;
  expect(request!.headers.authorization).toBe(`Bearer ${apiKey}`);
  const { authorization: _, ...others } = request!.headers;
  expect(shown([request!.path, others, request!.body])).not.toContain(apiKey);
});

test("without a key there is no such header", async () => {
  const { transport, upstream } = await transportFor([{ json: { results: [] } }], { apiKey: undefined });
  await transport.rerank({ model: "m", query: "q", documents: ["d"] });
  expect(upstream.requests[0]!.headers).not.toHaveProperty("authorization");
});

describe("nothing that can be printed shows the key:", () => {
  test("the transport", () => {
    const transport = createTransport({ baseUrl: "http://127.0.0.1:1", apiKey });
    expect(shown(transport)).not.toContain("very-secret");
  });

  test.each([`${apiKey}\n`, ` ${apiKey}`, `${apiKey}é`, ""])("the refusal of the key %j", (bad) => {
    let refusal: unknown;
    try {
      createTransport({ baseUrl: "http://127.0.0.1:1", apiKey: bad });
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ code: "options" });
    expect(shown(refusal)).not.toContain("very-secret");
  });

  test.each<[string, ScriptedReply]>([
    [
      "a refusal that repeats it",
      { status: 401, json: { error: { message: `Incorrect API key ${apiKey}`, code: apiKey } } },
    ],
    ["a page that repeats it", { status: 500, text: `<p>${apiKey}</p>` }],
    ["an id that repeats it", { status: 400, text: "no", headers: { "x-request-id": apiKey } }],
    ["a reply that is not JSON", { text: `token ${apiKey}` }],
    ["a broken connection", { destroy: true }],
    ["a stream that breaks off", { sse: [chunk({ content: `Your key is ${apiKey}` })], destroy: true }],
  ])("an error after %s", async (_, reply) => {
    const printed: string[] = [];
    const { transport } = await transportFor([reply], {
      apiKey,
      maxRetries: 0,
      onEvent: (event) => printed.push(shown(event)),
    });
    const error = await failure(transport.chat(ask));
    expect(shown(error)).not.toContain("very-secret");
    expect(printed.join()).not.toContain("very-secret");
  });

  test("an event of an attempt that is made again", async () => {
    const printed: string[] = [];
    const { transport } = await transportFor([{ status: 500, text: `broken: ${apiKey}` }, { status: 400 }], {
      apiKey,
      onEvent: (event) => printed.push(shown(event)),
    });
    await failure(transport.chat(ask));
    expect(printed.join()).toContain("broken: [key]");
    expect(printed.join()).not.toContain("very-secret");
  });

  test("an error of a dispatcher that holds the request", async () => {
    const agent = new Agent();
    onTestFinished(() => agent.close());
    const telling = agent.compose(() => (options) => {
      throw Object.assign(new Error("refused by an interceptor"), { options });
    });
    const transport = createTransport({ baseUrl: "http://127.0.0.1:1", apiKey, dispatcher: telling, maxRetries: 0 });
    const error = await failure(transport.chat(ask));
    expect(String(error)).toContain("refused by an interceptor");
    expect(shown(error)).not.toContain("very-secret");
  });
});

describe("the cause of an error", () => {
  const { safeCause } = keepSecret(apiKey);

  test("stays the same object when printing it shows no key", () => {
    const cause = Object.assign(new Error("broken"), { code: "ECONNRESET" });
    expect(safeCause(cause)).toBe(cause);
    expect(safeCause("a word")).toBe("a word");
  });

  test.each<[string, (cause: Error) => void]>([
    ["in a property", (cause) => Object.assign(cause, { options: { headers: [apiKey] } })],
    ["in a hidden property", (cause) => Object.defineProperty(cause, "hidden", { value: apiKey, enumerable: false })],
    ["behind a long text", (cause) => Object.assign(cause, { body: "x".repeat(50_000) + apiKey })],
    ["ten levels deep", (cause) => Object.assign(cause, { at: nested(10) })],
    ["in its own cause", (cause) => Object.assign(cause, { cause: new Error(apiKey) })],
  ])("is replaced by its message when it holds the key %s", (_where, hide) => {
    const cause = new Error(`refused for ${apiKey}`);
    hide(cause);
    const safe = safeCause(cause);
    expect(safe).not.toBe(cause);
    expect(String(safe)).toBe("Error: refused for [key]");
    expect(shown(safe)).not.toContain("very-secret");

    const silent = new Error("refused");
    hide(silent);
    expect(safeCause(silent)).not.toBe(silent);
    expect(shown(safeCause(silent))).not.toContain("very-secret");
  });
});

/** The key inside so many objects. */
function nested(levels: number): unknown {
  return levels === 0 ? apiKey : { inner: nested(levels - 1) };
}
