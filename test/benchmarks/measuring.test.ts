// In test:all alone: it measures real work, to see that benchmarks notice slower code, for 98 s.
import { rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { PlainBm25 } from "../../benchmarks/quality/plain-bm25.js";
import type { Benchmark, Measures, Size } from "../../benchmarks/runner/benchmark.js";
import { Stopwatch } from "../../benchmarks/runner/timed.js";
import { root } from "../support/citewell.js";
import { noPostgres, startPostgres } from "../support/postgres-server.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Each measuring function is given what is right, a slowed copy of it, and a broken one. Delays are many times what the work
// takes, so that other load on the machine changes nothing.

/** A compiled benchmark: some fork programs beside them. */
async function built<Module extends { readonly benchmark: object }>(name: string): Promise<Module["benchmark"]> {
  return ((await import(join(root, `build/benchmarks/${name}.js`))) as Module).benchmark;
}

interface Place<Given> {
  readonly corpus?: string;
  readonly given?: Given;
}

function measured<Subject, Given>(
  { measure }: Benchmark<Subject, Given>,
  subject: Subject,
  size: Size,
  { corpus = "", given }: Place<Given> = {},
): Promise<Measures> {
  return measure(subject, { size, corpus, given: given as Given, timed: new Stopwatch().timed });
}

async function subjectOf<Subject, Given>({ contenders }: Benchmark<Subject, Given>, name: string): Promise<Subject> {
  return contenders.find((contender) => contender.name === name)!.load();
}

function burn(seconds: number): void {
  const until = process.cpuUsage().user + seconds * 1e6;
  while (process.cpuUsage().user < until);
}

const handbook = join(root, "test/fixtures/handbook");

test("chunk: sees a slower splitter, and refuses one that leaves text out or exceeds the limit", async () => {
  const benchmark = await built<typeof import("../../benchmarks/chunk.js")>("chunk");
  const blocks = () => (text: string) => text.split(/(?<=\n\n)/);
  const slowed = () => (text: string) => {
    burn(0.02);
    return blocks()(text);
  };
  const at = (subject: Parameters<typeof benchmark.measure>[0]) =>
    measured(benchmark, subject, { share: 1, warmingSeconds: 0.1, measuringSeconds: 0 }, { corpus: handbook });
  expect((await at(blocks))["8192 tokens"]!).toBeGreaterThan(3 * (await at(slowed))["8192 tokens"]!);
  await expect(at(() => (text) => [text.slice(0, text.length / 2)])).rejects.toThrow(/are in chunks/);
  await expect(at(() => (text) => [text.repeat(9)])).rejects.toThrow(/a chunk has \d+ tokens; 256 were asked for/);
});

test("spans: counts answers in what a splitter admits, and none for one whose chunks cannot be found", async () => {
  const benchmark = await built<typeof import("../../benchmarks/spans.js")>("spans");
  const text = "The roof was mended in May.\n\nKeys last ninety days.";
  const line = (value: object) => `${JSON.stringify(value)}\n`;
  const corpus = await temporaryFolder({
    "squad/articles.jsonl": line({ _id: "a", title: "", text }),
    "squad/queries.jsonl": line({ _id: "q", text: "How long do keys last?" }),
    "squad/spans.jsonl": line({ _id: "q", article: "a", answers: [[text.indexOf("ninety"), text.indexOf(".", 30)]] }),
    "cmrc2018/corpus.jsonl": line({ _id: "p", text }),
    "cmrc2018/queries.jsonl": line({ _id: "q", text: "How long do keys last?" }),
    "cmrc2018/answers.jsonl": line({ _id: "q", answers: ["ninety days"] }),
    "cmrc2018/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq\tp\t1\n",
  });
  const at = async (spans: readonly { readonly start: number; readonly end: number }[]) => {
    const subject = { readsParents: false, ofSize: () => async () => spans };
    const found = await measured(benchmark, subject, { texts: 1, budgetTokens: 512 }, { corpus });
    return [found["SQuAD at 256"], found["CMRC at 256"]];
  };
  const cut = text.indexOf("Keys");
  expect(
    await at([
      { start: 0, end: cut },
      { start: cut, end: text.length },
    ]),
  ).toEqual([100, 100]);
  // The answer is cut in two.
  const within = text.indexOf("ninety") + 3;
  expect(
    await at([
      { start: 0, end: within },
      { start: within, end: text.length },
    ]),
  ).toEqual([0, 0]);
  expect(await at([])).toEqual([0, 0]);
});

test("ingest: sees a slower ingestion, and refuses one that keeps almost nothing", async () => {
  const benchmark = await built<typeof import("../../benchmarks/ingest.js")>("ingest");
  const ingestion =
    (delayMs: number, chunks: number): Parameters<typeof benchmark.measure>[0] =>
    async ({ timed }) => {
      const { wallSeconds } = await timed(() => sleep(delayMs));
      return { seconds: wallSeconds, chunks };
    };
  const at = (delayMs: number, chunks = 1000) =>
    measured(benchmark, ingestion(delayMs, chunks), { share: 1 }, { corpus: handbook });
  expect((await at(1000))["whole"]! - (await at(1))["whole"]!).toBeGreaterThan(0.5);
  await expect(at(1, 0)).rejects.toThrow(/only 0 chunks/);
});

test("memory: sees what is held, and refuses documents that were not kept", async () => {
  const benchmark = await built<typeof import("../../benchmarks/memory.js")>("memory");
  const at = (held: number, lost = 0) => {
    const fill = async (documents: Iterable<unknown>) => {
      const buffer = Buffer.alloc(held, 1);
      return [...documents].length - lost + (buffer.length > held ? 1 : 0);
    };
    return measured(benchmark, { times: 1, fill }, { documents: 20 }, { corpus: handbook });
  };
  const little = (await at(0))["peak"]!;
  expect((await at(500e6))["peak"]! - little).toBeGreaterThan(200);
  await expect(at(0, 1)).rejects.toThrow(/19 chunks of 20 documents/);
});

test("search: sees a slower index and what it does not find, and refuses one that finds hardly anything", async () => {
  const benchmark = await built<typeof import("../../benchmarks/search.js")>("search");
  const size = { chunks: 100, dimension: 8 };
  const { given } = await benchmark.prepare!(size, "");
  const index = (delayMs: number, lost: number) => ({
    make: async () => {
      const kept: { readonly id: string; readonly vector: Float32Array }[] = [];
      return {
        write: async ({
          documents,
          vectors,
        }: {
          documents: readonly { readonly chunks: readonly { readonly id: string }[] }[];
          vectors: ReadonlyMap<string, Float32Array>;
        }) => {
          const made = [...vectors.values()];
          for (const { id } of documents.flatMap(({ chunks }) => chunks)) kept.push({ id, vector: made.shift()! });
        },
        dense: async ({ vector }: { readonly vector: Float32Array }, count: number) => {
          if (delayMs > 0) await sleep(delayMs);
          const near = (other: Float32Array) =>
            other.reduce((sum, value, at) => sum + value * vector[at]!, 0) / Math.hypot(...other);
          return kept
            .toSorted((a, b) => near(b.vector) - near(a.vector))
            .slice(lost, count)
            .map(({ id }) => id);
        },
      };
    },
  });
  const at = (delayMs: number, lost = 0) => measured(benchmark, index(delayMs, lost) as never, size, { given });
  const [fine, slowed] = [await at(0), await at(30)];
  expect(slowed["dense p50"]! - fine["dense p50"]!).toBeGreaterThan(15);
  expect(fine["recall@10"]).toBe(1);
  expect((await at(0, 4))["recall@10"]).toBeCloseTo(0.6);
  await expect(at(0, 9)).rejects.toThrow(/it finds 0\.1/);
});

test("graph: sees slower building, and refuses a graph that finds hardly anything", async () => {
  const benchmark = await built<typeof import("../../benchmarks/graph.js")>("graph");
  const real = await subjectOf(benchmark, "citewell, 4-bit, all cores");
  const size = { vectors: 200, dimension: 16 };
  const at = (change: object) =>
    measured(
      benchmark,
      { ...real, make: async (dimension) => Object.assign(await real.make(dimension), change) },
      size,
    );
  const fine = await at({});
  const slowed = await measured(benchmark, { ...real, pause: async () => burn(0.005) }, size);
  expect(slowed["built, CPU"]! - fine["built, CPU"]!).toBeGreaterThan(0.5);
  await expect(at({ search: () => ({ labels: [1], distances: [0] }) })).rejects.toThrow(/it finds/);
});

test("growth: sees slower writing, and refuses a store that finds nothing", async () => {
  const benchmark = await built<typeof import("../../benchmarks/growth.js")>("growth");
  const make = (delayMs: number, found: readonly string[]) => async () => ({
    write: () => sleep(delayMs),
    finish: async () => {},
    dense: async () => found,
    hybrid: async () => [],
    weigh: async () => ({ residentBytes: 1e6, emptyBytes: 6e5 }),
    verify: async () => {},
    diskBytes: () => 2e6,
  });
  const at = (delayMs: number, found = ["a"]) =>
    measured(benchmark, { chunks: 200, make: make(delayMs, found) }, { most: 200, dimension: 4 });
  expect(await at(1)).toMatchObject({ memory: 1, disk: 2 });
  expect((await at(500))["ingest"]! - (await at(1))["ingest"]!).toBeGreaterThan(0.5);
  await expect(at(1, [])).rejects.toThrow("nothing is found");
});

test("scale: sees a slower store, counts searches that come back short, and refuses one that does not find all", async () => {
  const benchmark = await built<typeof import("../../benchmarks/scale.js")>("scale");
  const store = (delayMs: number, found: number) => async () => ({
    write: async () => {},
    dense: async (_: unknown, count: number, filter?: { readonly half?: number }) => {
      await sleep(delayMs);
      return filter?.half === undefined ? Math.min(count, found) : 3;
    },
    close: async () => {},
  });
  const size = { chunks: 2000, dimension: 4, queries: 5 };
  const at = (delayMs: number, found = 10) =>
    measured(benchmark, store(delayMs, found), size, { given: { url: "", cluster: "" } });
  const [fine, slowed] = [await at(0), await at(60)];
  expect(slowed["dense p50"]! - fine["dense p50"]!).toBeGreaterThan(30);
  expect([fine["filter of 50 %, short"], fine["filter of 1 %, short"]]).toEqual([5, 0]);
  await expect(at(0, 9)).rejects.toThrow("9 of 10 nearest were found");
});

test.skipIf(noPostgres)("postgres-size: sees slower writes, and refuses a store without a graph", async () => {
  const benchmark = await built<typeof import("../../benchmarks/planning/postgres-size.js")>("planning/postgres-size");
  const size = { chunks: 200, dimension: 16 };
  const server = await startPostgres();
  try {
    const right = await subjectOf(benchmark, "vector");
    const at = async (open: typeof right.open, name: string) =>
      measured(benchmark, { ...right, open }, size, { given: await server.createDatabase(name) });
    const slowed: typeof right.open = async (...words) => {
      const store = await right.open(...words);
      const write = store.write.bind(store);
      return Object.assign(store, {
        write: async (...rest: Parameters<typeof write>) => (await sleep(3000), write(...rest)),
      });
    };
    const flat: typeof right.open = (url, embedder, options) =>
      right.open(url, embedder, { ...options, index: "flat" });
    const [fine, slow] = [await at(right.open, "fine"), await at(slowed, "slowed")];
    expect(fine["written"]!).toBeGreaterThan(3 * slow["written"]!);
    await expect(at(flat, "flat")).rejects.toThrow("the graph has 0 bytes");
  } finally {
    await server.remove();
  }
});

test("ask: sees what is added, and refuses an answer that took other calls", { timeout: 120_000 }, async () => {
  const benchmark = await built<typeof import("../../benchmarks/ask.js")>("ask");
  const prepared = await benchmark.prepare!({ chunks: 2, questions: 2 }, "");
  try {
    const bare = await subjectOf(benchmark, "bare calls");
    const at = (
      change: (ask: (question: string) => AsyncIterable<string>) => (question: string) => AsyncIterable<string>,
    ) =>
      measured(
        benchmark,
        async (given) => {
          const { ask, close } = await bare(given);
          return { ask: change(ask), close };
        },
        { chunks: 2, questions: 2 },
        { given: prepared.given },
      );
    const slowed = await at(
      (ask) =>
        async function* (question) {
          await sleep(2000);
          yield* ask(question);
        },
    );
    const fine = await at((ask) => ask);
    expect(slowed["first text p50"]! - fine["first text p50"]!).toBeGreaterThan(1000);
    const twice = at(
      (ask) =>
        async function* (question) {
          for await (const text of ask(question)) if (text === "") yield text;
          yield* ask(question);
        },
    );
    await expect(twice).rejects.toThrow("2 embeddings requests for one question, 1 expected");
  } finally {
    await prepared.close?.();
  }
});

test("answers: counts as right what cites the expected words, and declining what cannot be answered", async () => {
  const benchmark = await built<typeof import("../../benchmarks/answers.js")>("answers");
  const declined = { text: "I do not know.", answered: false, citations: [], hits: [], usage: undefined };
  const open = async () => ({ ask: async () => declined, textOf: async () => "", close: async () => {} });
  const found = await measured(benchmark, { open } as never, { questions: 156 });
  expect(found).toMatchObject({ direct: 0, paraphrased: 0, unanswerable: 100, "direct, declined": 100 });
});

test("transport: sees a client that works more, and refuses other vectors or texts", async () => {
  const benchmark = await built<typeof import("../../benchmarks/transport.js")>("transport");
  const { given, close } = await benchmark.prepare!({ calls: 1 }, "");
  try {
    const bare = await subjectOf(benchmark, "bare undici");
    type Client = ReturnType<typeof bare>;
    const at = (change: (client: Client) => Partial<Client>) =>
      measured(
        benchmark,
        (baseUrl) => {
          const client = bare(baseUrl);
          return { ...client, ...change(client) };
        },
        { calls: 3 },
        { given },
      );
    const fine = await at(() => ({}));
    const slowed = await at(({ float }) => ({
      float: () => {
        burn(0.3);
        return float();
      },
    }));
    expect(slowed["float"]! - fine["float"]!).toBeGreaterThan(150);
    await expect(at(() => ({ base64: async () => [] }))).rejects.toThrow(/0 vectors/);
    await expect(at(() => ({ chat: async () => "" }))).rejects.toThrow("a text of 0 characters came");
  } finally {
    await close?.();
  }
});

test("local: sees slower engines, and refuses vectors without length and scores without sense", async () => {
  const benchmark = await built<typeof import("../../benchmarks/local.js")>("local");
  const real = await subjectOf(benchmark, "citewell");
  const at = (change: object) =>
    measured(benchmark, { ...real, ...change }, { passages: 5, questions: 2 }, { corpus: handbook });
  const fine = await at({});
  const slowed = await at({
    embed: (text: string) => {
      burn(0.05);
      return real.embed(text);
    },
  });
  expect(fine["embedded"]!).toBeGreaterThan(3 * slowed["embedded"]!);
  await expect(at({ embed: () => [0, 0] })).rejects.toThrow("an embedding has the length 0, not 1");
  const backwards = async (question: string, texts: readonly string[]) =>
    (await real.rerank(question, texts)).map((score) => -score);
  await expect(at({ rerank: backwards })).rejects.toThrow(/questions found their passage/);
});

test("open: sees a slower process, and refuses one that fails or does not say what it should", async () => {
  const benchmark = await built<typeof import("../../benchmarks/open.js")>("open");
  const stopwatch = new Stopwatch();
  const at = async (code: string, says?: RegExp) => {
    const before = stopwatch.wallSeconds;
    const subject = { words: () => ["--eval", code], ...(says && { says }) };
    await benchmark.measure(subject, { size: {}, corpus: "", given: "", timed: stopwatch.timed });
    return stopwatch.wallSeconds - before;
  };
  expect((await at("setTimeout(() => {}, 3000)")) - (await at(""))).toBeGreaterThan(1.5);
  await expect(at("throw new Error('no such store')")).rejects.toThrow("no such store");
  await expect(at("console.log('so')", /not so/)).rejects.toThrow(/it does not say/);
});

test("quality: ranks the relevant first or last", async () => {
  const benchmark = await built<typeof import("../../benchmarks/quality.js")>("quality");
  const ids = Array.from({ length: 30 }, (_, at) => `d${at}`);
  const corpus = await temporaryFolder({
    "corpus.jsonl": ids.map((_id) => `${JSON.stringify({ _id, title: "", text: `Text ${_id}.` })}\n`).join(""),
    "queries.jsonl": `${JSON.stringify({ _id: "q", text: "Which?" })}\n`,
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq\td0\t1\n",
  });
  const at = async (ranking: readonly string[]) => {
    const subject = { index: async () => ({ rank: async () => ranking }) };
    return (await measured(benchmark, subject, { queries: 0, collections: 1, documents: 0 }, { corpus }))["own"];
  };
  expect(await at(ids)).toBe(1);
  expect(await at(ids.toReversed())).toBe(0);
});

test.skipIf(noPostgres)("stores: sees that a store does not find what another finds", async () => {
  const benchmark = await built<typeof import("../../benchmarks/proofs/stores.js")>("proofs/stores");
  const texts = { roof: "The roof was mended in May.", keys: "Keys last ninety days." };
  const corpus = await temporaryFolder({
    "cranfield/corpus.jsonl": Object.entries(texts)
      .map(([_id, text]) => `${JSON.stringify({ _id, title: "", text })}\n`)
      .join(""),
    "cranfield/queries.jsonl": `${JSON.stringify({ _id: "q", text: "How long do keys last?" })}\n`,
    "cranfield/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq\tkeys\t1\n",
  });
  const right = await subjectOf(benchmark, "folder");
  const at = (open: typeof right) =>
    measured(benchmark, open, { queries: 1, collections: 1, documents: 0 }, { corpus });
  const withoutWords: typeof right = async (...given) => {
    const store = await right(...given);
    return Object.defineProperty(store, "lexical", { value: { ...store.lexical, retrieve: async () => [] } });
  };
  expect((await at(right))["cranfield, lexical"]).toBe(1);
  expect((await at(withoutWords))["cranfield, lexical"]).toBe(0);
});

test("files: sees slower indexing, and refuses a command that indexes nothing", async () => {
  const benchmark = await built<typeof import("../../benchmarks/files.js")>("files");
  const at = (delayMs: number, chunks = 1000) =>
    measured(
      benchmark,
      async () => {
        await sleep(delayMs);
        return { chunks };
      },
      { share: 1 },
      { given: { baseUrl: "", folder: handbook } },
    );
  const [fine, slowed] = [await at(1), await at(1000)];
  expect(slowed["run"]! - fine["run"]!).toBeGreaterThan(0.5);
  expect(slowed["1,000 chunks"]! - fine["1,000 chunks"]!).toBeGreaterThan(0.5);
  await expect(at(1, 0)).rejects.toThrow("nothing was indexed");
});

test("read: sees a slower reader, and refuses one that leaves most of the text out", async ({ skip }) => {
  const benchmark = await built<typeof import("../../benchmarks/read.js")>("read");
  const missing = benchmark.unavailable?.("");
  if (missing !== undefined) skip(missing);
  const right = await subjectOf(benchmark, "citewell");
  const at = (read: typeof right) => measured(benchmark, read, benchmark.sizes.smoke);
  const slowed: typeof right = (page) => {
    burn(0.3);
    return right(page);
  };
  const [fine, slow] = [await at(right), await at(slowed)];
  for (const [name, milliseconds] of Object.entries(fine)) expect(slow[name]).toBeGreaterThan(2 * milliseconds);
  await expect(at((page) => right(page)?.slice(0, 20))).rejects.toThrow(/characters between tags, \d+ were kept/);
});

test("suite: sees slower tests, counts them, and refuses one that fails", async () => {
  const benchmark = await built<typeof import("../../benchmarks/proofs/suite.js")>("proofs/suite");
  const at = (delayMs: number, said: string, code = 0) => {
    const program = `setTimeout(() => { console.log(${JSON.stringify(said)}); process.exitCode = ${code}; }, ${delayMs})`;
    return measured(benchmark, { command: [process.execPath, "--eval", program] }, {});
  };
  const fine = await at(0, "Tests: 30 passed, 0 failed, 1 skipped");
  const slowed = await at(2000, "Tests: 30 passed, 0 failed, 1 skipped");
  expect(fine["tests"]).toBe(30);
  expect(slowed["all"]! - fine["all"]!).toBeGreaterThan(1 / 60);
  await expect(at(0, "Tests: 29 passed, 1 failed, 1 skipped", 1)).rejects.toThrow("29 passed, 1 failed");
});

test("serve: sees slower answers, counts lost ones, and refuses a server that loses all", async () => {
  const benchmark = await built<typeof import("../../benchmarks/serve.js")>("serve");
  let answers = 0;
  const at = (delayMs: number, isLost: (number: number) => boolean) =>
    measured(
      benchmark,
      async () => {
        answers = 0;
        const server = createServer((_, response) => void answer(response));
        const answer = async (response: ServerResponse) => {
          await sleep(delayMs);
          response.write("event: text-delta\n\n");
          if (isLost(answers++)) response.destroy();
          else response.end("event: finish\n\n");
        };
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        return { url, figures: async () => ({ heapMb: 1, cpuSeconds: 1 }), close: () => void server.close() };
      },
      { readers: 2, answers: 10 },
      { given: { store: "", frames: [] } },
    );
  const never = () => false;
  const [fine, slowed] = [await at(0, never), await at(400, never)];
  expect(slowed["first event p50"]! - fine["first event p50"]!).toBeGreaterThan(200);
  // The first four warm up.
  expect((await at(0, (number) => number >= 4 && number % 2 === 0))["lost"]).toBe(5);
  await expect(at(0, () => true)).rejects.toThrow("none of 10 answers came whole");
});

test("quality: plain BM25 has the scores of the formula", () => {
  const index = new PlainBm25(1.2, 0.75);
  index.add("a", "The roofs of the house");
  index.add("b", "A house, a house and a garden");
  index.add("c", "屋顶在五月修好");
  // Computed by hand: three texts of 2, 3 and 6 terms, 11 / 3 on average; idf × often / (often + 1.2 × (0.25 + 0.75 × terms / average)).
  // "roof" is in one: ln(1 + 2.5 / 1.5) × 1 / (1 + 1.2 × (0.25 + 0.75 × 6 / 11)) = 0.98083 × 1 / 1.79091.
  expect(index.search("Which roof?", 9)).toEqual([["a", expect.closeTo(0.54767, 4)]]);
  // "hous" is in two, twice in b: ln(1 + 1.5 / 2.5) × 2 / (2 + 1.2 × (0.25 + 0.75 × 9 / 11)) = 0.47000 × 2 / 3.03636, and
  // once in a: 0.47000 × 1 / 1.79091.
  expect(index.search("houses", 9)).toEqual([
    ["b", expect.closeTo(0.30958, 4)],
    ["a", expect.closeTo(0.26244, 4)],
  ]);
  // 屋顶 is in one: 0.98083 × 1 / (1 + 1.2 × (0.25 + 0.75 × 18 / 11)) = 0.98083 × 1 / 2.77273.
  expect(index.search("屋顶", 9)).toEqual([["c", expect.closeTo(0.35374, 4)]]);
});

test("million: sees a slower process, and what it holds", async () => {
  const benchmark = await built<typeof import("../../benchmarks/proofs/million.js")>("proofs/million");
  const at = (delayMs: number) =>
    measured(
      benchmark,
      () => ({
        told: async () => {
          if (delayMs > 0) await sleep(delayMs);
          return { residentBytes: 2e9, emptyBytes: 0 };
        },
        close: async () => {},
      }),
      { chunks: 100, dimension: 4, words: 5, questions: 200 },
    );
  const [fine, slowed] = [await at(0), await at(20)];
  expect(fine["memory"]).toBe(2);
  expect(slowed["hybrid p50"]! - fine["hybrid p50"]!).toBeGreaterThan(10);
  expect(slowed["first answer"]!).toBeGreaterThan(0.03);
});

test("killed: counts rows that differ and texts that are paid for again", { timeout: 120_000 }, async () => {
  const benchmark = await built<typeof import("../../benchmarks/proofs/killed.js")>("proofs/killed");
  const real = await subjectOf(benchmark, "killed");
  // Some 300 texts, which take the service 0.8 s: much longer than the moment of the kill.
  const lines = Array.from(
    { length: 300 },
    (_, at) => `Key ${at} lasts ${at + 1} days. ${"It is renewed. ".repeat(12)}`,
  );
  const corpus = await temporaryFolder({ "keys.md": lines.join("\n\n") });
  const at = (start: typeof real) => measured(benchmark, start, { kills: 1, share: 1, texts: 4 }, { corpus });
  expect(await at(real)).toMatchObject({ "differing rows": 0, "kept texts sent again": 0 });
  // All that the first process has paid for is gone when the next one starts; the store to compare with is made before both.
  let started = 0;
  const forgetful = await at((settings) => {
    const { path } = settings as { readonly path: string };
    if (++started === 3) rmSync(path, { recursive: true, force: true });
    const { ended } = real(settings);
    return { kill: () => {}, ended: started === 2 ? ended.then(() => null) : ended };
  });
  expect(forgetful["kept texts sent again"]!).toBeGreaterThan(10);
  await expect(at((settings) => ({ ...real(settings), kill: () => {} }))).rejects.toThrow(/before it could be killed/);
});
