// In test:all alone: it splits long texts on threads and on this one and compares, for 30 s.
import * as fc from "fast-check";
import type { Worker } from "node:worker_threads";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { OptionsError } from "../../../src/core/errors.js";
import { createRunContext, Pipeline, type RunEvent } from "../../../src/core/pipeline.js";
import type { TokenCounter } from "../../../src/core/ports.js";
import { chunk } from "../../../src/stages/indexing/chunk.js";
import { SplittingThread, splitOnWorker } from "../../../src/stages/indexing/splitting/split-on-worker.js";

import { collect } from "../../../src/core/stream.js";
import { split, type Strategy } from "../../../src/text/chunking/split.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";
import type { Chunk, Document } from "../../../src/core/types.js";
import { countOpenModules, listsOpenFiles } from "../../support/open-modules.js";
import { temporaryFolder } from "../../store/temporary-folder.js";
import { hostileText } from "../../text/hostile-text.js";

const settings = { maxTokens: 40, overlapTokens: 8, parentTokens: 90, strategy: "structure" as Strategy };
const inline = (document: Document, { strategy, ...options } = settings) =>
  split(document, { ...options, tokens: defaultTokens }, strategy);

async function* arriving(documents: Iterable<Document>): AsyncGenerator<Document> {
  yield* documents;
}

/** Enough text for the chunk stage to start its thread. */
const paragraph = "A paragraph of the memo, of which there are some. It is not about anything, but it has words.\n\n";
const longMemo: Document = { uri: "memo:long", text: paragraph.repeat(4000) };

/** Collects the threads that start from here on. */
function startedThreads(): readonly Worker[] {
  const threads: Worker[] = [];
  const note = (worker: Worker) => void threads.push(worker);
  process.on("worker", note);
  onTestFinished(() => void process.off("worker", note));
  return threads;
}

async function chunksFromWorker(documents: readonly Document[], wanted = settings, module?: URL) {
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event) });
  const options = { settings: () => wanted, inline: (document: Document) => inline(document, wanted) };
  const found: Chunk[][] = [];
  const thread = new SplittingThread(module);
  for await (const { document, chunks } of splitOnWorker(arriving(documents), { ...options, thread }, context)) {
    expect(document).toBe(documents[found.length]);
    found.push([...chunks].filter((each) => each !== undefined));
  }
  return { found, events };
}

test.each<Strategy>(["structure", "fixed", "sentence-window"])(
  "a worker gives the same chunks as the main thread for any text, by %s",
  async (strategy) => {
    const anyDocument = fc.record(
      {
        uri: fc.string(),
        text: hostileText(60),
        title: fc.string(),
        mediaType: fc.constantFrom("text/markdown", "text/x-python"),
        anchors: fc.constantFrom([{ start: 0, page: 1 }], [{ start: 0, page: 1, heading: 2 }]),
      },
      { requiredKeys: ["uri", "text"] },
    );
    const documents = fc.sample(anyDocument, { numRuns: 200, seed: 5 });
    const wanted = { ...settings, strategy };
    const { found } = await chunksFromWorker(documents, wanted);
    expect(found).toEqual(documents.map((document) => [...inline(document, wanted)]));
    expect(found.flat().length).toBeGreaterThan(200);
  },
);

test("a large run gives the chunks that its documents give one by one, in order, and reports blank ones", async () => {
  const documents = [
    { uri: "memo:1", text: "Before the thread." },
    longMemo,
    { uri: "memo:blank", text: " \n" },
    ...Array.from({ length: 100 }, (_, at) => ({ uri: `memo:${at}`, text: `Memo ${at}.`, metadata: { at } })),
  ];
  const threads = startedThreads();
  const events: RunEvent[] = [];
  const found = await collect(
    Pipeline.from<Document>()
      .pipe(chunk())
      .stream(documents, { report: (event) => events.push(event) }),
  );
  expect(threads.map(({ threadId }) => threadId)).toEqual([-1]);
  const alone = documents.flatMap((document) =>
    [...split(document, { maxTokens: 384, overlapTokens: 32, parentTokens: 1024, tokens: defaultTokens })].map((each) =>
      Object.assign(each, { document }),
    ),
  );
  expect(found).toEqual(alone);
  expect(events).toEqual([{ type: "skipped", uri: "memo:blank", reason: "it is blank" }]);
});

