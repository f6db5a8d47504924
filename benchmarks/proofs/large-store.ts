/**
 * Builds one large store, opens and searches it, and tells what each power of ten chunks cost. Each part runs in a process of its
 * own, so that memory is measured for it alone. `npm run bench search` and `npm run bench growth` compare smaller ones.
 *
 *     npm run bench -- large-store [chunks] [dimension] [--parts hnsw,flat,…]
 *
 * `--store DIR` keeps the store there for the next run with the same numbers. `--words N` sets the words of a chunk (150 by
 * default). The store is closed at each power of ten, and what it cost so far in time and CPU is printed with the exponent of
 * that cost over its size. `--kills N` kills the building process that many times on the way; the next one goes on with what
 * it finds.
 */
import {
  type Embedder,
  type Filter,
  openStore,
  Pipeline,
  type Question,
  type Retriever,
  search,
  type Store,
} from "citewell";
import { fork } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { EventLoopDelay } from "../shared/event-loop-delay.js";
import { type Asked, madeCorpus } from "../shared/made-corpus.js";
import type { Asking, Opening, Weighed } from "../search/searching-process.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    store: { type: "string" },
    parts: { type: "string" },
    part: { type: "string" },
    words: { type: "string", default: "150" },
    kills: { type: "string", default: "0" },
  },
});
const [chunkCount, dimension] = [Number(positionals[0] ?? 10_000), Number(positionals[1] ?? 1024)];
const parts = ["flat", "hnsw", "recall", "verify", "together"] as const;
type Part = (typeof parts)[number];
const wanted = (values.parts?.split(",") ?? parts) as readonly Part[];
for (const part of wanted)
  if (!parts.includes(part)) throw new Error(`There is no part ${part}, only ${parts.join(", ")}`);
const queryCount = 200;
const k = 10;
const raw = chunkCount * dimension * 4;
const [words, kills] = [Number(values.words), Number(values.kills)];
const corpus = madeCorpus(chunkCount, dimension, queryCount, words);
const { queries } = corpus;
const filters = { "50 %": { half: 1 }, "1 %": { hundredth: 1 }, "0.01 %": { tenThousandth: 1 } } as const;
const embedder = { space: "benchmark", dimension } satisfies Pick<Embedder, "space" | "dimension">;

const say = (line: string) => console.log(`  ${line}`);
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(2);

function percentile(taken: readonly number[], share: number): string {
  return taken.toSorted((a, b) => a - b)[Math.min(taken.length - 1, Math.floor(taken.length * share))]!.toFixed(2);
}

const described = (taken: readonly number[]) =>
  `p50 ${percentile(taken, 0.5)} ms, p95 ${percentile(taken, 0.95)} ms, p99 ${percentile(taken, 0.99)} ms`;

/** Milliseconds that each query took. */
async function timed(ask: (at: number) => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let at = 0; at < queryCount; at++) {
    const began = performance.now();
    await ask(at);
    taken.push(performance.now() - began);
  }
  return taken;
}

const besideRaw = (bytes: number) => `${megabytes(bytes)}, ${(bytes / raw).toFixed(2)} of the raw vectors`;

/** Memory of a process that only opens the store and answers all queries, without a filter and then with each. */
async function weigh(index: "flat" | "hnsw", path: string): Promise<void> {
  const child = fork(fileURLToPath(new URL("../search/searching-process.js", import.meta.url)), {
    serialization: "advanced",
  });
  const weighed = async (message: Opening | Asking) => {
    child.send(message);
    return ((await once(child, "message")) as [Weighed])[0];
  };
  const sayWeight = (when: string, { residentBytes }: Weighed) =>
    say(`memory of a process that only searches, ${when}: ${besideRaw(residentBytes)}`);
  const askAll = async (filter?: Filter) => {
    let last: Weighed | undefined;
    for (const { text, vector } of queries) last = await weighed({ text, vector, ...(filter && { filter }) });
    return last!;
  };
  await weighed({ path, ...embedder, index });
  sayWeight(`${queryCount} questions`, await askAll());
  for (const metadata of Object.values(filters).slice(0, -1)) await askAll({ metadata });
  sayWeight("and with filters", await askAll({ metadata: Object.values(filters).at(-1)! }));
  child.disconnect();
  await once(child, "exit");
}

