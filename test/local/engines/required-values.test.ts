import { expect, test } from "vitest";
import { z } from "zod";
import { neutralValue } from "../../../src/local/engines/chat/values/neutral-value.js";
import { requiredValue } from "../../../src/local/engines/chat/values/schema-value.js";

const jsonSchema = (schema: z.ZodType): Readonly<Record<string, unknown>> => z.toJSONSchema(schema);

interface Node {
  readonly name: string;
  readonly children: readonly Node[];
}
const Tree: z.ZodType<Node> = z.lazy(() => z.object({ name: z.string(), children: z.array(Tree) }));

test.each<[string, z.ZodType, unknown]>([
  ["an object", z.object({ a: z.string(), b: z.int(), c: z.boolean().optional() }), { a: "", b: 0 }],
  ["null", z.string().nullable(), null],
  ["an allowed value", z.enum(["low", "high"]), "low"],
  ["a constant", z.literal(7), 7],
  ["a default", z.string().default("usual"), "usual"],
  ["a list", z.array(z.string()), []],
  ["a list of some length", z.array(z.boolean()).min(2), [false, false]],
  ["a tuple", z.tuple([z.string(), z.number()]), ["", 0]],
  ["a number above a bound", z.number().min(3.5), 4],
  ["a number below a bound", z.int().lt(0), -1],
  ["a number between bounds", z.number().gt(0).lt(1), 0.5],
  ["a multiple", z.int().multipleOf(5).min(7), 10],
  ["a text of some length", z.string().min(3), "---"],
  ["an address", z.email(), "nobody@example.com"],
  ["a day", z.iso.date(), "1970-01-01"],
  ["a moment", z.iso.datetime(), "1970-01-01T00:00:00Z"],
  ["an id", z.uuid(), "00000000-0000-4000-8000-000000000000"],
  ["one of several", z.union([z.object({ kind: z.literal("a"), n: z.int() }), z.string()]), { kind: "a", n: 0 }],
  ["parts", z.object({ a: z.int() }).and(z.object({ b: z.string() })), { a: 0, b: "" }],
  ["a record", z.record(z.string(), z.int()), {}],
  ["a tree", Tree, { name: "", children: [] }],
])("the neutral value of %s satisfies its schema", (_, schema, expected) => {
  const described = jsonSchema(schema);
  const value = neutralValue(described, described);
  expect(value).toEqual(expected);
  expect(schema.safeParse(value).success).toBe(true);
});

test.each([
  [{ type: "string", minLength: -1 }, ""],
  [{ type: "string", minLength: 1e9 }, "-".repeat(2000)],
  [{ type: "array", minItems: -1 }, []],
])("bounds that no value has do no harm: %j", (schema, expected) => {
  expect(neutralValue(schema, schema)).toEqual(expected);
});

test("a schema that requires itself without an end has null at some depth", () => {
  const schema = { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] };
  expect(JSON.stringify(neutralValue(schema, schema))).toMatch(/"next":null\}+$/);
});

test("a schema that refers to itself many times is read a bounded number of times", () => {
  let reads = 0;
  const names = Array.from({ length: 10 }, (_, at) => `p${at}`);
  const schema = {
    properties: Object.fromEntries(names.map((name) => [name, { $ref: "#" }])),
    required: names,
    get type() {
      reads++;
      return "object";
    },
  };
  neutralValue(schema, schema);
  expect(reads).toBeGreaterThan(100);
  requiredValue(schema, "How many?", ["There are 3."]);
  // 10 properties at 6 levels would be a million values.
  expect(reads).toBeLessThan(50_000);
});

test("what the sentences hold goes into a required value, and only the rest is neutral", () => {
  const Event = z.object({
    days: z.int(),
    price: z.number().nullable(),
    place: z.union([z.object({ postcode: z.int(), city: z.string() }), z.null()]),
    guests: z.array(z.object({ age: z.int(), email: z.email() })),
  });
  const value = requiredValue(jsonSchema(Event), "How many days is it valid?", ["A ticket is valid for 3 days."]);
  expect(value).toMatchObject({ days: 3, guests: [] });
  expect(Event.safeParse(value).success).toBe(true);
});
