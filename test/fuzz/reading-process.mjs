// Started by documents.ts: reads each file whose path it is sent, and answers with what became of it.
import { pathToFileURL } from "node:url";

const [entry, timeoutMs] = process.argv.slice(2);
const { LoadError, readFile } = await import(pathToFileURL(entry));

process.on("message", (path) => {
  void problemWith(path).then((problem) => process.send(problem ?? null));
});
process.send("ready");

async function problemWith(path) {
  const failures = new Map();
  const context = { signal: new AbortController().signal, report: () => {}, failures };
  try {
    for await (const { uri, text, anchors = [] } of readFile(path, {
      timeoutMs: Number(timeoutMs),
    }).read(context)) {
      if (typeof text !== "string") return `${uri} has no text`;
      for (const [index, { start }] of anchors.entries()) {
        if (start < (index === 0 ? 0 : anchors[index - 1].start) || start > text.length)
          return `${uri} has an anchor at ${start}`;
      }
    }
  } catch (error) {
    return `the run stopped: ${error.stack}`;
  }
  for (const error of failures.values()) {
    if (!(error instanceof LoadError)) return `the failure is no LoadError: ${error.stack}`;
    // Loaders say what is wrong with a file, and the parser that it is nested too deep. Whatever else they throw is a mistake.
    const isExpected = error.cause?.code !== undefined || / nested more than /.test(error.message);
    if (error.message.includes("cannot be read: ") && !isExpected)
      return `a loader threw: ${error.cause?.stack ?? error.stack}`;
  }
  return undefined;
}
