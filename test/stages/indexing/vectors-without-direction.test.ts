import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";
import { embeddingReply, textsOf, vectorOf } from "../../support/embedding-service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { transportFor } from "../../support/transport-for.js";

test("a vector of an embedder of one's own with a number that is not finite costs its own document, not the run", async () => {
  const embedder = {
    space: "own",
    maxInputTokens: 512,
    maxBatchTexts: 32,
    tokens: defaultTokens,
    embed: async (texts: readonly string[]) => ({
      vectors: texts.map((text) => Float32Array.of(1, text.includes("broken") ? NaN : text.length)),
    }),
  };
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store"), embedder });
  onTestFinished(() => kb.close());
  const { documents, failures } = await kb.ingest([
    { uri: "note:1", text: "A whole note" },
    { uri: "note:2", text: "A broken note" },
    { uri: "note:3", text: "Another whole note" },
  ]);
  expect(documents).toMatchObject({ added: 2, failed: 1 });
  expect(failures).toEqual([
    { uri: "note:2", error: expect.objectContaining({ message: expect.stringContaining("not finite") }) },
  ]);
});

test("a text for which the service returns a zero vector fails its own document, and costs no other", async () => {
  const { transport, upstream } = await transportFor((request) => {
    const texts = textsOf(request);
    if (!texts.some((text) => text.includes("NOTHING"))) return embeddingReply(request);
    const data = texts.map((text, index) => ({
      index,
      embedding: text.includes("NOTHING") ? vectorOf(text).map(() => 0) : vectorOf(text),
    }));
    return { json: { data, usage: { prompt_tokens: 9, total_tokens: 9 } } };
  });
  const kb = await openKnowledgeBase({
    path: join(await temporaryFolder(), "store"),
    transport,
    models: { embedding: "test/embed-m3" },
  });
  onTestFinished(() => kb.close());
  const documents = Array.from({ length: 20 }, (_, number) => ({
    uri: `note:${number}`,
    text: number === 7 ? "NOTHING at all" : `Note ${number} says something`,
  }));
  const report = await kb.ingest(documents);
  expect(report.documents).toMatchObject({ added: 19, failed: 1 });
  expect(report.failures).toEqual([
    { uri: "note:7", error: expect.objectContaining({ message: expect.stringContaining("zeros") }) },
  ]);
  expect(upstream.requests).toHaveLength(1);
});