/** Writes what the store lacks, and closes it at each power of ten. Ends itself, as `kill -9` does, where `killAt` chunks are written. */
async function build(path: string, killAt = Infinity): Promise<void> {
  const powers = [1000, 10_000, 100_000, 1_000_000].filter((size) => size < chunkCount);
  const writes = corpus.writes(chunkCount);
  const cpuSeconds = () => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
  const costs: { readonly size: number; readonly seconds: number; readonly cpu: number }[] = [];
  let [done, makingSeconds, makingCpu, writingMs] = [0, 0, 0, 0];
  const [began, cpuBegan] = [performance.now(), cpuSeconds()];
  const delay = new EventLoopDelay();
  for (const size of [...powers, chunkCount]) {
    const store = await openStore(path, embedder, { index: "hnsw", onWarning: say });
    const { chunks: stored } = await store.counts();
    while (done < size) {
      const [making, cpuMaking] = [performance.now(), cpuSeconds()];
      const write = writes.next().value!;
      makingSeconds += (performance.now() - making) / 1000;
      makingCpu += cpuSeconds() - cpuMaking;
      done += write.vectors.size;
      if (done <= stored) continue;
      const start = performance.now();
      await delay.during(() => store.write(write));
      writingMs += performance.now() - start;
      if (done >= killAt) process.kill(process.pid, "SIGKILL");
    }
    const closing = performance.now();
    await delay.during(() => store.close());
    const took = (performance.now() - began) / 1000;
    costs.push({ size: done, seconds: took - makingSeconds, cpu: cpuSeconds() - cpuBegan - makingCpu });
    const total = `written in ${(writingMs / 1000).toFixed(1)} s, closed ${seconds(closing)} s later`;
    say(`${done} chunks: ${total}; ${(done / took).toFixed(0)} a second with the making of texts and vectors`);
  }
  for (const [at, { size, seconds: took, cpu }] of costs.entries()) {
    const before = costs[at - 1];
    const exponent = (now: number, then: number) => (Math.log(now / then) / Math.log(size / before!.size)).toFixed(2);
    const growth =
      before && `; exponents since ${before.size}: ${exponent(took, before.seconds)}, CPU ${exponent(cpu, before.cpu)}`;
    say(`${size} chunks cost ${took.toFixed(1)} s, CPU ${cpu.toFixed(1)} s${growth ?? ""}`);
  }
  say(String(delay));
  for (const file of readdirSync(path)) say(`${file}: ${megabytes(statSync(join(path, file)).size)}`);
}

interface StageSettings {
  readonly filter?: Filter;
  readonly count?: number;
  readonly asked?: readonly Asked[];
}

/** The search stage alone: its time beyond that of the upstream for the question's vector. */
function stageOf(
  store: Store,
  mode: "hybrid" | "dense" | "lexical",
  { filter, count = 40, asked = queries }: StageSettings = {},
) {
  const flow = Pipeline.from<Question & { readonly vector: Float32Array; readonly space: string }>().pipe(
    search(store, { mode, count, ...(filter && { filter }) }),
  );
  return async (at: number) => {
    const { text, vector } = asked[at]!;
    for await (const { hits } of flow.stream([{ question: text, vector, space: embedder.space }])) return hits;
    throw new Error("The search stage answered nothing");
  };
}

const idsFound = async (retriever: Retriever, at: number) =>
  (await retriever.retrieve(queries[at]!, { count: k })).map(({ chunkId }) => chunkId);

/** Ids found for each query. */
async function measure(index: "flat" | "hnsw", path: string): Promise<readonly string[][]> {
  const opening = performance.now();
  const store = await openStore(path, embedder, { index, create: false, onWarning: say });
  await Promise.all([idsFound(store.dense, 0), idsFound(store.lexical, 0)]);
  say(`opened and first question answered in ${seconds(opening)} s`);
  const found: string[][] = [];
  say(`dense, ${k}: ${described(await timed(async (at) => found.push(await idsFound(store.dense, at))))}`);
  say(`lexical, ${k}: ${described(await timed((at) => idsFound(store.lexical, at)))}`);
  for (const mode of ["dense", "lexical", "hybrid"] as const) {
    say(`search stage, ${mode}, 40 hits: ${described(await timed(stageOf(store, mode)))}`);
  }
  for (const [share, metadata] of Object.entries(filters)) {
    const call = { count: k, filter: { metadata } };
    // The first search with a filter looks up the chunks it admits, which are cached until something is written.
    const began = performance.now();
    await store.dense.retrieve(queries[0]!, call);
    say(`filtered at ${share}: first ${(performance.now() - began).toFixed(2)} ms`);
    for (const side of ["dense", "lexical"] as const) {
      say(`  ${side}, ${k}: ${described(await timed((at) => store[side].retrieve(queries[at]!, call)))}`);
    }
    say(
      `  search stage, hybrid, 40 hits: ${described(await timed(stageOf(store, "hybrid", { filter: { metadata } })))}`,
    );
  }
  await store.close();
  return found;
}

