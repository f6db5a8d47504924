import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import fc from "fast-check";
import { Agent } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { TransportError } from "../../../src/core/errors.js";
import { openCassette } from "../../../src/transport/cassette/cassette.js";
import { keepSecret } from "../../../src/transport/failures/secrecy.js";
import { createTransport } from "../../../src/transport/transport.js";
import { type ScriptedReply, scriptedUpstream } from "../../support/scripted-upstream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { chunk, failure, transportFor } from "../../support/transport-for.js";
import { taskBody } from "../../support/video-task.js";

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

/** The ways in which services and gateways repeat a key that they did not accept. */
const echoes: readonly (readonly [string, (key: string) => string])[] = [
  ["with its middle starred out", (key) => `${key.slice(0, 8)}*****${key.slice(-8)}`],
  ["cut after its beginning", (key) => `${key.slice(0, 11)}…`],
  ["by its end", (key) => `the key that ends in ${key.slice(-8)}`],
  ["as the whole header", (key) => `Bearer ${key}`],
  ["in Base64", (key) => btoa(key)],
  ["in Base64 behind a user's name", (key) => `Basic ${btoa(`user:${key}`)}`],
  ["in Base64 as the user's name", (key) => `Basic ${btoa(`${key}:`)}`],
  ["in Base64 with the scheme", (key) => btoa(`Bearer ${key}`)],
  ["in Base64 for addresses", (key) => Buffer.from(`{"k":"${key}"}`).toString("base64url")],
  ["escaped for an address", (key) => encodeURIComponent(key)],
  ["escaped for an address twice", (key) => encodeURIComponent(encodeURIComponent(`key=${key}`))],
  ["in Base64 escaped for an address", (key) => encodeURIComponent(btoa(`a${key}`))],
  ["in JSON within JSON", (key) => JSON.stringify({ said: JSON.stringify({ key }) })],
  ["with every character escaped for JSON", (key) => escaped(key, (code) => `\\u00${code.toString(16)}`)],
  ["with escaped slashes", (key) => key.replaceAll("/", "\\/")],
  ["escaped for HTML", (key) => escaped(key, (code) => `&#${code};`)],
  ["with named characters of HTML", (key) => key.replaceAll("&", "&amp;").replaceAll("<", "&lt;")],
];

function escaped(key: string, escape: (code: number) => string): string {
  return key.replaceAll(/./g, (character) => escape(character.charCodeAt(0)));
}

