import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { CommandIo } from "../../src/cli/command-context.js";
import { run } from "../../src/cli/program.js";
import { citewell } from "../support/citewell-here.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Runs the command as on a terminal, where it says the most. */
async function onTerminal(directory: string, words: readonly string[], input = "") {
  const said = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof said) => ({
    write: (text: string) => (said[name] += text) !== "",
    isTTY: true,
    columns: 80,
  });
  const io = {
    stdin: Readable.from([input]),
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    environment: { TERM: "dumb" },
    directory,
    signal: new AbortController().signal,
  };
  return { exitCode: await run(io as unknown as CommandIo, words), ...said };
}

test.each([
  ["index", ["index", "docs", "--reread"], /Documents +1 unchanged/, "1 document"],
  ["plan", ["plan", "docs"], /Documents +1 unchanged/, "read"],
  ["ask", ["ask", "When do keys expire?"], /Keys expire.*\[1\]/, "answers are quotes"],
  ["chat", ["chat", "--conversation", "keys"], /Keys expire.*\[1\]/, "answers are quotes"],
  ["chunk by meaning", ["chunk", "docs/keys.md", "--strategy", "semantic"], /Keys expire/, "Sentences compared"],
  ["eval", ["eval", "set"], /nDCG@10/, "queries/s"],
])("with --quiet, %s says nothing but its result, and without it more", async (_, words, result, more) => {
  const cwd = await temporaryFolder({
    "docs/keys.md": "Keys expire after 90 days. Locks rust in the rain.\n",
    "set/corpus.jsonl": '{"_id":"d1","text":"Keys expire."}\n',
    "set/queries.jsonl": '{"_id":"q1","text":"When do keys expire?"}\n',
    "set/qrels/test.tsv": "q1\td1\t1\n",
  });
  expect((await citewell(["index", "docs"], { cwd })).exitCode).toBe(0);
  const input = "When do keys expire?\n";
  const quiet = await onTerminal(cwd, [...words, "--quiet"], input);
  expect(quiet).toEqual({ exitCode: 0, stdout: expect.stringMatching(result), stderr: "" });
  const { stderr } = await onTerminal(cwd, words, input);
  expect(stderr).toContain(more);
});

test("--quiet keeps errors and failures", async () => {
  const cwd = await temporaryFolder({ "docs/broken.pdf": "%PDF-1.7 nothing" });
  expect(await onTerminal(cwd, ["ask", "What?", "--quiet"])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/^citewell: There is no store/),
  });
  expect(await onTerminal(cwd, ["index", "docs", "--quiet"])).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining("Failed    1"),
  });
});
