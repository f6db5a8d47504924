import fc from "fast-check";
import { expect, test } from "vitest";
import { DocumentBook } from "../../../src/knowledge-base/ingest/document-book.js";

const uri = fc.oneof(
  fc.integer({ min: 0, max: 12 }).map((number) => `file:///${number}`),
  fc.constantFrom("文档", "", "a"),
);
const outcome = fc.constantFrom("added", "updated", "unchanged", "deleted", "failed");
const note = fc.record({
  uri,
  settled: fc.option(fc.record({ outcome, chunks: fc.nat({ max: 1000 }) }), { nil: undefined }),
});

test("the book says what a set of read documents and a map of outcomes would say", () => {
  fc.assert(
    fc.property(fc.array(note, { maxLength: 80 }), (notes) => {
      const book = new DocumentBook();
      const read = new Set<string>();
      const outcomes = new Map<string, NonNullable<(typeof notes)[number]["settled"]>>();
      for (const { uri: of, settled } of notes) {
        if (settled) {
          book.settle(of, settled.outcome, settled.chunks);
          outcomes.set(of, settled);
        } else {
          book.noteRead(of);
          read.add(of);
        }
      }
      const documents = { added: 0, updated: 0, unchanged: 0, deleted: 0, failed: 0 };
      let chunks = 0;
      for (const settled of outcomes.values()) {
        documents[settled.outcome]++;
        chunks += settled.chunks;
      }
      expect(book.totals()).toEqual({ documents, chunks });
      expect([book.read, book.settled]).toEqual([read.size, outcomes.size]);
      expect([...book.unsettled()]).toEqual([...read].filter((of) => !outcomes.has(of)));
      for (const { uri: of } of notes) {
        expect(book.wasRead(of)).toBe(read.has(of));
        expect(book.isSettled(of)).toBe(outcomes.has(of));
      }
      expect(book.wasRead("never")).toBe(false);
    }),
  );
});

test("thousands of documents are kept apart", () => {
  const book = new DocumentBook();
  for (let number = 0; number < 5000; number++) book.noteRead(`file:///docs/${number}.md`);
  for (let number = 0; number < 5000; number += 2) book.settle(`file:///docs/${number}.md`, "added", 3);
  expect(book.totals()).toEqual({
    documents: { added: 2500, updated: 0, unchanged: 0, deleted: 0, failed: 0 },
    chunks: 7500,
  });
  expect([...book.unsettled()]).toHaveLength(2500);
});
