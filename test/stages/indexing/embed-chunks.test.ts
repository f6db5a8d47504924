import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TransportError } from "../../../src/core/errors.js";
import { createRunContext, type RunEvent } from "../../../src/core/pipeline.js";
import { embedChunks, type EmbedChunksOptions } from "../../../src/stages/indexing/embed-chunks.js";
import type { DocumentChunk, Embedded } from "../../../src/core/types.js";
import { chunksOf } from "../../support/chunks-of.js";
import { wordEmbedder, wordVector, type WordEmbedder } from "../../support/word-embedder.js";

type Out = Embedded<DocumentChunk, "words">;

/** Runs to the end or to an error, and keeps the output before it. */
async function run(
  chunks: Iterable<DocumentChunk> | AsyncIterable<DocumentChunk>,
  embedder: WordEmbedder,
  options: EmbedChunksOptions = {},
  signal?: AbortSignal,
) {
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event), ...(signal && { signal }) });
  const out: Out[] = [];
  let thrown: unknown;
  try {
    const source = (async function* () {
      yield* chunks;
    })();
    for await (const chunk of embedChunks<"words", DocumentChunk>(embedder, options).run(source, context)) {
      out.push(chunk);
    }
  } catch (error) {
    thrown = error;
  }
  const total = (what: string) =>
    events.reduce((sum, event) => (event.type === "progress" && event.what === what ? sum + event.count : sum), 0);
  return { out, thrown, events, total, failures: context.failures };
}

