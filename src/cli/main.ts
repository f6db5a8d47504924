#!/usr/bin/env node
import { run } from "./run.js";

const interrupted = new AbortController();
// The first Ctrl-C asks the command to stop cleanly; the second, when that takes too long, ends the process.
process.on("SIGINT", () => {
  if (interrupted.signal.aborted) process.exit(130);
  interrupted.abort(new DOMException("Stopped by Ctrl-C", "AbortError"));
});
process.on("SIGTERM", () => interrupted.abort(new DOMException("Stopped by SIGTERM", "AbortError")));
// A reader that has seen enough (`| head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  process.stderr.write(`citewell: What was to be printed could not be written: ${error.message}\n`);
  process.exit(1);
});

process.exitCode = await run(
  {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    directory: process.cwd(),
    signal: interrupted.signal,
  },
  process.argv.slice(2),
);
