import { describe, expect, test } from "vitest";
import { z } from "zod";
import { FailedDocumentsError, LoadError, OptionsError, TransportError, asError } from "../../src/core/errors.js";
import { nearestName } from "../../src/core/options.js";
import { callersNames, optionsOf, resolve } from "../../src/core/options.js";

const Options = z.strictObject({
  maxTokens: z.int().min(16).max(8192).default(256),
  nested: z.strictObject({ name: z.string() }).optional(),
});
const Fields = z
  .strictObject({
    uri: z.union([z.string(), z.strictObject({ prefix: z.string() })]).optional(),
    metadata: z.exactOptional(z.unknown().pipe(callersNames(z.record(z.string(), z.string())))),
    not: z.lazy(() => Fields.optional()),
  })
  .refine((fields) => Object.keys(fields).length > 0, "names no condition") as z.ZodType<object, object>;

describe("resolve", () => {
  test("fills in defaults", () => {
    expect(resolve("chunk", Options, {})).toEqual({ maxTokens: 256 });
  });

  test.each([
    [{ maxTokens: 8 }, /^chunk: maxTokens: .*16.* \(got 8\)$/],
    [{ maxTokens: 16.5 }, /^chunk: maxTokens: .*int.* \(got 16\.5\)$/],
    [{ nested: { name: 3 } }, /^chunk: nested\.name: .*string.* \(got 3\)$/],
    [{ maxToken: 300 }, /^chunk: there is no option "maxToken"; did you mean "maxTokens"\?$/],
    [{ nested: { name: "a", nmae: "b" } }, /^chunk: there is no option "nested.nmae"; did you mean "name"\?$/],
    [{ colour: 1 }, /^chunk: there is no option "colour"; there are: maxTokens, nested$/],
    [{ name: "a" }, /^chunk: there is no option "name"; did you mean nested: \{ name: … \}\?$/],
    [{ "nested.name": "a" }, /^chunk: there is no option "nested.name"; did you mean nested: \{ name: … \}\?$/],
    [{ "nested.nmae": "a" }, /^chunk: there is no option "nested.nmae"; there are: maxTokens, nested$/],
    [{ constructor: 1 }, /^chunk: there is no option "constructor"; there are: maxTokens, nested$/],
    ["256", /^chunk: must be an object: \{ maxTokens, nested \} \(got "256"\)$/],
    [{ nested: 3 }, /^chunk: nested: must be an object: \{ name \} \(got 3\)$/],
  ])("refuses %j with the owner, the field, the bound and the value", (given, message) => {
    const act = () => resolve("chunk", Options, given as z.input<typeof Options>);
    expect(act).toThrow(OptionsError);
    expect(act).toThrow(message);
  });

  test.each([
    [
      "where any name would do",
      { tenant: "a" },
      'filter: there is no option "tenant"; did you mean metadata: { tenant: … }?',
    ],
    [
      "which was written as a path",
      { "metadata.tenant": "a" },
      'filter: there is no option "metadata.tenant"; did you mean metadata: { tenant: … }?',
    ],
    [
      "which is no word of the language",
      { "metadata.cost-centre": "a" },
      'filter: there is no option "metadata.cost-centre"; did you mean metadata: { "cost-centre": … }?',
    ],
    ["below itself", { not: { uri2: "a" } }, 'filter: there is no option "not.uri2"; did you mean "uri"?'],
    ["where there is a choice", { uri: { prefix: 3 } }, "filter: uri: Invalid input (got { prefix })"],
    ["in an empty one", {}, "filter: names no condition (got {})"],
  ])("names the fields of a schema in wrappers: %s", (_, given, message) => {
    expect(() => resolve("filter", Fields, given)).toThrow(expect.objectContaining({ message }));
  });

  test("a name that is no option is not taken for one of an option's free names, unless these are the caller's own", () => {
    const Loading = z.strictObject({
      loaders: z.record(z.string(), z.string()).default({}),
      timeoutMs: z.int().optional(),
    });
    for (const name of ["onFailure", "loaders.onFailure", "constructor"]) {
      const act = () => resolve("readFolder", Loading, { [name]: "skip" });
      expect(act).toThrow(`readFolder: there is no option ${JSON.stringify(name)}; there are: loaders, timeoutMs`);
    }
  });

  test("cuts a long value short in the message", () => {
    const act = () => resolve("chunk", z.strictObject({ name: z.string().max(3) }), { name: "x".repeat(5000) });
    expect(act).toThrow(/got "x+\.\.\.\)$/);
  });
});

describe("optionsOf", () => {
  interface Given {
    readonly maxTokens?: number;
    readonly names: readonly string[];
  }

  test("checks what the interface shows, and does not compile where the two differ", () => {
    const schema = optionsOf<Given>()({ maxTokens: z.int().default(3), names: z.array(z.string()) });
    expect(schema.parse({ names: [] })).toEqual({ maxTokens: 3, names: [] });
    expect(() => schema.parse({ names: [], more: 1 })).toThrow("more");
    // @ts-expect-error -- `names` is missing.
    optionsOf<Given>()({ maxTokens: z.int().default(3) });
    // @ts-expect-error -- `more` is not in the interface.
    optionsOf<Given>()({ maxTokens: z.int().default(3), names: z.array(z.string()), more: z.string() });
    // @ts-expect-error -- `maxTokens` is a number.
    optionsOf<Given>()({ maxTokens: z.string().default("3"), names: z.array(z.string()) });
  });
});

describe("nearestName", () => {
  const known = ["question", "filter", "filters2", "limit", "signal", "deadlineMs", "baseUrl", "maxTokens", "writes"];

  test.each([
    ["filtr", "filter"],
    ["fliter", "filter"],
    ["filters", "filter"],
    ["topK", "limit"],
    ["top_k", "limit"],
    ["abortSignal", "signal"],
    ["baseURL", "baseUrl"],
    ["base_url", "baseUrl"],
    ["maxToken", "maxTokens"],
    ["write", "writes"],
    ["deadline", "deadlineMs"],
    ["colour", undefined],
    ["x", undefined],
    ["constructor", undefined],
  ])("%s is taken for %s", (name, meant) => {
    expect(nearestName(name, known)).toBe(meant);
  });
});

describe("errors", () => {
  test("carry their class's name, a code and the cause", () => {
    const cause = new Error("socket hang up");
    const error = new TransportError("network", "no connection", { cause, operation: "chat", attempts: 3 });
    expect(error).toMatchObject({ name: "TransportError", code: "network", cause, operation: "chat", attempts: 3 });
    expect(error).toBeInstanceOf(Error);
  });

  test("are written in JSON with name, code and message, and never with their cause", () => {
    const cause = Object.assign(new Error("refused"), { headers: { authorization: "Bearer sk-1" } });
    const error = new TransportError("unauthorized", "The key is wrong", { cause, operation: "chat", status: 401 });
    const written = JSON.parse(JSON.stringify({ failed: error })) as { failed: object };
    expect(Object.keys(written.failed).slice(0, 3)).toEqual(["name", "code", "message"]);
    expect(written.failed).toEqual({
      name: "TransportError",
      code: "unauthorized",
      message: "The key is wrong",
      operation: "chat",
      status: 401,
      attempts: 0,
      retryable: false,
    });
    const failures = new Map([["a.md", new LoadError("empty", "a.md", "a.md is empty")]]);
    expect(JSON.parse(JSON.stringify(new FailedDocumentsError(failures)))).toMatchObject({
      name: "FailedDocumentsError",
      code: "documents-failed",
      failures: { "a.md": { name: "LoadError", code: "empty", message: "a.md is empty", uri: "a.md" } },
    });
  });

  test("asError leaves an error as it is and wraps anything else with the original as cause", () => {
    const error = new Error("as it was");
    expect(asError(error)).toBe(error);
    expect(asError("a string")).toMatchObject({ message: "a string", cause: "a string" });
  });
});
