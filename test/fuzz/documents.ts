import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../support/seeded-random.js";
import { mutated, mutatedPackage, oneOf } from "./mutate.js";
import { sampleFiles } from "./sample-files.js";

export interface Fuzzing {
  /** The folder with `dist` and `test`. */
  readonly project: string;
  readonly seed: number;
  readonly seconds: number;
  readonly onFinding: (finding: string) => void;
}

const timeoutMs = 3000;
/** Beyond the time that a file has: for the process to start a thread, and to share the machine. */
const maxLateMs = 60_000;
const heapMegabytes = 1500;

/** Reads mutated files of every format until the time is up; returns how many. */
export async function fuzzDocuments({ project, seed, seconds, onFinding }: Fuzzing): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "citewell-fuzz-"));
  const end = performance.now() + 1000 * seconds;
  let reader: ChildProcess | undefined;
  let findings = 0;
  let count = 0;
  for (; performance.now() < end; count++) {
    const random = seededRandom(seed + count);
    const { ending, bytes, isPacked } = oneOf(random, sampleFiles);
    const path = join(folder, `${seed + count}${ending}`);
    await writeFile(path, isPacked ? mutatedPackage(bytes, random) : mutated(bytes, random));
    if (reader?.exitCode !== null || reader.signalCode !== null) reader = await startReader(project);
    const problem = await problemWith(path, reader);
    if (problem === undefined) {
      await rm(path);
      continue;
    }
    findings++;
    onFinding(`seed ${seed + count}: ${problem}\n  file: ${path}`);
    reader.kill("SIGKILL");
    await once(reader, "exit").catch(() => {});
  }
  reader?.kill();
  if (findings === 0) await rm(folder, { recursive: true });
  return count;
}

async function startReader(project: string): Promise<ChildProcess> {
  const reader = fork(
    join(project, "test/fuzz/reading-process.mjs"),
    [join(project, "dist/entries/load.js"), `${timeoutMs}`],
    {
      execArgv: [`--max-old-space-size=${heapMegabytes}`],
    },
  );
  await once(reader, "message");
  return reader;
}

/** Returns the problem with the way in which a file ended, if any. */
async function problemWith(path: string, reader: ChildProcess): Promise<string | undefined> {
  const answered = new AbortController();
  const { signal } = answered;
  reader.send(path);
  try {
    return await Promise.race([
      once(reader, "message", { signal }).then(([problem]) => (problem as string | null) ?? undefined),
      once(reader, "exit", { signal }).then(([code, by]) => `it ended the process (${code ?? by})`),
      sleep(timeoutMs + maxLateMs, undefined, { signal }).then(() => `it took more than ${timeoutMs + maxLateMs} ms`),
    ]);
  } finally {
    answered.abort();
  }
}
