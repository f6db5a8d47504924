import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import type { LoadedText, Loader } from "../../../src/load/formats/loader.js";
import { loadRestructuredText } from "../../../src/load/formats/markup/restructured-text.js";
import { shareOfWords } from "../../support/share-of-words.js";

const { signal } = new AbortController();
const fixtures = fileURLToPath(new URL("../../fixtures/markup/", import.meta.url));
const readme = readFileSync(new URL("../../../src/load/formats/markup/README.md", import.meta.url), "utf8");

/** The reader of each folder of fixtures. */
const loaders: Readonly<Record<string, { readonly load: Loader; readonly name: string }>> = {
  rst: { load: loadRestructuredText, name: "reStructuredText" },
};

const filesOf = (folder: string) => readdirSync(join(fixtures, folder)).filter((name) => !name.endsWith(".txt"));

async function load(loader: Loader, path: string, source: string | Uint8Array): Promise<LoadedText> {
  const bytes = typeof source === "string" ? new TextEncoder().encode(source) : source;
  return loader({ path, uri: pathToFileURL(path).href, bytes }, signal);
}

/** What is read of a hostile file is no more than a few times its size. */
async function expectBounded(loader: Loader, hostile: Readonly<Record<string, string>>) {
  for (const [name, source] of Object.entries(hostile)) {
    const { text } = await load(loader, "/x", source);
    expect.soft(text.length, name).toBeLessThan(8 * source.length + 100);
  }
  const rows = load(loader, "/x", "a b\n".repeat(1_000_000));
  await expect(rows).rejects.toMatchObject({ code: "too-large", message: expect.stringContaining("split it") });
}

const loadFixture = (folder: string, name: string) => {
  const path = join(fixtures, folder, name);
  return load(loaders[folder]!.load, path, readFileSync(path));
};

describe.each(Object.entries(loaders))("%s files as people have them", (folder, { name }) => {
  test("hold the words that another program finds in them, and few others, as the README says", async () => {
    const shares = await Promise.all(
      filesOf(folder).map(async (file) => {
        const { text } = await loadFixture(folder, file);
        const other = readFileSync(join(fixtures, folder, `${file}.txt`), "utf8");
        return { file, recall: shareOfWords(other, text), precision: shareOfWords(text, other) };
      }),
    );
    expect(shares.length).toBeGreaterThanOrEqual(8);
    for (const { file, recall, precision } of shares) {
      expect.soft(recall, `${file}: words found`).toBeGreaterThan(0.9);
      expect.soft(precision, `${file}: words expected`).toBeGreaterThan(0.9);
    }
    const mean = (values: readonly number[]) =>
      (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(2).replace(/^0/, "");
    const figures = `| ${mean(shares.map(({ recall }) => recall))} | ${mean(shares.map(({ precision }) => precision))} |`;
    const row = readme.split("\n").find((line) => line.startsWith(`| ${name} `));
    expect(row?.replace(/ +/g, " ")).toContain(figures);
  });

  test("have an anchor for each block, in order, whose line in the file has the first word of it", async () => {
    for (const file of filesOf(folder)) {
      const { text, anchors = [] } = await loadFixture(folder, file);
      const lines = readFileSync(join(fixtures, folder, file), "utf8").split("\n");
      expect.soft(anchors.length, file).toBeGreaterThan(2);
      expect(anchors.map(({ start }) => start)).toEqual(anchors.map(({ start }) => start).toSorted((a, b) => a - b));
      const wrong = anchors.filter(({ start, line }) => {
        const [word] =
          /[\p{L}\p{N}]{2,}/u.exec(
            text
              .slice(start)
              .replace(/^```.*\n/, "")
              .split("\n", 1)[0]!,
          ) ?? [];
        return (
          word !== undefined &&
          !lines.slice(line! - 1, line! + 2).some((each) => each.toLowerCase().includes(word.toLowerCase()))
        );
      });
      // The words of a version note and the like stand in no file.
      expect.soft(wrong.length / anchors.length, file).toBeLessThan(0.15);
    }
  });
});

describe("reStructuredText", () => {
  const rst = async (source: string) => (await load(loadRestructuredText, "/x.rst", source)).text;

  test("no file is read that a directive names, and comments are left out", async () => {
    const { text } = await loadFixture("rst", "client.rst");
    expect(text).not.toMatch(/passwd|root:|secrets\.txt|nobody reads|neither/);
    expect((await loadFixture("rst", "tables.rst")).text).not.toContain("alert");
  });

  test("titles by the order of their underlines, literals, roles, and code are rendered as meant", async () => {
    expect(
      await rst(
        "Guide\n=====\n\nSee :func:`~a.b.run` or `the page <https://x>`_ and ``--wait``::\n\n  run()\n\nSub\n---\n\n.. code-block:: python\n   :linenos:\n\n   print(1)\n",
      ),
    ).toBe("# Guide\n\nSee `run` or the page and `--wait`:\n\n```\nrun()\n```\n\n## Sub\n\n```python\nprint(1)\n```");
  });

  test("cells of a grid over several rows and columns stand once", async () => {
    const { text } = await loadFixture("rst", "client.rst");
    expect(text).toContain("| Option | Default | Meaning |\n| --- | --- | --- |");
    expect(text).toContain("| wait | 30 | Seconds to wait for a free berth. |");
    expect(text).toContain("| South pier | see the chart above |");
  });

  test("hostile files are read to the end, and none of their words is lost or multiplied", async () => {
    const hostile: Readonly<Record<string, string>> = {
      "marks that never end": "*a ``b `c |d ".repeat(20_000),
      "nested quotations": Array.from({ length: 2000 }, (_, depth) => `${" ".repeat(depth)}word\n`).join("\n"),
      "nested lists": Array.from({ length: 2000 }, (_, depth) => `${" ".repeat(2 * depth)}- word\n`).join("\n"),
      "a grid of many corners": `+${"-+".repeat(20_000)}\n${`|${"a|".repeat(20_000)}\n`.repeat(20)}`,
      "a table without an end": `===  ===\n${"a    b\n".repeat(50_000)}`,
      "directives in directives": Array.from({ length: 500 }, (_, depth) => `${"   ".repeat(depth)}.. note::\n`).join(
        "\n",
      ),
      "a substitution of itself": ".. |a| replace:: |a| |a|\n\n|a|\n",
      "cut off in a directive": ".. list-table::\n   :header-rows: 1\n\n   * - a",
    };
    await expectBounded(loadRestructuredText, hostile);
  });
});
