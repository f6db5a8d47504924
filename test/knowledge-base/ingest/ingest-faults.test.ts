import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { vectorKey } from "../../../src/text/chunking/chunk-identity.js";
import type { Document } from "../../../src/core/types.js";
import { embeddingReply, textsOf, vectorOf } from "../../support/embedding-service.js";
import type { RecordedRequest, ScriptedReply } from "../../support/scripted-upstream.js";
import { seededRandom } from "../../support/seeded-random.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { transportFor } from "../../support/transport-for.js";

/** Documents with distinct words; every 17th holds a text that no service accepts. */
function documents(count: number): Document[] {
  return Array.from({ length: count }, (_, number) => ({
    uri: `note:${number}`,
    mediaType: "text/markdown",
    text: [0, 1, 2]
      .map(
        (at) =>
          `Note ${number} says ${at === 1 && isPoisoned(number) ? "POISON" : "sense"} ${at}. ${"And more. ".repeat(30)}`,
      )
      .join("\n\n"),
  }));
}

const isPoisoned = (number: number) => number % 17 === 3;

/**
 * One request in five fails, each time in another way; a batch of more than 9 texts, or of more than 4,000 letters, is
 * refused with the two statuses that services have for it; a poisoned text is refused in any company.
 */
function faultyService(seed: number): (request: RecordedRequest) => ScriptedReply {
  const random = seededRandom(seed);
  const faults: readonly ScriptedReply[] = [
    { status: 429, retryAfterSeconds: 0 },
    { status: 500, text: "<html>oops</html>" },
    { status: 503 },
    { destroy: true },
    { json: { data: [], usage: {} } },
  ];
  return (request) => {
    if (random() < 0.2) return faults[Math.floor(random() * faults.length)]!;
    const texts = textsOf(request);
    if (texts.length > 9) return { status: 413, json: { code: 20042, message: "batch size too large", data: null } };
    if (texts.join("").length > 4000)
      return { status: 400, json: { code: 20015, message: "input too long", data: null } };
    if (texts.some((text) => text.includes("POISON"))) {
      return { status: 400, json: { code: 20015, message: "the input cannot be processed", data: null } };
    }
    return embeddingReply(request);
  };
}

test("a service that fails one request in five and refuses batches and some texts costs no healthy document", async () => {
  const { transport, upstream } = await transportFor(faultyService(5), { maxRetries: 8 });
  const kb = await openKnowledgeBase({
    path: join(await temporaryFolder(), "store"),
    transport,
    models: { embedding: "test/embed-m3" },
    chunk: { maxTokens: 128, overlapTokens: 0 },
    concurrency: 4,
  });
  onTestFinished(() => kb.close());
  const source = documents(120);
  const poisoned = source.filter((_, number) => isPoisoned(number)).map(({ uri }) => uri);

  const report = await kb.ingest(source);
  expect(report.failures.map(({ uri }) => uri).toSorted()).toEqual(poisoned.toSorted());
  expect(report.documents).toEqual({
    added: source.length - poisoned.length,
    updated: 0,
    unchanged: 0,
    deleted: 0,
    failed: poisoned.length,
  });
  expect(report.chunks.embedded + report.chunks.reused).toBe(report.chunks.total);

  // Every healthy document is stored completely, each chunk with the vector of its own text.
  const { hits } = await kb.search("note says sense", { mode: "lexical", count: 1000 });
  expect(hits).toHaveLength(report.chunks.total);
  expect(new Set(hits.map(({ uri }) => uri)).size).toBe(source.length - poisoned.length);
  const vectors = await kb.store.knownVectors(hits.map(({ chunk }) => vectorKey(chunk)));
  for (const { chunk } of hits) expect([...vectors.get(vectorKey(chunk))!]).toEqual(vectorOf(chunk.text));

  // The size that the service takes was learned: once it was known, a larger batch was only now and then tried. (One
  // trial counts several times when its attempts meet the other faults; without learning, nearly all would be larger.)
  const sizes = upstream.requests.map((request) => textsOf(request).length);
  const later = sizes.slice(Math.floor(sizes.length / 2));
  expect(later.filter((size) => size > 9).length).toBeLessThan(0.25 * later.length);

  // Only what failed is tried again; everything else is stored and paid for.
  const before = upstream.requests.length;
  const again = await kb.ingest(source);
  expect(again.documents).toMatchObject({ unchanged: source.length - poisoned.length, failed: poisoned.length });
  const resent = new Set(upstream.requests.slice(before).flatMap(textsOf));
  expect([...resent].every((text) => text.includes("POISON"))).toBe(true);
}, 60_000);
