import * as fc from "fast-check";
import { expect, test } from "vitest";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { embedder } from "../../src/models/embedder.js";
import { Pipeline } from "../../src/core/pipeline.js";
import { chunk } from "../../src/stages/indexing/chunk.js";
import { embedChunks } from "../../src/stages/indexing/embed-chunks.js";
import { collect } from "../../src/core/stream.js";
import { embeddingText } from "../../src/text/chunking/chunk-identity.js";
import { raisedMargin, withinMargin } from "../../src/text/tokens/token-margin.js";
import { defaultTokens } from "../../src/text/tokens/tokens.js";
import type { Document } from "../../src/core/types.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { transportFor } from "../support/transport-for.js";

test.each([
  [1, { texts: 4, counted: 1000, used: 900 }, 1],
  [1, { texts: 4, counted: 1000, used: 1001 }, 1.05],
  [1, { texts: 4, counted: 1000, used: 1300 }, 1.3],
  [1.05, { texts: 4, counted: 1000, used: 1310 }, 1.35],
  [1.3, { texts: 4, counted: 1000, used: 1100 }, 1.3],
  [1, { texts: 4, counted: 100, used: 108 }, 1],
  [1, { texts: 4, counted: 4 * 63, used: 300 }, 1],
  [1, { texts: 4, counted: 4 * 64, used: 2 * 4 * 64 }, 2],
  [1, { texts: 4, counted: 1000, used: 4000 }, 4],
  [1, { texts: 4, counted: 1000, used: 4001 }, 1],
  [1, { texts: 0, counted: 0, used: 0 }, 1],
])("a margin of %d becomes, by %j, %d", (margin, call, raised) => {
  expect(raisedMargin(margin, call)).toBeCloseTo(raised, 10);
});

test("a margin never falls, goes up in twentieths, and then holds for the call that raised it", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 20, max: 80 }),
      fc.integer({ min: 64, max: 9000 }),
      fc.nat(36_000),
      (steps, counted, used) => {
        const raised = raisedMargin(steps / 20, { texts: 1, counted, used });
        expect(raised).toBeGreaterThanOrEqual(steps / 20);
        expect(Math.abs(raised * 20 - Math.round(raised * 20))).toBeLessThan(1e-9);
        if (used <= 4 * counted) expect(raised * counted).toBeGreaterThanOrEqual(used - 1e-6);
      },
    ),
  );
});

/** A service that counts 1.3 tokens for each of ours and takes at most 512 in a text. */
const dear = (text: string) => Math.ceil(defaultTokens.count(text) * 1.3);
const dearService = ({ body }: { readonly body: unknown }) => {
  const { input } = body as { readonly input: readonly string[] };
  if (input.some((text) => dear(text) > 512)) {
    return { status: 413, json: { code: 20042, message: "input must have less than 512 tokens", data: null } };
  }
  const data = input.map((_, index) => ({ index, embedding: [1, index] }));
  return { json: { data, usage: { prompt_tokens: input.reduce((sum, text) => sum + dear(text), 0) } } };
};
const long = (uri: string): Document => ({ uri, text: `${uri} has a sentence of several words. `.repeat(300) });

test("once a service was seen to count more than we do, no chunk is over its limit as it counts", async () => {
  const { transport } = await transportFor(dearService);
  const learned: number[] = [];
  const embed = embedder(transport, { model: "test/embed", onTokenMargin: (margin) => learned.push(margin) });
  const flow = Pipeline.from<Document>()
    .pipe(chunk({ for: embed, maxTokens: 512 }))
    .pipe(embedChunks(embed));
  const short = { uri: "memo:short", text: long("memo:short").text.slice(0, 900) };
  await collect(flow.stream([short]));
  expect(embed.tokenMargin).toBeCloseTo(1.35, 10);
  expect(learned).toEqual([embed.tokenMargin]);
  const chunks = await collect(flow.stream([long("memo:1"), long("memo:2")]));
  expect(chunks.length).toBeGreaterThan(10);
  expect(Math.max(...chunks.map((each) => dear(embeddingText(each))))).toBeLessThanOrEqual(512);
});

test("a margin that an earlier run learned holds from the first chunk on, and changes nothing where there is room", async () => {
  const { transport } = await transportFor(dearService);
  const texts = async (tokenMargin: number, maxTokens: number) => {
    const embed = embedder(transport, { model: "test/embed", tokenMargin });
    const found = await collect(
      Pipeline.from<Document>()
        .pipe(chunk({ for: embed, maxTokens }))
        .stream([long("memo:1")]),
    );
    return found.map((each) => each.text);
  };
  for (const text of await texts(1.35, 512)) expect(dear(text)).toBeLessThanOrEqual(512);
  expect(await texts(1.35, 256)).toEqual(await texts(1, 256));
  expect(withinMargin(512, 1.35)).toBe(379);
});

test("questions and the counts of a counter of one's own raise no margin", async () => {
  const { transport } = await transportFor(dearService);
  const text = long("memo:1").text.slice(0, 900);
  const embed = embedder(transport, { model: "test/embed" });
  await embed.embed([text], { purpose: "query" });
  expect(embed.tokenMargin).toBe(1);
  const own = embedder(transport, { model: "test/embed", tokens: { name: "own", count: defaultTokens.count } });
  await own.embed([text]);
  expect(own.tokenMargin).toBe(1);
});

test("texts that the caller has counted are not counted again, unless others are sent", async () => {
  const { transport } = await transportFor(dearService);
  const text = long("memo:1").text.slice(0, 900);
  const call = { countedTokens: defaultTokens.count(text) / 2 };
  const embed = embedder(transport, { model: "test/embed" });
  await embed.embed([text], call);
  expect(embed.tokenMargin).toBeGreaterThan(2.5);
  const prefixed = embedder(transport, { model: "test/embed", documentPrefix: "passage: " });
  await prefixed.embed([text], call);
  expect(prefixed.tokenMargin).toBeLessThan(1.4);
});

test("the store keeps what was learned, so that the next run begins with it, and cuts nothing anew for less", async () => {
  const path = await temporaryFolder();
  const { transport } = await transportFor(dearService);
  const open = () =>
    openKnowledgeBase({ path, transport, models: { embedding: "test/embed" }, chunk: { maxTokens: 512 } });
  const first = await open();
  await first.ingest([{ uri: "memo:short", text: long("memo:short").text.slice(0, 900) }]);
  expect(first.store.tokenMargin).toBeCloseTo(1.35, 10);
  await first.store.write({ tokenMargin: 1.1 });
  await first.close();

  const second = await open();
  expect(second.store.tokenMargin).toBeCloseTo(1.35, 10);
  const report = await second.ingest([long("memo:1")]);
  expect(report.documents).toMatchObject({ added: 1, failed: 0 });
  expect((await second.ingest([long("memo:1")])).documents).toMatchObject({ unchanged: 1 });
  await second.close();
});
