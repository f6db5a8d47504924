import * as fc from "fast-check";
import { expect, test } from "vitest";
import { OptionsError } from "../../../src/core/errors.js";
import { createRunContext, Pipeline, type RunEvent, stage } from "../../../src/core/pipeline.js";
import type { Embedder } from "../../../src/core/ports.js";
import { chunk } from "../../../src/stages/indexing/chunk.js";
import { collect } from "../../../src/core/stream.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";
import type { Document, DocumentChunk } from "../../../src/core/types.js";
import { chunkProblems } from "../../text/chunking/chunk-problems.js";
import { hostileText } from "../../text/hostile-text.js";

const small = { maxInputTokens: 512, tokens: defaultTokens };
const long: Document = { uri: "memo:long", title: "Long", text: "One sentence of several words. ".repeat(400) };
const blank: Document = { uri: "memo:blank", text: " \n\t " };

const run = (options: Parameters<typeof chunk>[0], documents: readonly Document[]) =>
  collect(Pipeline.from<Document>().pipe(chunk(options)).stream(documents));

test("chunks carry their document and stay within the size asked for", async () => {
  const chunks = await run({ for: small, maxTokens: 100 }, [long]);
  expect(chunks.length).toBeGreaterThan(10);
  for (const { document, tokens, context, text, start, end } of chunks) {
    expect(document).toBe(long);
    expect(context).toBe("Long");
    expect(text).toBe(long.text.slice(start, end));
    expect(tokens).toBeLessThanOrEqual(100);
  }
});

test("the size is 384 unless the model takes less", () => {
  expect(chunk().facts).toEqual({ gives: { chunkTokens: 384 } });
  expect(chunk({ for: { ...small, maxInputTokens: 8192 } }).facts).toEqual({ gives: { chunkTokens: 384 } });
  expect(chunk({ for: { ...small, maxInputTokens: 128 } }).facts).toEqual({ gives: { chunkTokens: 128 } });
});

test("a size above the model's limit is refused with both numbers", () => {
  expect(() => chunk({ for: small, maxTokens: 1000 })).toThrow(OptionsError);
  expect(() => chunk({ for: small, maxTokens: 1000 })).toThrow(/1000.*512/);
});

test("a size above what a later stage takes is refused when it is piped", () => {
  const narrow = stage<DocumentChunk, DocumentChunk>("narrow", (source) => source, { takes: { chunkTokens: 128 } });
  expect(() => Pipeline.from<Document>().pipe(chunk()).pipe(narrow)).toThrow(/384.*128/);
});

test("unknown options, sizes below 16 and a target that cannot count are refused", () => {
  // @ts-expect-error the option is called maxTokens
  expect(() => chunk({ chunkSize: 100 })).toThrow(OptionsError);
  expect(() => chunk({ maxTokens: 15 })).toThrow(OptionsError);
  // @ts-expect-error a target counts tokens
  expect(() => chunk({ for: { maxInputTokens: 512 } })).toThrow(/must be an embedder/);
});

test("a blank document has no chunks and is reported as skipped", async () => {
  const events: RunEvent[] = [];
  const stream = Pipeline.from<Document>()
    .pipe(chunk())
    .stream([blank, { uri: "memo:1", text: "Words." }], { report: (event) => events.push(event) });
  expect((await collect(stream)).map(({ text }) => text)).toEqual(["Words."]);
  expect(events).toEqual([{ type: "skipped", uri: "memo:blank", reason: "it is blank" }]);
});

test("an abort is thrown as the caller's own reason, in the middle of a document", async () => {
  const abort = new AbortController();
  const context = createRunContext({ signal: abort.signal });
  const reason = new Error("enough");
  const source = (async function* () {
    yield long;
  })();
  const reading = async () => {
    for await (const _ of chunk({ maxTokens: 32 }).run(source, context)) abort.abort(reason);
  };
  await expect(reading()).rejects.toBe(reason);
});

