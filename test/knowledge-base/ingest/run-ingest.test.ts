import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { stage } from "../../../src/core/pipeline.js";
import { runIngest } from "../../../src/knowledge-base/ingest/run.js";
import type { Document } from "../../../src/core/types.js";

const empty = { documents: async () => [], deleteDocuments: async () => ({ documents: 0, chunks: 0 }) };
const documents: readonly Document[] = [{ uri: "a", text: "A." }];

test("an ingest adds one listener to the caller's signal, however many calls listen, and removes it at the end", async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const calling = stage<Document, Document>("calling", async function* (source, context) {
    for await (const document of source) {
      for (let call = 0; call < 20; call++) context.signal.addEventListener("abort", () => {});
      listeners = getEventListeners(signal, "abort").length;
      context.report({ type: "document", uri: document.uri, outcome: "added", chunks: 1 });
      yield document;
    }
  });
  const { documents: counts } = await runIngest(documents, calling, empty, { signal });
  expect({ listeners, added: counts.added }).toEqual({ listeners: 1, added: 1 });
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("an abort in the middle of an ingest is thrown as the caller's own reason", async () => {
  const caller = new AbortController();
  const reason = new Error("enough");
  const stopping = stage<Document, Document>("stopping", async function* (source, { signal }) {
    for await (const document of source) {
      caller.abort(reason);
      signal.throwIfAborted();
      yield document;
    }
  });
  await expect(runIngest(documents, stopping, empty, { signal: caller.signal })).rejects.toBe(reason);
});

test.each<[unknown, RegExp]>([
  ["./docs", /^ingest: the source must hand out documents, as readFolder\("\.\/docs"\), .* \(got "\.\/docs"\)$/],
  [undefined, /^ingest: the source must hand out documents, .* \(got undefined\)$/],
  [{ read: () => [] }, /^ingest: the source must hand out documents/],
])("a source that JavaScript lets through is refused with what is wrong: %j", async (source, message) => {
  const nothing = stage<Document, Document>("nothing", async function* (all) {
    for await (const document of all) if (document.text === "never") yield document;
  });
  await expect(runIngest(source as readonly Document[], nothing, empty, {})).rejects.toMatchObject({
    code: "options",
    message: expect.stringMatching(message),
  });
});
