import type { Worker } from "node:worker_threads";

/**
 * Passes on what a thread writes as warnings of the process, so that the process shows them in its own way: written as they
 * come, they would stand in the middle of its output or of a line of progress.
 */
export function relayWarnings({ stdout, stderr }: Worker): void {
  for (const stream of [stdout, stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      for (const { name, code, message } of warningsIn(text)) process.emitWarning(message, name, code);
    });
  }
}

interface Warning {
  readonly name: string;
  readonly code: string | undefined;
  readonly message: string;
}

/** The warnings in what Node writes of them, `(node:1) [DEP0001] DeprecationWarning: …`; other words are one without a name. */
export function warningsIn(text: string): Warning[] {
  return text.split(/^\(node:\d+\) /m).flatMap((part) => {
    const words = part.replace(/^\(Use `node --trace-\S+ \.\.\.` to show where .*\)$/m, "").trim();
    if (words === "") return [];
    const [, code, name = "Warning", message = words] = /^(?:\[(\w+)\] )?(\w*Warning): ([^]*)$/.exec(words) ?? [];
    return [{ name, code, message }];
  });
}