/** Everything that a reader may get out of a text: the text, with its escapes undone, and its Base64 decoded. */
function readings(text: string): readonly string[] {
  const all = new Set([text]);
  for (const known of all) {
    if (all.size > 40) break;
    all.add(known.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))));
    all.add(
      known.replaceAll(/\\u00([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    );
    all.add(known.replaceAll(/\\(["\\/])/g, "$1"));
    all.add(known.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))));
    all.add(known.replaceAll("&lt;", "<").replaceAll("&amp;", "&"));
  }
  const decoded = [...all].flatMap((known) =>
    [...known.matchAll(/[\w+/-]{8,}/g)].flatMap(([letters]) =>
      [0, 1, 2, 3].map((skipped) => Buffer.from(letters.slice(skipped), "base64").toString("latin1")),
    ),
  );
  return [...all, ...decoded];
}

function expectHidden(text: string, key: string): void {
  for (const reading of readings(text)) {
    expect(reading).not.toContain(key.slice(0, 8));
    expect(reading).not.toContain(key.slice(-8));
  }
}

describe("a service that repeats the key", () => {
  const key = "sk-p/3+x&Qz<9_LmT4-w7Rk1/Vb\\5u";

  test.each(echoes)("%s shows it in no error and no event", async (_, echo) => {
    const printed: string[] = [];
    const said = { json: { error: { message: `no such key: ${echo(key)}`, code: echo(key) } } };
    const headers = { "x-request-id": encodeURI(echo(key)) };
    const { transport } = await transportFor(
      [
        { status: 500, ...said, headers },
        { status: 401, ...said, headers },
        { status: 400, text: `<p>${echo(key)}</p>` },
        { sse: [chunk({ content: `Your key is ${echo(key)}` })], destroy: true },
        { sse: [chunk({ content: `Your key is ${echo(key)}` })], destroy: true },
        { json: { model: echo(key), results: [] }, headers },
      ],
      { apiKey: key, maxRetries: 1, onEvent: (event) => printed.push(...texts(event)) },
    );
    for (let call = 0; call < 3; call++) {
      const error = (await failure(transport.chat(ask))) as Error;
      expect(error).toBeInstanceOf(TransportError);
      printed.push(...texts(error), ...texts(error.cause));
    }
    await transport.rerank({ model: "m", query: "q", documents: ["d"] });
    for (const text of printed) expectHidden(text, key);
    expect(printed.join(" ")).toContain("[key]");
  });

  test.each(echoes)("%s shows it in no cassette", async (_, echo) => {
    const path = join(await temporaryFolder(), "cassette.json");
    const upstream = await scriptedUpstream([
      { status: 401, json: { message: echo(key) }, headers: { "x-request-id": encodeURI(echo(key)) } },
      { status: 400, text: echo(key) },
    ]);
    const cassette = await openCassette(path, "record");
    const transport = createTransport({ baseUrl: upstream.baseUrl, apiKey: key, dispatcher: cassette });
    await failure(transport.chat(ask));
    await failure(transport.chat(ask));
    await transport.close();
    await cassette.close();
    const { exchanges } = JSON.parse(await readFile(path, "utf8")) as { exchanges: object[] };
    expect(exchanges).toHaveLength(2);
    for (const text of texts(exchanges)) expectHidden(text, key);
    expect(texts(exchanges).join(" ")).toContain("[key]");
  });

  test.each(echoes)("%s in the failure of a video shows it in no error", async (_, echo) => {
    const failed = { ...taskBody({ status: "failed" }), error: { code: echo(key), message: echo(key) } };
    const { transport } = await transportFor([{ json: failed }], { apiKey: key });
    const error = await failure(transport.waitForVideo("cgt-1"));
    expect(error).toMatchObject({ code: "failed", task: { status: "failed" } });
    for (const text of texts(error)) expectHidden(text, key);
  });
});

/** All texts in a value: of errors the message too. */
function texts(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.getOwnPropertyNames(value).flatMap((name) => texts((value as Readonly<Record<string, unknown>>)[name]));
}

describe("of a text that repeats a key in any of these ways", () => {
  const visible = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 12,
    maxLength: 64,
  });

  test("nothing is left by which the key could be known, and the rest is left", () => {
    fc.assert(
      fc.property(visible, fc.constantFrom(...echoes), fc.string(), fc.string(), (key, [, echo], before, after) => {
        const clean = keepSecret(key).redact(`${before} ${echo(key)} ${after}`);
        expectHidden(clean, key);
        expect(clean.startsWith(before)).toBe(true);
        expect(clean.endsWith(after)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test("nothing is left where the key itself looks escaped in another way", () => {
    const key = '!"!!!!%00!!"!!';
    expectHidden(keepSecret(key).redact(JSON.stringify({ said: JSON.stringify({ key }) })), key);
  });

  test("names of HTML characters may be written in capitals", () => {
    const key = "sk-p/3+x&Qz<9_LmT4";
    const { redact } = keepSecret(key);
    expect(redact(key.replaceAll("&", "&AMP;").replaceAll("<", "&Lt;"))).toBe("[key]");
  });

  test("escapes are undone up to three times", () => {
    const { redact } = keepSecret("sk-p/3+x&Qz<9_LmT4");
    const times = (count: number): string =>
      count === 0 ? "sk-p/3+x&Qz<9_LmT4" : encodeURIComponent(times(count - 1)).replaceAll(/[Ts_-]/g, hex);
    const hex = (character: string) => `%${character.charCodeAt(0).toString(16)}`;
    expect(redact(times(3))).toBe("[key]");
    expect(redact(times(4))).not.toContain("[key]");
  });

  test("data is copied with all its texts redacted, except objects of classes", () => {
    const { redactAll } = keepSecret(apiKey);
    const date = new Date(0);
    const data = { at: date, list: [apiKey, 1, null, undefined], inner: { text: `a ${apiKey}` } };
    const copy = redactAll(data);
    expect(copy).toEqual({ at: date, list: ["[key]", 1, null, undefined], inner: { text: "a [key]" } });
    expect(copy.at).toBe(date);
  });

  test("a text without the key stays as it is", () => {
    const { redact } = keepSecret(apiKey);
    fc.assert(fc.property(fc.string(), (text) => redact(text) === text));
    expect(redact("sk-very, 3456789")).toBe("sk-very, 3456789");
  });

  test("a key shorter than eight characters is hidden whole", () => {
    expect(keepSecret("key-1").redact("key-1, key-2, key%2D1")).toBe("[key], key-2, [key]");
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