function refuse(code: "refused" | "too-large" | "upstream" | "unauthorized") {
  return new TransportError(code, `the service says ${code}`);
}

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line number ${index}`);

describe("embedChunks", () => {
  test("reads one batch ahead of the calls in flight, and no more", async () => {
    let read = 0;
    let readMeanwhile: number | undefined;
    const embedder = wordEmbedder({
      maxBatchTexts: 1,
      before: async () => {
        // Enough turns for the source to hand out all that anybody asks for.
        for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
        readMeanwhile ??= read;
      },
    });
    const source = (async function* () {
      for (const chunk of chunksOf("doc", ...lines(9))) {
        read++;
        yield chunk;
      }
    })();
    expect((await run(source, embedder, { concurrency: 1 })).out).toHaveLength(9);
    // One in flight and one ahead.
    expect(readMeanwhile).toBe(2);
  });

  test("gives each chunk the vector of its own text, in order, whatever the limits, refusals and timing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.constantFrom("one", "two two", "three", "four five", "poison", "poison six", "x y z"))),
        fc.record({
          concurrency: fc.integer({ min: 1, max: 5 }),
          batchTexts: fc.integer({ min: 1, max: 6 }),
          batchTokens: fc.integer({ min: 1, max: 6 }),
          batchBytes: fc.integer({ min: 1, max: 40 }),
        }),
        fc.integer({ min: 1, max: 6 }),
        async (texts, options, mostTaken) => {
          const chunks = texts.flatMap((document, index) => chunksOf(`doc${index}`, ...document));
          const embedder = wordEmbedder({
            before: async (sent, _call, index) => {
              for (let turn = (index * 7) % 4; turn > 0; turn--) await new Promise(setImmediate);
              if (sent.length > mostTaken) throw refuse("too-large");
              if (sent.some((text) => text.startsWith("poison"))) throw refuse("refused");
            },
          });
          const { out, thrown, failures, total } = await run(chunks, embedder, options);
          expect(thrown).toBeUndefined();

          const isPoison = ({ text }: { text: string }) => text.startsWith("poison");
          const poisoned = new Set(chunks.filter(isPoison).map(({ documentId }) => documentId));
          expect(new Set(failures.keys())).toEqual(poisoned);
          const healthy = chunks.filter(({ documentId }) => !poisoned.has(documentId));
          expect(out.filter(({ documentId }) => !poisoned.has(documentId))).toEqual(
            healthy.map((chunk) => ({ ...chunk, vector: wordVector(chunk.text), space: "words" })),
          );
          for (const chunk of out) expect(chunk.vector).toEqual(wordVector(chunk.text));

          // Every accepted text was sent once, and the counts reconcile.
          const taken = embedder.calls.filter(
            (sent) => sent.length <= mostTaken && !sent.some((text) => isPoison({ text })),
          );
          expect(new Set(taken.flat()).size).toBe(taken.flat().length);
          expect(total("chunks")).toBe(out.length);
          expect(total("chunks") - total("reused")).toBeLessThanOrEqual(taken.flat().length);
          expect(total("requests")).toBe(embedder.calls.length);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("no call exceeds the limits on texts, tokens and bytes", async () => {
    const embedder = wordEmbedder({ maxBatchTexts: 7, maxBatchTokens: 18 });
    await run(chunksOf("doc", ...lines(40)), embedder, { batchBytes: 100 });
    expect(Math.max(...embedder.calls.map((sent) => sent.length))).toBeLessThanOrEqual(7);
    for (const sent of embedder.calls) {
      expect(sent.reduce((sum, text) => sum + embedder.tokens.count(text), 0)).toBeLessThanOrEqual(18);
      expect(JSON.stringify(sent).length - 1).toBeLessThanOrEqual(100);
    }
  });

  test("equal texts are sent once, and chunks that have a vector are not sent", async () => {
    const embedder = wordEmbedder();
    const vector = wordVector("known before");
    const known = { ...chunksOf("b", "known")[0]!, vector, space: "words" };
    const { out, total } = await run([...chunksOf("a", "same", "same", "other"), known], embedder);
    expect(embedder.calls).toEqual([["same", "other"]]);
    expect(out.map((chunk) => chunk.vector)).toEqual([
      wordVector("same"),
      wordVector("same"),
      wordVector("other"),
      vector,
    ]);
    expect({ chunks: total("chunks"), reused: total("reused"), tokens: total("tokens") }).toEqual({
      chunks: 4,
      reused: 2,
      tokens: 2,
    });
  });

  test.each([
    [1, 16, 4096],
    [2, 1024, 8192],
    [1, 4096, 8192],
  ])(
    "with %i calls of %i texts in flight, a text that comes again is known for %i others",
    async (concurrency, maxBatchTexts, remembered) => {
      const sentAgain = async (others: number) => {
        const embedder = wordEmbedder({ maxBatchTexts });
        const chunks = ["again", ...lines(others), "again"].flatMap((text, at) => chunksOf(`${at}`, text));
        await run(chunks, embedder, { concurrency });
        return embedder.calls.flat().length - others - 1;
      };
      expect(await sentAgain(remembered - 1)).toBe(0);
      expect(await sentAgain(remembered)).toBe(1);
    },
  );

  test("a chunk with a vector of another space is embedded again", async () => {
    const chunk = { ...chunksOf("a", "text")[0]!, vector: wordVector("text"), space: "elsewhere" };
    const { out } = await run([chunk], wordEmbedder());
    expect(out[0]!.space).toBe("words");
  });

  test("a batch limit learned from a refusal holds for the rest of the run", async () => {
    const embedder = wordEmbedder({
      maxBatchTexts: 16,
      before: (sent) => {
        if (sent.length > 5) throw refuse("too-large");
      },
    });
    const { out } = await run(chunksOf("doc", ...lines(64)), embedder, { concurrency: 1 });
    expect(out).toHaveLength(64);
    expect(embedder.calls.filter((sent) => sent.length > 5).map((sent) => sent.length)).toEqual([16, 8]);
  });

  test("a refused text does not lower the batch limit", async () => {
    const embedder = wordEmbedder({
      maxBatchTexts: 16,
      before: (sent) => {
        if (sent.includes("poison")) throw refuse("too-large");
      },
    });
    await run([...chunksOf("bad", "poison"), ...chunksOf("good", ...lines(63))], embedder, { concurrency: 1 });
    expect(embedder.calls.slice(-3).map((sent) => sent.length)).toEqual([16, 16, 16]);
  });

  test("a call with an invalid reply is repeated, and does not lower the batch limit", async () => {
    const embedder = wordEmbedder({
      maxBatchTexts: 16,
      before: (_sent, _call, index) => {
        if (index % 3 === 0) throw new TransportError("reply", "garbage");
      },
    });
    const { out, failures } = await run(chunksOf("doc", ...lines(64)), embedder, { concurrency: 1 });
    expect({ out: out.length, failures: failures.size }).toEqual({ out: 64, failures: 0 });
    expect(embedder.calls.map((sent) => sent.length)).toEqual([16, 16, 16, 16, 16, 16]);
  });

  test("a batch whose replies stay invalid is halved, and does not lower the batch limit either", async () => {
    const embedder = wordEmbedder({
      maxBatchTexts: 16,
      before: (_sent, _call, index) => {
        if (index < 4) throw new TransportError("reply", "garbage");
      },
    });
    const limits: number[] = [];
    const { out } = await run(chunksOf("doc", ...lines(48)), embedder, {
      concurrency: 1,
      onBatchTexts: (maxTexts) => limits.push(maxTexts),
    });
    expect(out).toHaveLength(48);
    expect(embedder.calls.map((sent) => sent.length)).toEqual([16, 16, 16, 16, 8, 8, 16, 16]);
    expect(limits).toEqual([]);
  });

  test("a single text whose replies stay invalid is sent four times, and fails only its own document", async () => {
    const embedder = wordEmbedder({
      before: (sent) => {
        if (sent.includes("poison")) throw new TransportError("reply", "garbage");
      },
    });
    const { failures, out } = await run([...chunksOf("bad", "poison"), ...chunksOf("good", "fine")], embedder);
    expect([...failures.keys()]).toEqual(["bad"]);
    expect(out.map(({ documentId }) => documentId)).toEqual(["good"]);
    expect(embedder.calls.filter((sent) => sent.join() === "poison")).toHaveLength(4);
  });

  test("a refused text fails its document once, with its position and the service's message", async () => {
    const embedder = wordEmbedder({
      before: (sent) => {
        if (sent.includes("poison")) throw refuse("refused");
      },
    });
    const { events, failures } = await run(chunksOf("doc", "fine", "poison", "also fine", "poison"), embedder);
    expect([...failures.keys()]).toEqual(["doc"]);
    expect(failures.get("doc")).toMatchObject({ code: "refused" });
    expect(failures.get("doc")!.message).toBe(
      "doc: the chunk at 5 to 11 could not be embedded: the service says refused",
    );
    expect(events.filter(({ type }) => type === "document")).toHaveLength(1);
  });

  test("a chunk that is too long for the embedder fails its document, and is not sent", async () => {
    const embedder = wordEmbedder({ maxInputTokens: 3 });
    const { failures, out } = await run([...chunksOf("long", "a b c d"), ...chunksOf("short", "a b c")], embedder);
    expect(failures.get("long")!.message).toContain("it has 4 tokens, and the embedder takes 3");
    expect(out.map(({ documentId }) => documentId)).toEqual(["short"]);
    expect(embedder.calls).toEqual([["a b c"]]);
  });

  test("when every text is refused, the run ends instead of sending each alone", async () => {
    const embedder = wordEmbedder({
      before: () => {
        throw refuse("refused");
      },
    });
    const chunks = lines(500).flatMap((line) => chunksOf(line, line));
    const { thrown } = await run(chunks, embedder, { concurrency: 2 });
    expect(thrown).toMatchObject({ code: "refused" });
    expect(embedder.calls.length).toBeLessThan(100);
  });

  test("when the service begins to refuse every text, the run ends instead of sending each alone", async () => {
    const embedder = wordEmbedder({
      before: (_sent, _call, index) => {
        if (index > 0) throw refuse("refused");
      },
    });
    const chunks = lines(2000).flatMap((line) => chunksOf(line, line));
    const { out, thrown } = await run(chunks, embedder, { concurrency: 2 });
    expect(thrown).toMatchObject({ code: "refused" });
    expect(out).toHaveLength(32);
    expect(embedder.calls.length).toBeLessThan(700);
  });

  test.each(["upstream", "unauthorized"] as const)(
    "an error that is not about the text (%s) ends the run, after the vectors that came were handed out",
    async (code) => {
      const embedder = wordEmbedder({
        maxBatchTexts: 1,
        before: async (_sent, _call, index) => {
          await new Promise((resolve) => setTimeout(resolve, index === 1 ? 1 : 10));
          if (index === 1) throw refuse(code);
        },
      });
      const chunks = lines(50).flatMap((line) => chunksOf(line, line));
      let read = 0;
      const source = async function* () {
        for (const each of chunks) {
          read++;
          yield each;
        }
      };
      const { out, thrown, failures } = await run(source(), embedder, { concurrency: 4 });
      expect(thrown).toMatchObject({ code });
      expect(out.map(({ text }) => text)).toEqual(["line number 0", "line number 2", "line number 3"]);
      expect(failures.has("line number 1")).toBe(true);
      expect(read).toBeLessThan(20);
      // Every vector that was paid for was handed out.
      expect(embedder.calls.length).toBe(out.length + 1);
    },
  );

  test("an abort is thrown as the caller's own reason, and stops the calls", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const embedder = wordEmbedder({
      maxBatchTexts: 1,
      before: async (_sent, { signal }, index) => {
        if (index === 3) controller.abort(reason);
        await new Promise(setImmediate);
        signal!.throwIfAborted();
      },
    });
    const { thrown } = await run(chunksOf("doc", ...lines(50)), embedder, { concurrency: 2 }, controller.signal);
    expect(thrown).toBe(reason);
    expect(embedder.calls.length).toBeLessThan(8);
  });

  test("when the source fails, chunks read before are still handed out", async () => {
    const source = async function* () {
      yield* chunksOf("doc", ...lines(64));
      throw new Error("disk gone");
    };
    const { out, thrown } = await run(source(), wordEmbedder());
    expect(thrown).toMatchObject({ message: "disk gone" });
    expect(out).toHaveLength(64);
  });

  test("a reply with too few vectors is rejected", async () => {
    const embedder = { ...wordEmbedder(), embed: async () => ({ vectors: [], tokens: 0 }) };
    const { out, failures } = await run(chunksOf("doc", "a", "b"), embedder);
    expect(out).toEqual([]);
    expect(failures.get("doc")!.message).toContain("Sent 1 texts to words, got 0 vectors");
  });

  test("vectors are handed out as they arrive, not at the end", async () => {
    const source = async function* () {
      yield* chunksOf("a", ...lines(32));
      await new Promise((resolve) => setTimeout(resolve, 20));
      yield* chunksOf("b", "last one");
    };
    const seen: number[] = [];
    const embedder = wordEmbedder();
    for await (const _ of embedChunks(embedder).run(source(), createRunContext())) seen.push(embedder.calls.length);
    expect(seen[0]).toBe(1);
    expect(seen).toHaveLength(33);
  });
});
