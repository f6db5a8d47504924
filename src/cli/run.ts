import { CommanderError } from "commander";
import type { World } from "./command-context.js";
import { describeFailure, exitCodeOf, exitCodes } from "./failure.js";
import { createProgram } from "./program.js";

/** Runs one command line, the words after `citewell`, and returns its exit code. Never throws. */
export async function run(world: World, words: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.done;
  const program = createProgram(world, (code) => {
    exitCode = code;
  });
  if (words.length === 0) {
    program.outputHelp();
    return exitCodes.misuse;
  }
  try {
    await program.parseAsync([...words], { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has written its own line; help and version end this way too, with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.misuse;
    if (world.signal.aborted && error === world.signal.reason) return exitCodes.interrupted;
    world.stderr.write(`${describeFailure(error, words.includes("--debug"))}\n`);
    return exitCodeOf(error);
  }
}
