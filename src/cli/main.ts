#!/usr/bin/env node
import { homedir } from "node:os";
import { setFlagsFromString } from "node:v8";
import { realPath } from "../load/sources/real-path.js";
import { describeWarning } from "./output/failure.js";
import { run } from "./program.js";

// V8 of Node 20 optimises a function after so many bytes of its code have run; six times as many save a command of some
// seconds an eighth of its CPU time (`benchmarks/files.ts`). From Node 22 on, V8 compiles quickly first, and has no such flag.
if (process.versions.node.startsWith("20.")) setFlagsFromString("--interrupt-budget=400000");

const interrupted = new AbortController();
// The first Ctrl-C lets the command stop cleanly; a second one ends the process at once.
process.on("SIGINT", () => {
  if (interrupted.signal.aborted) process.exit(130);
  interrupted.abort(new DOMException("Stopped by Ctrl-C", "AbortError"));
});
process.on("SIGTERM", () => interrupted.abort(new DOMException("Stopped by SIGTERM", "AbortError")));
// A reader that closes the pipe early, such as `| head`, is not a failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  process.stderr.write(`citewell: Cannot write the output: ${error.message}\n`);
  process.exit(1);
});
// Node writes its warnings into the progress line. Whoever turned them off with --no-warnings gets none here either.
if (process.listenerCount("warning") > 0) {
  process.removeAllListeners("warning");
  process.on("warning", (warning) => process.stderr.write(describeWarning(warning, process.stderr)));
}

process.exitCode = await run(
  {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    directory: process.cwd(),
    home: homeFolder(),
    signal: interrupted.signal,
  },
  process.argv.slice(2),
);

/** The home folder, without links, as documents are stored. A user without an entry in the system's list may have none. */
function homeFolder(): string {
  try {
    return realPath(homedir());
  } catch {
    return "";
  }
}
