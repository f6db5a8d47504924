import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { startThread } from "../../../../thread/worker-calls.js";
import { type GraphMemory, maxThreads } from "./graph-memory.js";
import type { LinkingStart } from "./linking-worker.js";

/** One thread a core, with the one that holds the graph. */
const helpers = Math.min(maxThreads, availableParallelism()) - 1;

/** Threads that help to link the slots of a graph. */
export class LinkingThreads {
  readonly #memory: GraphMemory;
  readonly #efConstruction: number;
  readonly #program: URL;
  #workers: Worker[] = [];

  /** @param program what each thread runs. Default: linking-worker. */
  constructor(memory: GraphMemory, efConstruction: number, program = new URL("./linking-worker.js", import.meta.url)) {
    this.#memory = memory;
    this.#efConstruction = efConstruction;
    this.#program = program;
  }

  get areRunning(): boolean {
    return this.#workers.length > 0;
  }

  start(): void {
    this.#memory.resume();
    for (let thread = 1; thread <= helpers; thread++) {
      const data: LinkingStart = { shared: this.#memory.shared, thread, efConstruction: this.#efConstruction };
      const worker = startThread(this.#program, data);
      worker.on("error", (error) => {
        // It may have left links half written, or locked: the thread that holds the graph ends with it, as if it had died itself.
        throw new Error(`A thread that builds the graph died: ${error.message}`, { cause: error });
      });
      worker.unref();
      this.#workers.push(worker);
    }
  }

  /** Resolves when no other thread uses the graph. */
  async stop(): Promise<void> {
    const workers = this.#workers;
    this.#workers = [];
    this.#memory.stop();
    await Promise.all(workers.map((worker) => ended(worker)));
  }
}

async function ended(worker: Worker): Promise<void> {
  if (worker.threadId < 0) return; // it has ended
  worker.ref();
  await new Promise((resolve) => void worker.once("exit", resolve));
}
