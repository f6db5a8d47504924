import { expect, test } from "vitest";
import { TransportError } from "../../../src/core/errors.js";
import type { RunEvent } from "../../../src/core/pipeline.js";
import type { AnswerEvent } from "../../../src/core/types.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { memoryStore } from "../../support/memory-store.js";
import { wordEmbedder } from "../../support/word-embedder.js";
import { scriptedModel } from "../../stages/answering/scripted-model.js";

test("a report and its events keep the reason of every failure in JSON, and no field of a foreign error", async () => {
  const request = { headers: { authorization: "Bearer sk-very-secret" } };
  const foreign = Object.assign(new TypeError("x is undefined"), { code: "E_OWN", request });
  const before = () => {
    throw new TransportError("refused", "This text is refused", { operation: "embeddings", status: 422 });
  };
  const kb = await openKnowledgeBase({ embedder: wordEmbedder({ before }), store: memoryStore("words") });
  const source = {
    read: async function* ({ report, failures }: { report: (event: RunEvent) => void; failures: Map<string, Error> }) {
      failures.set("foreign.md", foreign);
      report({ type: "document", uri: "foreign.md", outcome: "failed", chunks: 0, error: foreign });
      yield { uri: "own.md", text: "word ".repeat(10) };
    },
    vanished: async () => false,
  };
  const events: RunEvent[] = [];
  const report = await kb.ingest(source as never, { report: (event) => events.push(event) });
  const written = JSON.parse(JSON.stringify(report)) as { failures: { uri: string; error: { message: string } }[] };
  expect(written.failures).toEqual([
    { uri: "foreign.md", error: { name: "TypeError", code: "E_OWN", message: "x is undefined" } },
    {
      uri: "own.md",
      error: expect.objectContaining({ name: "TransportError", code: "refused", status: 422 }) as object,
    },
  ]);
  expect(written.failures[1]!.error.message).toContain("own.md");
  const failed = events.filter((event) => event.type === "document");
  expect(JSON.parse(JSON.stringify(failed))).toMatchObject([
    { uri: "foreign.md", error: { name: "TypeError", code: "E_OWN", message: "x is undefined" } },
    { uri: "own.md", error: { name: "TransportError", message: expect.stringContaining("own.md") as string } },
  ]);
  expect(JSON.stringify([report, events])).not.toContain("sk-very-secret");
  expect(report.failures[0]!.error).toBe(foreign);
});

test("the error that ends an answer keeps its message in JSON, whatever its class", async () => {
  for (const error of [new TypeError("x is undefined"), new DOMException("enough", "AbortError")]) {
    const chatModel = scriptedModel([[error]]);
    const store = memoryStore("words");
    const kb = await openKnowledgeBase({ embedder: wordEmbedder(), store, chatModel });
    await kb.ingest([{ uri: "a", text: "Keys last 90 days." }]);
    const events: AnswerEvent[] = [];
    for await (const event of kb.ask("How long do keys last?")) events.push(event);
    expect(JSON.parse(JSON.stringify(events.at(-1)))).toMatchObject({
      type: "error",
      error: { name: error.name, message: error.message },
    });
    expect(events.at(-1)).toMatchObject({ error });
  }
});
