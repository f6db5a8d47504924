import * as fc from "fast-check";
import { expect, test } from "vitest";
import { prepareSchema } from "../../../src/store/database/schema.js";
import { Texts } from "../../../src/store/database/texts.js";
import { SQLite } from "../../support/sqlite.js";

test("any span of a text reads as its slice", () => {
  const database = new SQLite(":memory:");
  prepareSchema(database, ":memory:");
  const texts = new Texts(database);
  const text = Array.from({ length: 4000 }, (_, at) => `${at} 🙂\ud800`).join(" ");
  texts.write(1, "another document");
  texts.write(2, "replaced".repeat(9000));
  texts.write(2, text);
  texts.write(3, "yet another");
  expect(texts.read(2)).toBe(text);
  expect(database.prepare("SELECT count(*) FROM texts").pluck().get()).toBe(2 + Math.ceil(text.length / 8192));
  const offset = fc.nat({ max: text.length + 10 });
  const slice = texts.slicer();
  fc.assert(
    fc.property(offset, offset, (start, end) => {
      expect(texts.slice(2, start, end)).toBe(text.slice(start, end));
      expect([slice(2, start, end), slice(1, 0, 7)]).toEqual([text.slice(start, end), "another"]);
    }),
  );
  expect(texts.slice(1, 8, 1e15)).toBe("document");
});

test.each([
  ["ASCII alone", "plain words "],
  ["letters of two bytes", "schöne Wörter "],
  ["a NUL, where SQLite ends a text", "plain \0 words "],
])("a span alone is the slice of a text with %s, over the ends of its pieces", (_, words) => {
  const database = new SQLite(":memory:");
  prepareSchema(database, ":memory:");
  const texts = new Texts(database);
  const text = words.repeat(2000).slice(0, 20_000);
  texts.write(1, text);
  const offset = fc.oneof(fc.nat({ max: text.length + 10 }), fc.constantFrom(0, 8191, 8192, 8193, 16_384, 20_000));
  fc.assert(
    fc.property(offset, offset, (start, end) => {
      expect(texts.slice(1, start, end)).toBe(text.slice(start, end));
    }),
  );
});

test("neighbouring spans are read without reading their piece of the text again", () => {
  let reads = 0;
  const database = new SQLite(":memory:", {
    verbose: (sql) => (reads += String(sql).startsWith("SELECT text") ? 1 : 0),
  });
  prepareSchema(database, ":memory:");
  const texts = new Texts(database);
  texts.write(1, "word ".repeat(3000));
  const slice = texts.slicer();
  for (let start = 0; start < 15_000; start += 100) slice(1, start, start + 100);
  expect(reads).toBe(2);
});