/** Gives texts a direction by their first letter. */
const byFirstLetter: Embedder = {
  space: "letters",
  maxInputTokens: 512,
  maxBatchTexts: 4,
  tokens: defaultTokens,
  embed: async (texts) => ({
    vectors: texts.map((text) =>
      Float32Array.from({ length: 128 }, (_, unit) => (text.charCodeAt(0) % 128 === unit ? 1 : 0)),
    ),
    tokens: texts.length,
  }),
};

test("semantic chunks end where the meaning changes most between sentences", async () => {
  const about = (subject: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${subject} are told of in sentence number ${index}.`).join(" ");
  const text = [about("Cats", 4), about("Dogs", 5), about("Birds", 4)].join(" ");
  const found = await run({ strategy: "semantic", embedder: byFirstLetter, maxTokens: 64 }, [{ uri: "memo:1", text }]);
  expect(found.map((each) => new Set(each.text.match(/[A-Z]\w+/g)))).toEqual([
    new Set(["Cats"]),
    new Set(["Dogs"]),
    new Set(["Birds"]),
  ]);
});

test("semantic chunks end between paragraphs if they can, where the subject changes", async () => {
  const about = (subject: string) => `${subject} are told of. They are many. ${subject} like it here.`;
  const text = [about("Cats"), about("Cats"), about("Dogs"), about("Dogs"), about("Dogs")].join("\n\n");
  const found = await run({ strategy: "semantic", embedder: byFirstLetter, maxTokens: 64 }, [{ uri: "memo:1", text }]);
  expect(found.map((each) => each.text.trim())).toEqual([
    [about("Cats"), about("Cats")].join("\n\n"),
    [about("Dogs"), about("Dogs"), about("Dogs")].join("\n\n"),
  ]);
});

test("semantic chunks of any text cover it within the limit", async () => {
  await fc.assert(
    fc.asyncProperty(hostileText(120), fc.integer({ min: 16, max: 64 }), async (text, maxTokens) => {
      const document = { uri: "memo:1", text, mediaType: "text/markdown" };
      const found = await run({ strategy: "semantic", for: byFirstLetter, maxTokens, parentTokens: 90 }, [document]);
      expect(chunkProblems(document, { maxTokens, parentTokens: 90, tokens: defaultTokens }, found)).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

test("the strategy semantic is refused without an embedder", () => {
  expect(() => chunk({ strategy: "semantic", for: small })).toThrow(/Pass an embedder/);
});

test("chunks have a parent span around them, unless parentTokens is 0", async () => {
  expect((await run({ maxTokens: 64, parentTokens: 0 }, [long])).every(({ parent }) => parent === undefined)).toBe(
    true,
  );
  for (const { parent, start, end } of await run({ maxTokens: 64 }, [long])) {
    expect(parent!.start).toBeLessThanOrEqual(start);
    expect(parent!.end).toBeGreaterThanOrEqual(end);
    expect(parent!.end - parent!.start).toBeGreaterThan(3 * (end - start));
  }
});

test("other work gets a turn while a long document is measured and cut", async () => {
  const text = "One sentence of several words. ".repeat(100_000);
  let turns = 0;
  const counting = setInterval(() => turns++, 1);
  const chunks = await run({}, [{ uri: "memo:1", text }]);
  clearInterval(counting);
  expect(chunks.length).toBeGreaterThan(1_000);
  expect(turns).toBeGreaterThan(3);
});

test.each([
  [{ maxTokens: 100, overlapTokens: 100 }, 100, 100, 25, 400],
  [{ maxTokens: 256, overlapTokens: 65 }, 65, 256, 64, 260],
  [{ overlapTokens: 97 }, 97, 384, 96, 388],
  [{ overlapTokens: 5, for: { maxInputTokens: 16, tokens: { name: "w", count: () => 1 } } }, 5, 16, 4, 20],
])(
  "an overlap of more than a quarter of a chunk is refused with both numbers: %j",
  (options, given, max, at, least) => {
    expect(() => chunk(options)).toThrow(
      `chunk: overlapTokens is ${given}, more than a quarter of maxTokens, which is ${max}. ` +
        `Set overlapTokens to ${at} or less, or maxTokens to ${least} or more`,
    );
    const { overlapTokens: _, ...others } = options;
    expect(() => chunk(others)).not.toThrow();
  },
);
