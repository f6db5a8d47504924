import { once } from "node:events";
import { expect, test } from "vitest";
import { warningsIn } from "../../src/thread/relay-warnings.js";
import { startThread } from "../../src/thread/worker-calls.js";

test("a warning of Node's own in a thread is one of the process, which shows it in its own way", async () => {
  const warned = once(process, "warning");
  startThread(new URL("warning-thread.mjs", import.meta.url), {});
  expect(await warned).toEqual([
    expect.objectContaining({ name: "DeprecationWarning", code: "DEP9", message: "old\nways" }),
  ]);
});

test("each warning that a thread writes is told from the next, and words that are none are a warning without a name", () => {
  const hint = "(Use `node --trace-warnings ...` to show where the warning was created)\n";
  expect(warningsIn(`(node:7) ExperimentalWarning: new\n${hint}(node:7) [DEP1] DeprecationWarning: a\nb\n`)).toEqual([
    { name: "ExperimentalWarning", code: undefined, message: "new" },
    { name: "DeprecationWarning", code: "DEP1", message: "a\nb" },
  ]);
  expect(warningsIn("some words\n")).toEqual([{ name: "Warning", code: undefined, message: "some words" }]);
  expect(warningsIn(hint)).toEqual([]);
});
