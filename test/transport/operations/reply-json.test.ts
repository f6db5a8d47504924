import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { longStringsReader, readJson, utf8 } from "../../../src/transport/http/reply-json.js";

const read = longStringsReader("embedding");

/** The value read from the bytes, or the name of the error. */
function outcome(reader: typeof read, text: string | Buffer): unknown {
  try {
    return reader(Buffer.from(text as string));
  } catch (error) {
    return (error as Error).name;
  }
}

const name = fc.constantFrom("embedding", "index", "data", "object", "0", "__proto__", "emb");
const leaf = fc.oneof(
  fc.base64String({ maxLength: 40 }),
  fc.constantFrom("embedding", '"embedding":"', "0", "1", "ü", "\\", ""),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small" }, leaf, tie("list"), tie("record")),
  list: fc.array(tie("value"), { maxLength: 5 }),
  record: fc.array(fc.tuple(name, tie("value")), { maxLength: 5 }).map((fields) => Object.fromEntries(fields)),
}));

describe("a reply that is mostly long strings of one field", () => {
  test("is read as by JSON.parse, whatever it holds and however it is spaced", () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, "\t"), (body, space) => {
        const text = JSON.stringify(body, null, space);
        expect(outcome(read, text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test("is refused where JSON.parse refuses it, wherever it is cut or something is put in", () => {
    const whole = JSON.stringify({
      object: "embedding",
      data: [{ embedding: "AAAA", index: 0 }, { embedding: "BB==" }],
    });
    const place = fc.integer({ min: 0, max: whole.length });
    fc.assert(
      fc.property(place, place, fc.constantFrom("", '"', ":", ",", "\\", "{", " "), (from, to, more) => {
        const text = whole.slice(0, from) + more + whole.slice(to);
        expect(outcome(read, text)).toEqual(outcome(readJson, text));
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['{"embedding" : "AA", "data": [{"embedding":"BB"}]}', { embedding: "AA", data: [{ embedding: "BB" }] }],
    ['{"embedding":"first","embedding":"last"}', { embedding: "last" }],
    ['{"embedding":"AA\\/BB"}', { embedding: "AA/BB" }],
    ['{"\\u0065mbedding":"AA"}', { embedding: "AA" }],
    ['{"embedding":"ü"}', { embedding: "ü" }],
    ['{"embedding":[1,2],"data":[{"embedding":"AA"}]}', { embedding: [1, 2], data: [{ embedding: "AA" }] }],
    ['{"data":["embedding","embedding"]}', { data: ["embedding", "embedding"] }],
    ['\uFEFF{"embedding":"AA"}', { embedding: "AA" }],
  ])("%s is exact", (text, expected) => {
    expect(read(Buffer.from(text))).toEqual(expected);
  });
});

test("a byte order mark is no part of the text", () => {
  expect(utf8(Buffer.from("\uFEFFö\uFEFF"))).toBe("ö\uFEFF");
});
