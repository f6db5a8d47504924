import { rm } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { LoadError, OptionsError } from "../../src/core/errors.js";
import { openCollection, spread } from "../../src/evaluate/collection.js";
import { numberedLines } from "../../src/evaluate/json-lines.js";
import { collect } from "../../src/core/stream.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const lines = (...values: unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");

const files = {
  "corpus.jsonl": lines({ _id: "d1", title: "Keys", text: "Keys expire." }, { _id: "d2", text: "Locks rust." }),
  "queries.jsonl": lines({ _id: "q1", text: "Which expire?" }, { _id: "q2", text: "Which rust?" }),
  "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq2\td2\t2\nq1\td1\t1\nq1\td2\t0\n",
};

const open = async (changed: Partial<Record<keyof typeof files, string>> = {}) => {
  const folder = await temporaryFolder({ ...files, ...changed });
  return { folder, collection: await openCollection(folder) };
};

async function failureOf(changed: Partial<Record<keyof typeof files, string>>): Promise<unknown> {
  try {
    const { collection } = await open(changed);
    await collect(collection.documents());
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("openCollection", () => {
  test("reads documents with their titles, and queries with their judgements", async () => {
    const { collection } = await open();
    const documents = await collect(collection.documents());
    expect(documents.map(({ uri, ...document }) => ({ id: collection.documentId(uri), ...document }))).toEqual([
      { id: "d1", title: "Keys", text: "Keys expire.", source: collection.source },
      { id: "d2", text: "Locks rust.", source: collection.source },
    ]);
    expect(collection.queries).toEqual([
      {
        id: "q1",
        text: "Which expire?",
        judgements: new Map([
          ["d1", 1],
          ["d2", 0],
        ]),
      },
      { id: "q2", text: "Which rust?", judgements: new Map([["d2", 2]]) },
    ]);
  });

  test("a document with only a title has the title as text", async () => {
    const { collection } = await open({ "corpus.jsonl": lines({ _id: "d1", title: "Keys", text: " " }) });
    expect(await collect(collection.documents())).toMatchObject([{ title: "Keys", text: "Keys" }]);
  });

  test("queries without judgements or relevant documents are not asked", async () => {
    const { collection } = await open({ "qrels/test.tsv": "q1\td1\t0\nq2\td2\t1\n" });
    expect(collection.queries.map(({ id }) => id)).toEqual(["q2"]);
    expect(collection.withoutRelevant).toBe(1);
    const other = await open({ "qrels/test.tsv": "q1\td1\t1\n" });
    expect(other.collection.queries.map(({ id }) => id)).toEqual(["q1"]);
    expect(other.collection.withoutRelevant).toBe(0);
  });

  test("accepts other files for queries and judgements", async () => {
    const folder = await temporaryFolder({
      "corpus.jsonl": files["corpus.jsonl"],
      "train.jsonl": lines({ _id: "t1", text: "Trained?" }),
      "train.tsv": "t1\td1\t1\n",
    });
    const { queries } = await openCollection(folder, {
      queries: join(folder, "train.jsonl"),
      qrels: join(folder, "train.tsv"),
    });
    expect(queries.map(({ id }) => id)).toEqual(["t1"]);
  });

  test.each([
    ["corpus.jsonl", lines({ _id: "d1", text: "x" }) + "{oops\n", /Line 2 of .*corpus\.jsonl is not valid JSON/],
    ["corpus.jsonl", "\n" + lines({ text: "x" }), /Line 2 of .*corpus\.jsonl .*_id/],
    [
      "corpus.jsonl",
      lines({ _id: "d", text: "x" }, { _id: "d", text: "y" }),
      /Line 2 .* repeats the _id d of an earlier/,
    ],
    ["queries.jsonl", lines({ _id: "q1" }), /Line 1 of .*queries\.jsonl .*text/],
    ["queries.jsonl", lines({ _id: "q1", text: "x" }, { _id: "q1", text: "y" }), /Line 2 .* repeats the _id q1/],
    ["qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\tmuch\n", /Line 2 of .*test\.tsv is not a query id/],
    ["qrels/test.tsv", "q1 d1 1\n", /Line 1 of .*test\.tsv is not a query id/],
    ["qrels/test.tsv", "q1\td1\t\n", /Line 1|no document relevant/],
    ["qrels/test.tsv", "q1\td1\t1\nq1\td1\t0\n", /Line 2 .* judges d1 for query q1 a second time/],
  ] as const)("a bad line of %s is named with its number (%#)", async (file, content, message) => {
    const error = await failureOf({ [file]: content });
    expect(error).toBeInstanceOf(LoadError);
    expect((error as Error).message).toMatch(message);
  });

  test("judgements may be in TREC's layout, and ids may be numbers", async () => {
    const folder = await temporaryFolder({
      "corpus.jsonl": lines({ _id: 7, text: "Keys expire." }),
      "queries.jsonl": lines({ _id: 1, text: "Which expire?" }),
      "qrels/test.tsv": "1 0 7 2\n1 0 7 2\n",
    });
    const { queries, documents, documentId } = await openCollection(folder);
    expect(queries).toEqual([{ id: "1", text: "Which expire?", judgements: new Map([["7", 2]]) }]);
    expect((await collect(documents())).map(({ uri }) => documentId(uri))).toEqual(["7"]);
  });

  test("judgements under another name are pointed out", async () => {
    const folder = await temporaryFolder({ ...files, "qrels/dev.tsv": "q1\td1\t1\n" });
    await rm(join(folder, "qrels/test.tsv"));
    await expect(openCollection(folder)).rejects.toMatchObject({
      code: "missing",
      message: expect.stringMatching(/no file .*test\.tsv, but .*dev\.tsv/),
    });
  });

  test("a missing file is named", async () => {
    const folder = await temporaryFolder({ "corpus.jsonl": files["corpus.jsonl"] });
    await expect(openCollection(folder)).rejects.toMatchObject({
      code: "missing",
      message: expect.stringMatching(/test\.tsv/),
    });
  });

  test("judgements of unknown queries are refused, not counted as failures of the search", async () => {
    const error = await failureOf({ "qrels/test.tsv": "q1\td1\t1\nq9\td1\t1\n" });
    expect(error).toBeInstanceOf(OptionsError);
    expect((error as Error).message).toMatch(/1 of 2 queries judged in .* are not in .*queries\.jsonl, q9 first/);
  });
});

describe("numberedLines", () => {
  const readLines = async (content: string) => {
    const folder = await temporaryFolder({ "lines.txt": content });
    return collect(numberedLines(join(folder, "lines.txt")));
  };

  test("a long line is searched for its end once, however many blocks of the file it takes", async () => {
    const split = vi.spyOn(String.prototype, "split");
    try {
      const [line] = await readLines(`${"x".repeat(4_000_000)}\n`);
      expect(line?.text).toHaveLength(4_000_000);
      const searched = split.mock.contexts.reduce<number>((sum, text) => sum + String(text).length, 0);
      expect(searched).toBeLessThan(4_100_000);
    } finally {
      split.mockRestore();
    }
  });

  test("only LF and CRLF end a line: U+2028 within a JSON string stays", async () => {
    expect(await readLines("a\u2028b\r\n\n\u0085c")).toEqual([
      { number: 1, text: "a\u2028b" },
      { number: 3, text: "\u0085c" },
    ]);
  });

  test("gives the lines of the whole text, also across the edges of blocks", async () => {
    const text = fc.array(fc.constantFrom("x".repeat(50_000), "好".repeat(30_000), "\n", "é", "\uFFFD"), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(text, async (parts) => {
        const content = parts.join("");
        const expected = content
          .split("\n")
          .flatMap((line, index) => (line ? [{ number: index + 1, text: line }] : []));
        expect(await readLines(content)).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });
});

describe("spread", () => {
  test("takes items evenly, from the first on, in order and none twice", () => {
    expect(spread([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 4)).toEqual([0, 2, 5, 7]);
    expect(spread([0, 1], 5)).toEqual([0, 1]);
  });
});

test("a corpus that holds none of the judged documents is refused when it was read, with the way out", async () => {
  const error = await failureOf({ "corpus.jsonl": lines({ _id: "docs/d1.md", text: "Keys expire." }) });
  expect(error).toBeInstanceOf(OptionsError);
  expect((error as Error).message).toMatch(
    /corpus\.jsonl holds none of the documents that are judged in .*test\.tsv, such as d\d; its first is docs\/d1\.md\. Name files that belong together$/,
  );
});
