import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chatEngine } from "../../../src/local/engines/chat/chat-engine.js";
import { answerSchema } from "../../../src/local/engines/chat/values/json-schema.js";
import { structuredValue } from "../../../src/local/engines/chat/values/schema-value.js";
import { writtenDates, writtenNumbers } from "../../../src/local/engines/chat/values/written-values.js";
import { renderSourcedQuestion } from "../../../src/text/prompt/prompt.js";
import { readStructuredReply, structuredPrompt } from "../../../src/text/prompt/structured-reply.js";

const jsonSchema = (schema: z.ZodType) => {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: "input", target: "draft-7" });
  return described;
};

const keys = "Keys expire after 90 days, and at most 3 keys may be active at once.";
const renewal = "An administrator can renew a key once. Guests cannot renew keys.";
const plan = "The Team plan was released on 3 March 2024 and supports English, German and Japanese.";

describe("extracting values from sentences", () => {
  test.each([
    ["a number by the words beside it", z.number(), "After how many days do keys expire?", [keys], 90],
    ["another number of the same sentence", z.int(), "How many keys may be active at once?", [keys], 3],
    ["a number within its range only", z.int().max(10), "How many days?", [keys], 3],
    ["yes", z.boolean(), "Can an administrator renew a key?", ["An administrator can renew a key once."], true],
    ["no", z.boolean(), "Can guests renew keys?", ["Guests cannot renew keys."], false],
    ["an allowed value", z.enum(["free", "team", "company"]), "Which plan came in 2024?", [plan], "team"],
    ["a day", z.iso.date(), "When was the Team plan released?", [plan], "2024-03-03"],
    [
      "a list",
      z.array(z.string()),
      "Which languages does the plan support?",
      [plan],
      ["English", "German", "Japanese"],
    ],
    [
      "allowed values as a list",
      z.array(z.enum(["German", "French", "English"])),
      "Which languages?",
      [plan],
      ["English", "German"],
    ],
    ["numbers as a list", z.array(z.int()), "Which limits do keys have?", [keys], [90, 3]],
    ["null where nothing is found", z.number().nullable(), "How many?", ["Nobody knows."], null],
  ])("%s", (_, schema, question, said, expected) => {
    const value = structuredValue(jsonSchema(schema), question, said);
    expect(value).toEqual(expected);
    expect(schema.safeParse(value).success).toBe(true);
  });

  test("an object is filled by the names and descriptions of its fields, and optional fields only when found", () => {
    const schema = z.object({
      expiryDays: z.int().describe("Days until a key expires"),
      activeKeys: z.int(),
      price: z.object({ email: z.email() }).optional(),
    });
    expect(structuredValue(jsonSchema(schema), "What are the limits of keys?", [keys])).toEqual({
      expiryDays: 90,
      activeKeys: 3,
    });
  });

  test.each([
    ["a number", z.number(), ["Keys expire some day."]],
    ["a day", z.iso.date(), ["It happened on 31 February 2024."]],
    ["an allowed value", z.enum(["red", "blue"]), ["Its colour is described below, as bluer than green."]],
    ["a required field", z.object({ days: z.int(), email: z.email() }), [keys]],
    ["a longer list", z.array(z.int()).min(3), [keys]],
  ])("%s that is not there is not made up", (_, schema, said) => {
    expect(structuredValue(jsonSchema(schema), "What is it?", said)).toBeUndefined();
  });
});

async function draft(schema: z.ZodType, question: string, text: string) {
  const messages = [
    { role: "system" as const, text: structuredPrompt(jsonSchema(schema)), images: [] },
    {
      role: "user" as const,
      text: renderSourcedQuestion({ sources: [{ number: 1, uri: "a", text }], question }),
      images: [],
    },
  ];
  const call = { model: { id: "chat", type: "llm" }, signal: new AbortController().signal } as const;
  const { content } = await chatEngine().draft({ messages, tools: [], json: true, thinks: false }, call);
  return readStructuredReply(content);
}

test("a JSON reply fits the schema in the instructions and cites its source", async () => {
  const schema = z.object({ days: z.int() });
  expect(answerSchema(structuredPrompt(jsonSchema(schema)))).toEqual(jsonSchema(schema));
  expect(await draft(schema, "After how many days do keys expire?", `${keys} ${renewal}`)).toMatchObject({
    answered: true,
    answer: { days: 90 },
    sources: [{ number: 1 }],
  });
});

test("a JSON reply abstains when the sources cannot satisfy the schema", async () => {
  const reply = await draft(z.object({ email: z.email() }), "After how many days do keys expire?", keys);
  expect(reply).toMatchObject({ answered: false });
});

test("numbers are read with separators and multipliers, and digits inside names are ignored", () => {
  const numbers = (text: string) => writtenNumbers(text).map(({ value }) => value);
  expect(numbers("1,250 of 3.5 million, twelve and 2万")).toEqual([1250, 3_500_000, 12, 20_000]);
  expect(numbers("v2, utf8, 1.2.3 and x-7")).toEqual([]);
});

test("dates are read in several notations", () => {
  const text = "2024-02-29, 2024年3月1日, March 2nd, 2024 and 3 Mar 2024; not 2023-02-29.";
  expect(writtenDates(text).map(({ value }) => value)).toEqual([
    "2024-02-29",
    "2024-03-01",
    "2024-03-02",
    "2024-03-03",
  ]);
});
