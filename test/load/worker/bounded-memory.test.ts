import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runNode } from "../../support/run-process.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const program = fileURLToPath(new URL("reading-process.mjs", import.meta.url));
const rows = 250_000;
const text = "A row of some words that is as long as a short paragraph is, more or less. ".repeat(4).trim();
const heapMegabytes = 64;

/** A thousand rows at once: a write for each would take most of the time. */
function* pieces(head: string, row: (number: number) => string): Generator<string> {
  yield head;
  for (let from = 0; from < rows; from += 1000) {
    yield Array.from({ length: 1000 }, (_, at) => row(from + at)).join("");
  }
}

test.each([
  ["CSV", "rows.csv", pieces("number,text\n", (number) => `${number},"${text}"\n`)],
  ["JSON lines", "rows.jsonl", pieces("", (number) => `${JSON.stringify({ number, text })}\n`)],
])("a file of %s that is larger than the memory is read row by row", async (_, name, content) => {
  const path = join(await temporaryFolder(), name);
  await pipeline(Readable.from(content), createWriteStream(path));
  const { exitCode, stdout, stderr } = await runNode(program, [path], {
    environment: { NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}` },
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({ rows, characters: rows * text.length });
  expect(rows * text.length).toBeGreaterThan(heapMegabytes * 2 ** 20);
});
