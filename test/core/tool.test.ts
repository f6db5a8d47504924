import { describe, expect, test } from "vitest";
import { z } from "zod";
import { OptionsError } from "../../src/core/errors.js";
import { tool } from "../../src/core/tool.js";

describe("tool", () => {
  test("describes its input to models as JSON Schema, with defaults and descriptions", () => {
    const weather = tool({
      name: "weather",
      description: "Current weather",
      input: z.object({ city: z.string().describe("City name"), unit: z.enum(["c", "f"]).default("c") }),
      run: ({ city, unit }) => `${city} ${unit}`,
    });
    expect(weather.parameters).toEqual({
      type: "object",
      properties: {
        city: { type: "string", description: "City name" },
        unit: { type: "string", enum: ["c", "f"], default: "c" },
      },
      required: ["city"],
    });
    expect(weather).toMatchObject({ writes: false, timeoutMs: 60_000 });
  });

  test.each<[string, Partial<Parameters<typeof tool>[0]>, RegExp]>([
    ["a schema that is no object", { input: z.string() }, /must be a schema of an object/],
    ["a schema without a JSON Schema", { input: z.object({ at: z.date() }) }, /no JSON Schema/],
    ["an empty name", { name: " " }, /name: must not be blank/],
    ["a time-out of nothing", { timeoutMs: 0 }, /timeoutMs: .*>=1 \(got 0\)/],
    ["a misspelt option", { write: true } as object, /there is no option "write"; did you mean "writes"/],
    ["a value that is no boolean", { writes: "yes" as unknown as boolean }, /writes: .*\(got "yes"\)/],
    ["something that is no function", { run: "rm" as never }, /run: must be a function/],
  ])("%s is refused", (_, wrong, message) => {
    const options = { name: "t", description: "", input: z.object({}), run: () => null, ...wrong };
    expect(() => tool(options)).toThrow(OptionsError);
    expect(() => tool(options)).toThrow(message);
  });
});
