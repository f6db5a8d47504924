import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Pipeline } from "../../src/core/pipeline.js";
import { collect } from "../../src/core/stream.js";
import type { Document } from "../../src/core/types.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { chunk } from "../../src/stages/indexing/chunk.js";
import { fitMetadata } from "../../src/stages/indexing/store.js";
import { createTransport } from "../../src/transport/transport.js";
import { scriptedUpstream } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Collects the warnings of the process and the errors that would have ended it. */
function watchProcess() {
  const warnings: string[] = [];
  const unhandled: unknown[] = [];
  const warn = (warning: Error & { readonly code?: string }) => {
    if (warning.code === "CITEWELL_OBSERVER") warnings.push(warning.message);
  };
  const reject = (reason: unknown) => unhandled.push(reason);
  process.on("warning", warn);
  process.on("unhandledRejection", reject);
  onTestFinished(() => {
    process.off("warning", warn);
    process.off("unhandledRejection", reject);
  });
  return { warnings, unhandled };
}

const documents = [1, 2, 3].map((at) => ({ uri: `note:${at}`, text: `Mole ${at} digs.` }));

test.each<[string, () => unknown]>([
  ["rejects", () => Promise.reject(new Error("no terminal"))],
  [
    "throws",
    () => {
      throw new Error("no terminal");
    },
  ],
  ["rejects with no error", () => Promise.reject(Object.create(null) as Error)],
])("an observer of a run that %s costs it nothing, and becomes one warning of the process", async (_, fail) => {
  const seen = watchProcess();
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  const report = await kb.ingest(documents, { onProgress: fail, report: fail });
  await sleep(10);
  expect(report.documents).toMatchObject({ added: 3, failed: 0 });
  expect(seen.unhandled).toEqual([]);
  expect(seen.warnings).toHaveLength(2);
  expect(new Set(seen.warnings.map((warning) => warning.split(" ")[0]))).toEqual(new Set(["onProgress", "report"]));
});

test("an observer of a pipeline's stream that rejects costs it nothing", async () => {
  const seen = watchProcess();
  const report = (async () => {
    throw new Error("no terminal");
  }) as () => void;
  const pipeline = Pipeline.from<Document>().pipe(fitMetadata({})).pipe(chunk());
  const blank = { uri: "blank", text: " " };
  expect(await collect(pipeline.stream([...documents, blank], { report }))).toHaveLength(3);
  await sleep(10);
  expect(seen).toEqual({ warnings: [expect.stringMatching(/^report failed, .*: no terminal$/)], unhandled: [] });
});

test("an observer of a transport that rejects costs the call nothing", async () => {
  const seen = watchProcess();
  const upstream = await scriptedUpstream([{ json: { data: [{ index: 0, embedding: [1, 0] }], model: "m" } }]);
  const onEvent = (async () => {
    throw new Error("no terminal");
  }) as () => void;
  const transport = createTransport({ baseUrl: upstream.baseUrl, apiKey: "k".repeat(20), onEvent });
  onTestFinished(() => transport.close());
  const { vectors } = await transport.embeddings({ model: "m", input: ["a"] });
  expect(vectors).toHaveLength(1);
  await sleep(10);
  expect(seen.unhandled).toEqual([]);
  expect(seen.warnings).toEqual([expect.stringMatching(/^onEvent failed/)]);
});
