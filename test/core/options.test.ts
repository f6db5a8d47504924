import { describe, expect, test } from "vitest";
import { z } from "zod";
import { OptionsError, TransportError, asError } from "../../src/core/errors.js";
import { resolve } from "../../src/core/options.js";

const Options = z.strictObject({
  maxTokens: z.int().min(16).max(8192).default(256),
  nested: z.strictObject({ name: z.string() }).optional(),
});

describe("resolve", () => {
  test("fills in defaults", () => {
    expect(resolve("chunk", Options, {})).toEqual({ maxTokens: 256 });
  });

  test.each([
    [{ maxTokens: 8 }, /^chunk: maxTokens: .*16.* \(got 8\)$/],
    [{ maxTokens: 16.5 }, /^chunk: maxTokens: .*int.* \(got 16\.5\)$/],
    [{ nested: { name: 3 } }, /^chunk: nested\.name: .*string.* \(got 3\)$/],
    [{ maxToken: 300 }, /^chunk: .*"maxToken"$/],
  ])("refuses %j with the owner, the field, the bound and the value", (given, message) => {
    const act = () => resolve("chunk", Options, given as z.input<typeof Options>);
    expect(act).toThrow(OptionsError);
    expect(act).toThrow(message);
  });

  test("cuts a long value short in the message", () => {
    const act = () => resolve("chunk", z.strictObject({ name: z.string().max(3) }), { name: "x".repeat(5000) });
    expect(act).toThrow(/got "x+\.\.\.\)$/);
  });
});

describe("errors", () => {
  test("carry their class's name, a code and the cause", () => {
    const cause = new Error("socket hang up");
    const error = new TransportError("network", "no connection", { cause, operation: "chat", attempts: 3 });
    expect(error).toMatchObject({ name: "TransportError", code: "network", cause, operation: "chat", attempts: 3 });
    expect(error).toBeInstanceOf(Error);
  });

  test("asError leaves an error as it is and wraps anything else with the original as cause", () => {
    const error = new Error("as it was");
    expect(asError(error)).toBe(error);
    expect(asError("a string")).toMatchObject({ message: "a string", cause: "a string" });
  });
});
