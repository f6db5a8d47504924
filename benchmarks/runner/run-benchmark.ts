import { fork } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Benchmark, type Contender, MisuseError, type Size } from "./benchmark.js";
import { corpusFor } from "./corpus.js";
import { installHint, isInstalled, versionOf } from "./packages.js";
import type { RunReply, RunRequest } from "./one-run.js";
import type { Result, ResultRow } from "./result.js";
import { settingHere } from "./setting.js";

export interface RunOptions {
  /** Default: the usual size. */
  readonly smoke?: boolean;
  /** Numbers instead of those of the size. */
  readonly size?: Size;
  readonly rounds?: number;
  /** A folder instead of the benchmark's own. */
  readonly corpus?: string;
  /** The command that the figures can be made with again. */
  readonly command: string;
  readonly onProgress?: (text: string) => void;
}

const oneRun = fileURLToPath(new URL("./one-run.js", import.meta.url));
/** Longer than the longest run of the largest size; a process that hangs is ended and counts as failed. */
const maxRunMs = 3_600_000;

/** The result, or the sentence that says why the benchmark cannot run here. */
export async function runBenchmark(modulePath: string, options: RunOptions): Promise<Result | string> {
  const module = pathToFileURL(modulePath).href;
  const { benchmark } = (await import(module)) as { readonly benchmark: Benchmark<unknown, unknown> };
  const { name, question, method, beside, measures, aims = [], contenders } = benchmark;
  const rounds = options.smoke ? 1 : (options.rounds ?? benchmark.rounds ?? 5);
  const size = sizeFor(benchmark, options);
  const corpus = corpusFor(benchmark.corpus, options.corpus);
  const unavailable = benchmark.unavailable?.(corpus.folder);
  if (unavailable !== undefined) return unavailable;

  const packages = [...new Set(contenders.flatMap((contender) => contender.packages ?? []))];
  const setting = await settingHere(options.command, corpus.described);
  const versions = Object.fromEntries(packages.flatMap((each) => (isInstalled(each) ? [[each, versionOf(each)]] : [])));
  const rows = contenders.map((contender): ResultRow => {
    const missing = contender.packages?.find((each) => !isInstalled(each));
    const why =
      contender.missing ?? (missing === undefined ? undefined : `${missing} is not installed: ${installHint}`);
    const skipped = why === undefined ? {} : { skipped: why };
    return { contender: contender.name, kind: contender.kind, runs: [], ...skipped };
  });
  const prepared = await benchmark.prepare?.(size, corpus.folder);
  try {
    const request: RunRequest = { size, corpus: corpus.folder, given: prepared?.given };
    for (let round = 0; round < rounds; round++) {
      // Contenders take turns, every other round backwards, so that other load on the machine meets all of them alike.
      for (const row of round % 2 === 0 ? rows : rows.toReversed()) {
        if (row.skipped !== undefined || row.failed !== undefined) continue;
        options.onProgress?.(`${name}: ${row.contender}, round ${round + 1} of ${rounds}`);
        const reply = await runOnce(module, row.contender, request);
        if ("failed" in reply) row.failed = reply.failed;
        else row.runs.push({ ...reply.measures });
      }
    }
  } finally {
    await prepared?.close?.();
  }
  return {
    format: 1,
    benchmark: name,
    question,
    method,
    beside,
    measures: { ...measures },
    ...(benchmark.scale && { scale: { ...benchmark.scale } }),
    size: { ...size },
    aims: [...aims],
    rows,
    setting: { ...setting, versions: { ...setting.versions, ...versions } },
  };
}

/** @throws Error for a number that the benchmark has not. */
function sizeFor(
  { name, sizes }: Pick<Benchmark<never, never>, "name" | "sizes">,
  { smoke, size = {} }: RunOptions,
): Size {
  const unknown = Object.keys(size).find((key) => !(key in sizes.usual));
  if (unknown !== undefined) {
    throw new MisuseError(
      `${name} has no size ${unknown}, only ${Object.keys(sizes.usual).join(", ") || "its corpus"}`,
    );
  }
  return { ...(smoke ? sizes.smoke : sizes.usual), ...size };
}

function runOnce(module: string, contender: Contender<unknown>["name"], request: RunRequest): Promise<RunReply> {
  const child = fork(oneRun, [module, contender], { serialization: "advanced", execArgv: ["--expose-gc"] });
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), maxRunMs);
    let reply: RunReply | undefined;
    child.once("message", (message) => (reply = message as RunReply));
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      resolve(reply ?? { failed: `its process ended with ${signal ?? code} before it answered` });
    });
    child.send(request);
  });
}
