import { PassThrough, Writable } from "node:stream";
import { run } from "../../src/cli/program.js";
import { oneObject } from "./citewell.js";
import type { Finished, RunProcessOptions } from "./run-process.js";

export type { AskJson, IndexJson, SearchJson } from "./citewell.js";

/**
 * Runs the command within the test's own process, which costs a tenth of a process: for tests of what it does and says, where
 * nothing hangs on how a process starts and ends.
 */
export async function citewell(words: readonly string[], options: RunProcessOptions = {}): Promise<Finished> {
  const { cwd: directory = process.cwd(), environment, input = "" } = options;
  const [stdin, stdout, stderr] = [new PassThrough(), new Output(), new Output()];
  stdin.end(input);
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("CITEWELL_"));
  const exitCode = await run(
    {
      stdin: stdin as unknown as NodeJS.ReadStream,
      stdout,
      stderr: stderr as unknown as NodeJS.WriteStream,
      environment: { ...Object.fromEntries(inherited), ...environment },
      directory,
      signal: new AbortController().signal,
    },
    words,
  );
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}

/** Runs the command with `--json` here and reads its one object. */
export async function citewellJson<T>(words: readonly string[], options: RunProcessOptions = {}): Promise<T> {
  return oneObject(await citewell([...words, "--json"], options)) as T;
}

/** Collects what is written, as a pipe would; parts of a character may come apart. */
class Output extends Writable {
  readonly #parts: Buffer[] = [];

  get text(): string {
    return Buffer.concat(this.#parts).toString();
  }

  override _write(part: Buffer, _: BufferEncoding, done: () => void): void {
    this.#parts.push(part);
    done();
  }
}