/** The recall of the graph against exact search, for questions that its tuning has not seen. */
async function measureRecall(path: string): Promise<number> {
  const exact = await openStore(path, embedder, { index: "flat", create: false, onWarning: say });
  const graph = await openStore(path, embedder, { index: "hnsw", create: false, onWarning: say });
  const { ef } = JSON.parse(readFileSync(join(path, "graph.json"), "utf8")) as { readonly ef: number };
  say(`ef ${ef}, as tuned and saved with the graph`);
  const samples = { "like the texts": queries, "midway between two topics": corpus.midway };
  const filter: Filter = { metadata: filters["50 %"] };
  const measured: number[] = [];
  for (const [name, asked] of Object.entries(samples)) {
    const recall = async (found: (store: Store, at: number) => Promise<readonly string[]>) => {
      const [from, by]: string[][][] = [[], []];
      for (let at = 0; at < queryCount; at++) {
        from!.push([...(await found(exact, at))]);
        by!.push([...(await found(graph, at))]);
      }
      return recallOf(by!, from!);
    };
    const idsOf = async (store: Store, at: number, within?: Filter) =>
      (await store.dense.retrieve(asked[at]!, { count: k, ...(within && { filter: within }) })).map(
        ({ chunkId }) => chunkId,
      );
    const dense = await recall(idsOf);
    const filtered = await recall((store, at) => idsOf(store, at, filter));
    const hybrid = await recall(async (store, at) =>
      (await stageOf(store, "hybrid", { count: k, asked })(at)).map(({ chunk }) => chunk.id),
    );
    const shares = { dense, "dense, filtered at 50 %": filtered, hybrid };
    const recalls = Object.entries(shares).map(([side, share]) => `${side} ${share.toFixed(4)}`);
    say(`recall@${k} of ${queryCount} questions ${name}: ${recalls.join("; ")}`);
    measured.push(dense);
  }
  await Promise.all([exact.close(), graph.close()]);
  return measured[0]!;
}

/** Asks a question every 20 ms while documents are written as fast as the store accepts them. */
async function searchWhileWriting(path: string): Promise<void> {
  const delay = new EventLoopDelay();
  const store = await openStore(path, embedder, { index: "hnsw", onWarning: say });
  const ask = stageOf(store, "hybrid");
  await ask(0);
  const taken: number[] = [];
  const enough = new AbortController();
  const asking = (async () => {
    for (let at = 0; !enough.signal.aborted; at = (at + 1) % queryCount) {
      const began = performance.now();
      await ask(at);
      taken.push(performance.now() - began);
      await sleep(20);
    }
  })();
  const added = Math.min(8000, chunkCount);
  // Generated beforehand, so that generating them is not measured.
  const writes = Array.from(corpus.writes(added, "added"));
  const began = performance.now();
  await delay.during(async () => {
    for (const write of writes) await store.write(write);
    enough.abort();
    await asking;
  });
  say(`${added} chunks written in ${seconds(began)} s with ${taken.length} questions meanwhile`);
  say(`search stage, hybrid, 40 hits: ${described(taken)}`);
  say(String(delay));
  // The written documents are discarded, so their graph need not be finished.
  process.send!({}, () => process.exit());
}

function recallOf(found: readonly (readonly string[])[], exact: readonly (readonly string[])[]): number {
  const shared = found.map((ids, at) => ids.filter((id) => exact[at]!.includes(id)).length);
  return shared.reduce((sum, count) => sum + count, 0) / (k * queryCount);
}

const forked = (part: string) =>
  fork(fileURLToPath(import.meta.url), [
    String(chunkCount),
    String(dimension),
    "--words",
    String(words),
    "--part",
    part,
  ]);

/** Runs a part in a separate process and resolves with its answer. */
async function inSeparateProcess<Answer>(part: string, argument: object): Promise<Answer> {
  const child = forked(part);
  child.send(argument);
  const [[answer], [code]] = (await Promise.all([once(child, "message"), once(child, "exit")])) as [
    [Answer],
    [number | null],
  ];
  if (code === 1) process.exitCode = 1;
  return answer;
}

interface PartArgument {
  readonly path: string;
  readonly killAt?: number;
}

