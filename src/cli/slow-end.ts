import type { World } from "./command-context.js";

/** How long an end is too short to be told of. */
const quietMs = 1500;

/**
 * Waits for the end of what was opened. Of a large store that takes long, because what searches use is brought up to date
 * and saved: then somebody who waits is told so, and that nothing is lost by not waiting.
 */
export async function sayWhenSlow(
  { stderr, signal }: Pick<World, "stderr" | "signal">,
  end: () => Promise<void>,
  afterMs = quietMs,
): Promise<void> {
  const timer = setTimeout(() => {
    const sentence = signal.aborted
      ? "Saving the index that searches use. Ctrl-C again ends at once and loses nothing: the next command does it then."
      : "Bringing the index that searches use up to date. Ctrl-C ends that and loses nothing: the next command goes on.";
    stderr.write(`${stderr.isTTY ? "\r\u001B[2K" : ""}${sentence}\n`);
  }, afterMs);
  try {
    await end();
  } finally {
    clearTimeout(timer);
  }
}
