import { expect, test } from "vitest";
import { localDefaults } from "../../../src/contract/catalogue.js";
import { OptionsError } from "../../../src/core/errors.js";
import { startLocalService } from "../../../src/local/service.js";
import { reranker, type RerankerOptions } from "../../../src/models/reranker.js";
import { Pipeline } from "../../../src/core/pipeline.js";
import { rerank } from "../../../src/stages/retrieval/rerank.js";
import { collect } from "../../../src/core/stream.js";
import { createTransport } from "../../../src/transport/transport.js";
import type { Retrieved } from "../../../src/core/types.js";
import { localUpstream } from "../../support/local-upstream.js";
import { hit } from "../answering/scripted-model.js";

const local = localUpstream();

const filler = "The weather was fine and nobody said much about anything of note on that day. ".repeat(200);
const long = hit(`${filler}The sampler ratio defaults to one tenth.`, "long.md");
const near = hit("A sampler is chosen by name.", "near.md");
const asked: Retrieved = { question: "What does the sampler ratio default to?", hits: [near, long], trace: [] };

async function ranked(options: Omit<RerankerOptions, "model"> = {}) {
  const model = reranker(local.transport, { model: localDefaults.rerank, ...options });
  const [out] = await collect(
    Pipeline.from<Retrieved>()
      .pipe(rerank(model, { topN: 1 }))
      .stream([asked]),
  );
  return { uris: out!.hits.map(({ uri }) => uri), step: out!.trace.at(-1)! };
}

test("a long document is scored by its best piece, and topN keeps the best documents", async () => {
  const { uris, step } = await ranked({ overlapTokens: 80 });
  expect(uris).toEqual(["long.md"]);
  expect(step.dropped).toEqual([{ chunkId: near.chunk.id, reason: "ranked 2, and topN is 1" }]);
  expect(step).not.toHaveProperty("note");
});

test("a document with more pieces than maxChunksPerDoc is not read to its end", async () => {
  expect((await ranked({ maxChunksPerDoc: 1 })).uris).toEqual(["near.md"]);
});

test("an overlap beyond the service's limit of 80 tokens is refused before anything is sent", () => {
  expect(() => reranker(local.transport, { model: localDefaults.rerank, overlapTokens: 81 })).toThrow(OptionsError);
});

test("when the service is gone the order of the search is kept, within the run's time", async () => {
  const closed = await startLocalService();
  const gone = createTransport({ baseUrl: closed.url, apiKey: closed.apiKey });
  await closed.close();
  const asking = Pipeline.from<Retrieved>().pipe(
    rerank(reranker(gone, { model: localDefaults.rerank }), { topN: 1, reserveMs: 60_000 }),
  );
  const [out] = await collect(asking.stream([asked], { deadlineMs: 60_300 }));
  expect(out!.hits.map(({ uri }) => uri)).toEqual(["near.md"]);
  expect(out!.trace.at(-1)!.note).toMatch(/(?:failed|took more than).*: the order of the search was kept$/s);
  await gone.close();
});
