import { expect, test } from "vitest";
import { citewell, citewellJson, type SearchJson } from "../support/citewell-here.js";
import { temporaryFolder } from "../support/temporary-folder.js";

interface WhyJson extends SearchJson {
  readonly why: {
    readonly uri: string;
    readonly chunks: number;
    readonly histories: readonly { readonly chunkId: string; readonly kept: boolean; readonly summary: string }[];
  };
}

test("--why says for a chunk, a file or a uri where it was found or lost", async () => {
  const cwd = await temporaryFolder({
    "docs/kettle.md": "A kettle boils water.\n",
    "docs/lantern.md": "A lantern gives light. It is no kettle.\n",
    "docs/other.md": "Nothing of the kind.\n",
  });
  await citewellJson(["index", "docs"], { cwd });
  const words = ["search", "kettle", "--mode", "lexical", "--limit", "1"];
  const first = await citewellJson<WhyJson>([...words, "--why", "docs/kettle.md"], { cwd });
  expect(first.why).toMatchObject({ uri: first.hits[0]!.uri, chunks: 1 });
  expect(first.why.histories).toMatchObject([
    { chunkId: first.hits[0]!.chunkId, kept: true, summary: "kept by search lexical at rank 1" },
  ]);

  const lost = await citewellJson<WhyJson>([...words, "--why", "docs/lantern.md"], { cwd });
  expect(lost.why.histories).toMatchObject([
    { kept: false, summary: "dropped by search lexical: ranked 2, and count is 1" },
  ]);
  const { chunkId } = lost.why.histories[0]!;
  const { stdout } = await citewell([...words, "--why", chunkId], { cwd });
  expect(stdout).toBe(
    `docs/lantern.md:1  (${chunkId})\n` +
      "  dropped by search lexical: ranked 2, and count is 1\n" +
      "  - search lexical: dropped: ranked 2, and count is 1\n" +
      `      lexical: rank 2, score ${/score (\S+)/.exec(stdout)![1]}\n`,
  );
  expect((await citewell([...words, "--why", "docs/other.md"], { cwd })).stdout).toBe(
    "docs/other.md: no step found any of its 1 chunks.\n",
  );
  const unknown = await citewell([...words, "--why", "docs/none.md"], { cwd });
  expect(unknown.exitCode).toBe(2);
  expect(unknown.stderr).toMatch(/has no chunk and no document docs\/none\.md/);
});
