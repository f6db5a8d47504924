import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ReconciliationError } from "../../../src/core/errors.js";
import { IngestLedger } from "../../../src/knowledge-base/ingest/ledger.js";
import { collect } from "../../../src/core/stream.js";

const documents = (...uris: string[]) => uris.map((uri) => ({ uri, text: "x" }));

describe("the ledger of an ingest", () => {
  test("gives every document exactly one outcome", async () => {
    const ledger = new IngestLedger();
    await collect(ledger.reading(documents("a", "b", "c", "d")));
    ledger.add({ type: "document", uri: "a", outcome: "added", chunks: 3 });
    ledger.add({ type: "document", uri: "b", outcome: "updated", chunks: 2, deletedChunks: 1 });
    ledger.add({ type: "document", uri: "c", outcome: "unchanged", chunks: 5 });
    ledger.add({ type: "document", uri: "gone", outcome: "deleted", chunks: 0, deletedChunks: 4 });
    ledger.add({ type: "progress", what: "chunks", count: 5 });
    ledger.add({ type: "progress", what: "reused", count: 1 });
    const report = ledger.report(new Map([["d", new Error("poisoned")]]));
    expect(report.documents).toEqual({ added: 1, updated: 1, unchanged: 1, deleted: 1, failed: 1 });
    expect(report.chunks).toEqual({ total: 10, embedded: 4, reused: 6, deleted: 5 });
    expect(report.failures).toEqual([{ uri: "d", error: new Error("poisoned") }]);
  });

  test("throws if a document that was read has no outcome", async () => {
    const ledger = new IngestLedger();
    await collect(ledger.reading(documents("a", "b")));
    ledger.add({ type: "document", uri: "a", outcome: "added", chunks: 1 });
    expect(() => ledger.report(new Map())).toThrow(ReconciliationError);
    expect(() => ledger.report(new Map())).toThrow(/2 documents were read, but 1 .* b\./);
  });

  test("counts a document that was read twice once, with its first outcome", async () => {
    const ledger = new IngestLedger();
    await collect(ledger.reading(documents("a", "a")));
    ledger.add({ type: "document", uri: "a", outcome: "added", chunks: 1 });
    ledger.add({ type: "document", uri: "a", outcome: "unchanged", chunks: 1 });
    expect(ledger.report(new Map()).documents).toMatchObject({ added: 1, unchanged: 0 });
  });

  test("counts what documents were read without, by kind, and fails none for it", async () => {
    const ledger = new IngestLedger();
    await collect(ledger.reading(documents("a.eml", "b.eml", "c.html")));
    for (const uri of ["a.eml", "b.eml", "c.html"]) ledger.add({ type: "document", uri, outcome: "added", chunks: 1 });
    expect(ledger.report(new Map())).not.toHaveProperty("leftOut");
    const leftOut = (uri: string, what: string, count: number) =>
      ledger.add({ type: "left-out", uri, what, count, example: "Dear" });
    leftOut("a.eml", "earlier mails", 2);
    leftOut("c.html", "captions", 4);
    leftOut("b.eml", "earlier mails", 1);
    const report = ledger.report(new Map());
    expect(report.leftOut).toEqual([
      { what: "earlier mails", count: 3, documents: 2, uri: "a.eml" },
      { what: "captions", count: 4, documents: 1, uri: "c.html" },
    ]);
    expect(report.documents).toMatchObject({ added: 3, failed: 0 });
    expect([report.failures, report.skipped, report.warnings]).toEqual([[], [], []]);
  });

  test("names a file that takes more than three seconds to read, until it is read", () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const ledger = new IngestLedger();
    ledger.add({ type: "reading", uri: "quick", isOver: false });
    ledger.add({ type: "reading", uri: "slow", isOver: false });
    vi.advanceTimersByTime(2500);
    ledger.add({ type: "reading", uri: "quick", isOver: true });
    expect(ledger.progress()).not.toHaveProperty("slowFile");
    vi.advanceTimersByTime(1000);
    expect(ledger.progress().slowFile).toBe("slow");
    ledger.add({ type: "reading", uri: "slow", isOver: true });
    expect(ledger.progress()).not.toHaveProperty("slowFile");
  });
});