test("short runs and custom token counters start no thread", async () => {
  const threads = startedThreads();
  const own: TokenCounter = { ...defaultTokens, name: "own" };
  await collect(
    Pipeline.from<Document>()
      .pipe(chunk())
      .stream([{ uri: "memo:1", text: paragraph }]),
  );
  const target = { maxInputTokens: 512, tokens: own };
  await collect(
    Pipeline.from<Document>()
      .pipe(chunk({ for: target }))
      .stream([longMemo]),
  );
  expect(threads).toEqual([]);
});

test("an error in splitting is thrown unchanged, after the chunks before it", async () => {
  const good = { uri: "memo:1", text: "ab" };
  const bad = { uri: "memo:2", text: "ab𒀀" };
  const tight = { ...settings, maxTokens: 2 };
  const context = createRunContext();
  const texts: string[] = [];
  const options = { settings: () => tight, inline: (document: Document) => inline(document, tight) };
  const reading = (async () => {
    for await (const { chunks } of splitOnWorker(arriving([good, bad]), options, context)) {
      for (const each of chunks) if (each) texts.push(each.text);
    }
  })();
  await expect(reading).rejects.toThrow(OptionsError);
  await expect(reading).rejects.toThrow(/memo:2/);
  expect(texts.join("")).toBe("abab");
});

test("an abort in the middle of a long text throws the caller's own reason and ends the thread", async () => {
  const threads = startedThreads();
  const abort = new AbortController();
  const reason = new Error("enough");
  const documents = (async function* () {
    yield longMemo;
    setTimeout(() => abort.abort(reason), 30);
    yield { uri: "memo:longer", text: paragraph.repeat(100_000) };
  })();
  const context = createRunContext({ signal: abort.signal });
  await expect(collect(chunk().run(documents, context))).rejects.toBe(reason);
  expect(threads.map(({ threadId }) => threadId)).toEqual([-1]);
});

test("leaving early ends the thread and closes the source", async () => {
  const threads = startedThreads();
  let closed = false;
  const documents = (async function* () {
    try {
      for (let at = 0; ; at++) yield { ...longMemo, uri: `memo:${at}` };
    } finally {
      closed = true;
    }
  })();
  for await (const { document } of chunk().run(documents, createRunContext())) if (document.uri === "memo:3") break;
  expect(threads.map(({ threadId }) => threadId)).toEqual([-1]);
  expect(closed).toBe(true);
});

test("only a few documents are read ahead of the reader", async () => {
  let read = 0;
  const documents = (async function* () {
    for (; read < 100; read++) yield { ...longMemo, uri: `memo:${read}` };
  })();
  for await (const _ of chunk().run(documents, createRunContext())) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    break;
  }
  expect(read).toBeLessThan(10);
});

test("when the thread ends there is a warning, and the documents are split without it", async () => {
  const program = join(temporaryFolder(), "program.mjs");
  writeFileSync(program, "process.exit(7)");
  const documents = [longMemo, { uri: "memo:1", text: "Words." }];
  const { found, events } = await chunksFromWorker(documents, settings, pathToFileURL(program));
  expect(found).toEqual(documents.map((document) => [...inline(document)]));
  expect(events).toEqual([{ type: "warning", message: expect.stringMatching(/ended: exit code 7.*without it/) }]);
});

test("a reader that stops early, as at the end of a budget, is not told that the thread has ended", async () => {
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event) });
  const documents = Array.from({ length: 60 }, (_, at) => ({ ...longMemo, uri: `memo:${at}` }));
  for await (const _ of splitOnWorker(arriving(documents), { settings: () => settings, inline }, context)) break;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(events).toEqual([]);
});

test.skipIf(!listsOpenFiles)("threads that are ended while they start leave none of their files open", async () => {
  const before = countOpenModules();
  for (let afterMs = 0; afterMs < 150; afterMs += 3) {
    const thread = new SplittingThread();
    await sleep(afterMs);
    await thread.end();
  }
  expect(countOpenModules()).toBe(before);
});
