import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";

/** Not beside this module: the command runs from its build. */
const workerFile = resolve("test/mutation/test-worker.mjs");

export type TestOutcome =
  | { readonly outcome: "passed" }
  | { readonly outcome: "failed"; readonly title: string | undefined }
  | { readonly outcome: "timeout" };

/** A copy of the build and its tests in which anything may be broken, with a test runner that stays warm. */
export class Sandbox {
  readonly #root: string;
  #worker: ChildProcess | undefined;

  /** @param project The folder with `dist`, `test` and `node_modules`; it is only read. */
  constructor(project: string) {
    this.#root = realpathSync(mkdtempSync(join(tmpdir(), "citewell-mutation-")));
    for (const part of ["dist", "test", "package.json"]) {
      cpSync(join(project, part), join(this.#root, part), { recursive: true });
    }
    symlinkSync(realpathSync(join(project, "node_modules")), join(this.#root, "node_modules"));
  }

  /** Runs a test file, given by its path relative to the project, up to the first test that fails. */
  async run(test: string, timeoutMs: number): Promise<TestOutcome> {
    const worker = (this.#worker ??= await this.#start());
    // Ends the waiting for what did not come first.
    const decided = new AbortController();
    const until = { signal: decided.signal };
    worker.send(join(this.#root, test));
    const first = await Promise.race([
      once(worker, "message", until),
      once(worker, "exit", until).then(() => undefined),
      setTimeout(timeoutMs, undefined, until),
    ]).finally(() => decided.abort());
    if (!first) {
      this.#stop();
      return { outcome: "timeout" };
    }
    const { passed, title } = first[0] as { readonly passed: boolean; readonly title?: string };
    return passed ? { outcome: "passed" } : { outcome: "failed", title };
  }

  /** Runs a test file as `run` does while `file` is changed. */
  async runWith(file: string, change: (code: string) => string, test: string, timeoutMs: number): Promise<TestOutcome> {
    const path = join(this.#root, file);
    const original = readFileSync(path, "utf8");
    writeFileSync(path, change(original));
    try {
      return await this.run(test, timeoutMs);
    } finally {
      writeFileSync(path, original);
    }
  }

  close(): void {
    this.#stop();
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #start(): Promise<ChildProcess> {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST"));
    const worker = fork(workerFile, {
      cwd: this.#root,
      env: Object.fromEntries(inherited),
      execArgv: [],
      // A group of its own, so that it can be ended with all that it started.
      detached: true,
      stdio: "ignore",
    });
    const started = new AbortController();
    const until = { signal: started.signal };
    await Promise.race([
      once(worker, "message", until),
      once(worker, "exit", until).then(() => {
        throw new Error("The test runner ended before its first test");
      }),
    ]).finally(() => started.abort());
    return worker;
  }

  #stop(): void {
    const { pid } = this.#worker ?? {};
    this.#worker = undefined;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}