/** Checks every byte of the store and its saved indexes, and ends the program with 1 where one is wrong. A sample of one question: measuring the recall is another matter. */
async function measureVerify(path: string): Promise<void> {
  const store = await openStore(path, embedder, { index: "hnsw", onWarning: say });
  await store.dense.retrieve({ text: "", vector: queries[0]!.vector }, { count: 1 });
  const bytes = readdirSync(path).reduce((sum, file) => sum + statSync(join(path, file)).size, 0);
  const [began, before] = [performance.now(), process.cpuUsage()];
  const { ok } = await store.verify({ sample: 1 });
  const { user, system } = process.cpuUsage(before);
  const [took, worked] = [(performance.now() - began) / 1000, (user + system) / 1e6];
  const rate = (during: number) => (bytes / 1e6 / during).toFixed(0);
  say(
    `ok: ${ok}; ${megabytes(bytes)} in ${took.toFixed(2)} s, ${rate(took)} MB/s; CPU ${worked.toFixed(2)} s, ${rate(worked)} MB/s`,
  );
  if (!ok) process.exitCode = 1;
  await store.close();
}

async function runPart(part: string): Promise<void> {
  const [{ path, killAt }] = (await once(process, "message")) as [PartArgument];
  if (part === "build") process.send!((await build(path, killAt)) ?? {});
  else if (part === "flat" || part === "hnsw") process.send!(await measure(part, path));
  else if (part === "recall") process.send!(await measureRecall(path));
  else if (part === "verify") process.send!((await measureVerify(path)) ?? {});
  else if (part === "together") return searchWhileWriting(path);
  process.disconnect();
}

/** Refuses sizes that will not fit on the disk, before hours are spent. */
function checkRoom(folder: string): void {
  // The text of a chunk is in its document, the chunk and the lexical index. Each vector is in SQLite and in the graph,
  // which exists twice while it is saved. Searching while writing works on a copy of everything.
  const textBytes = (chunkCount * 4000 * words) / 150;
  const copies = wanted.includes("together") ? 2 : 1;
  const disk = copies * (2.1 * raw + textBytes) + 1.1 * raw;
  const memory = 1.6 * raw + textBytes / 2 + 300e6;
  const { bavail, bsize } = statfsSync(folder);
  say(`needs about ${megabytes(disk)} on disk (${megabytes(bavail * bsize)} are free), ${megabytes(memory)} of memory`);
  if (disk > bavail * bsize || memory > totalmem()) {
    throw new Error("That is more than there is here: take fewer chunks, or leave out parts with --parts");
  }
}

async function run(): Promise<void> {
  console.log(`npm run bench -- large-store ${process.argv.slice(2).join(" ")}`);
  const machine = `${cpus().length} x ${cpus()[0]?.model}, ${megabytes(totalmem())}, ${process.platform} ${process.arch}`;
  console.log(`Node ${process.version}, ${machine}`);
  console.log(`${chunkCount} chunks of ${dimension} dimensions, raw ${megabytes(raw)}, ${queryCount} queries, k ${k}`);
  checkRoom(tmpdir());
  const temporary = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  const path = values.store === undefined ? join(temporary, "store") : join(values.store, `${chunkCount}x${dimension}`);
  try {
    if (!existsSync(path)) {
      console.log("\nbuild");
      for (let kill = 1; kill <= kills; kill++) {
        const child = forked("build");
        const killAt = Math.floor((kill * chunkCount) / (kills + 1));
        child.send({ path, killAt });
        const [, signal] = (await once(child, "exit")) as [number | null, string | null];
        say(`ended by ${signal} at ${killAt} chunks`);
      }
      await inSeparateProcess("build", { path });
    }
    for (const index of ["flat", "hnsw"] as const) {
      if (!wanted.includes(index)) continue;
      console.log(`\n${index}`);
      await inSeparateProcess(index, { path });
      await weigh(index, path);
    }
    if (wanted.includes("recall")) {
      console.log("\nrecall");
      await inSeparateProcess("recall", { path });
    }
    if (wanted.includes("verify")) {
      console.log("\nverify");
      await inSeparateProcess("verify", { path });
    }
    if (wanted.includes("together")) {
      console.log("\nhnsw, searching while the first chunks are written");
      await inSeparateProcess("together", { path: join(temporary, "filling") });
      console.log("\nhnsw, searching while writing");
      const copy = join(temporary, "copy");
      cpSync(path, copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
      await inSeparateProcess("together", { path: copy });
      rmSync(copy, { recursive: true });
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

if (values.part === undefined) await run();
else await runPart(values.part);
