import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Document } from "../../src/core/types.js";
import { enqueue } from "../../src/knowledge-base/workers/enqueue.js";
import { status } from "../../src/knowledge-base/workers/status.js";
import { embedder } from "../../src/models/embedder.js";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.js";
import { createTransport } from "../../src/transport/transport.js";
import type { FaultyEmbeddings } from "./faulty-embeddings.js";
import type { PostgresServer } from "./postgres-server.js";
import { startWorkerProcess, workerModel } from "./worker-process.js";

export interface CrowdOptions {
  readonly server: PostgresServer;
  /** Address of an empty database of that server. */
  readonly url: string;
  readonly upstream: FaultyEmbeddings;
  readonly documents: readonly Document[];
  /** The program `citewell`. */
  readonly command: string;
  readonly workers: number;
  /** Jobs at once of each worker. */
  readonly concurrency: number;
  /** Shares of the documents that have ended, at each of which a worker is killed: it is replaced at once. */
  readonly killAt?: readonly number[];
  /** Time between two kills, in place of `killAt`. */
  readonly killEveryMs?: number;
  /** Shares of the documents that have ended, at each of which a worker is stopped (SIGSTOP) until the others take it for dead, and goes on. */
  readonly pauseAt?: readonly number[];
  /** Share of the documents that have ended when the database crashes and starts again. Default: it does not. */
  readonly restartAt?: number;
  /** Ends the run with an error that shows how far it came. */
  readonly maxSeconds: number;
  readonly onProgress?: (done: number, kills: number) => void;
}

export interface CrowdOutcome {
  readonly kills: number;
  readonly pauses: number;
  readonly seconds: number;
  readonly status: Awaited<ReturnType<typeof status>>;
  /** Texts that were answered again after they had been answered. */
  readonly repeatedTexts: number;
  /** Everything that the workers wrote on stderr. */
  readonly messages: string;
}

/** Longer than the workers' `--dead-after`, so that a stopped one goes on after its jobs were given to others. */
const pauseMs = 5000;

export function crowdEmbedder(upstream: Pick<FaultyEmbeddings, "baseUrl">) {
  const transport = createTransport({ baseUrl: upstream.baseUrl, apiKey: "sk-0123456789" });
  return { embedder: embedder(transport, { model: workerModel }), close: () => transport.close() };
}

/** Ingests documents by workers in processes of their own, of which one after the other is killed with SIGKILL. */
export async function runCrowd(options: CrowdOptions): Promise<CrowdOutcome> {
  const {
    server,
    url,
    upstream,
    documents,
    command,
    workers,
    concurrency,
    killEveryMs,
    restartAt = Infinity,
    onProgress,
  } = options;
  const { embedder: model_, close } = crowdEmbedder(upstream);
  const store = await openPostgresStore(url, model_);
  const running = new Set<ChildProcess>();
  let messages = "";
  let isOver = false;
  const startWorker = () => {
    const flags = ["--concurrency", String(concurrency), "--dead-after", "2"];
    const { baseUrl } = upstream;
    const child = startWorkerProcess({ command, url, baseUrl, flags }, (text) => (messages += text));
    running.add(child);
    child.on("exit", () => {
      running.delete(child);
      // A supervisor starts a worker again that died.
      if (!isOver) startWorker();
    });
  };
  const startedAt = performance.now();
  try {
    await enqueue(documents, { store, embedder: model_ });
    for (let index = 0; index < workers; index++) startWorker();
    const killAt = [...(options.killAt ?? [])];
    let kills = 0;
    const pauseAt = [...(options.pauseAt ?? [])];
    let pauses = 0;
    let isRestarted = false;
    let killedAt = performance.now();
    for (;;) {
      await sleep(100);
      const now = await status({ store });
      const done = documents.length - now.documents.waiting;
      onProgress?.(done, kills);
      if (now.isDone) break;
      if (performance.now() - startedAt > 1000 * options.maxSeconds) {
        throw new Error(
          `not done after ${options.maxSeconds} s and ${kills} kills: ${JSON.stringify(now)} ${messages}`,
        );
      }
      const share = done / documents.length;
      if (!isRestarted && share >= restartAt) {
        await server.stop("immediate");
        await server.start();
        isRestarted = true;
      }
      if (share >= (pauseAt[0] ?? Infinity) && running.size > 1) {
        pauseAt.shift();
        const newest = [...running].at(-1)!;
        newest.kill("SIGSTOP");
        setTimeout(() => newest.kill("SIGCONT"), pauseMs);
        pauses++;
      }
      const isDue =
        killEveryMs === undefined ? share >= (killAt[0] ?? Infinity) : performance.now() - killedAt >= killEveryMs;
      const [oldest] = running;
      if (!isDue || !oldest) continue;
      killAt.shift();
      killedAt = performance.now();
      oldest.kill("SIGKILL");
      kills++;
    }
    const answered = [...upstream.answered.values()];
    return {
      kills,
      pauses,
      seconds: (performance.now() - startedAt) / 1000,
      status: await status({ store }),
      repeatedTexts: answered.reduce((sum, times) => sum + times - 1, 0),
      messages,
    };
  } finally {
    isOver = true;
    const ended = [...running].map((child) => new Promise((resolve) => child.on("exit", resolve)));
    for (const child of running) child.kill("SIGTERM");
    const impatient = setTimeout(() => running.forEach((child) => child.kill("SIGKILL")), 20_000);
    await Promise.all(ended);
    clearTimeout(impatient);
    await store.close();
    await close();
  }
}

/** Documents of one to three chunks, no two of which have a text in common. */
export function crowdDocuments(count: number): Document[] {
  return Array.from({ length: count }, (_, index) => {
    const sentences = Array.from(
      { length: 10 + 25 * (index % 5) },
      (__, at) => `Line ${at} of ${index} is about keys.`,
    );
    return { uri: `crowd:${String(index).padStart(5, "0")}`, text: sentences.join(" "), metadata: { index } };
  });
}
