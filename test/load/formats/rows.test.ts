import { describe, expect, test } from "vitest";
import { LoadError } from "../../../src/core/errors.js";
import type { FileOutcome } from "../../../src/load/formats/loader.js";
import { readFile } from "../../../src/load/sources/read-file.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { readCsv } from "../../../src/load/formats/rows/csv.js";
import { readJsonLines } from "../../../src/load/formats/rows/json.js";
import { readJson } from "../../../src/load/formats/rows/json.js";
import { mapRow } from "../../../src/load/formats/row-mapping.js";
import type { RowOptions, RowReader } from "../../../src/load/formats/loader.js";
import { createRunContext } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const options: RowOptions = {
  mapping: {},
  source: "s",
  maxRowBytes: 1000,
  admit: () => {},
  readInner: () => [] as never,
};

/** The outcomes of a file that comes in pieces of a few bytes. */
async function rowsOf(reader: RowReader, content: string | Uint8Array, given: Partial<RowOptions> = {}) {
  const bytes = Buffer.from(content);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
  }
  return collect(reader({ uri: "file:///x", chunks: chunks() }, { ...options, ...given }));
}

const documentsOf = (outcomes: readonly FileOutcome[]) =>
  outcomes.map((outcome) => {
    if ("document" in outcome) return outcome.document;
    return "error" in outcome ? outcome.error.message : outcome.skipped;
  });

describe("CSV", () => {
  test("a row is a document: named by its id, its line known, the other columns kept", async () => {
    const [first, second] = documentsOf(
      await rowsOf(readCsv, 'id,title,text,year\n7 a,One,"first\nline, and ""more""",2024\nb,Two,second,\n'),
    );
    expect(first).toEqual({
      uri: "file:///x#7%20a",
      source: "s",
      text: 'first\nline, and "more"',
      title: "One",
      mediaType: "text/plain",
      anchors: [{ start: 0, line: 2 }],
      metadata: { id: "7 a", year: "2024" },
    });
    expect(second).toMatchObject({ uri: "file:///x#b", anchors: [{ start: 0, line: 4 }] });
  });

  test("without an id a row is named by its number (RFC 7111); without a text it is all its columns", async () => {
    const documents = documentsOf(await rowsOf(readCsv, "\ufeffproduct;price\r\n\r\nNut;1,50\r\nBolt;\r\n"));
    expect(documents).toMatchObject([
      { uri: "file:///x#row=2", text: "product: Nut\nprice: 1,50", anchors: [{ start: 0, line: 3 }] },
      { uri: "file:///x#row=3", text: "product: Bolt", anchors: [{ start: 0, line: 4 }] },
    ]);
  });

  test.each([
    ["a comma", ","],
    ["a semicolon", ";"],
    ["a tab", "\t"],
    ["a bar", "|"],
  ])("the separator may be %s", async (_, separator) => {
    const csv = [`"a,;|\t"`, "text"].join(separator) + "\n" + ["1", "x"].join(separator);
    expect(documentsOf(await rowsOf(readCsv, csv))).toMatchObject([{ text: "x", metadata: { "a,;|": "1" } }]);
  });

  test("a row with too many values fails by its line and costs no other; one with fewer has blanks", async () => {
    const documents = documentsOf(await rowsOf(readCsv, 'id,text\n1,a\n2,b,c\n3,"d"e\n4\n'));
    expect(documents).toMatchObject([
      { text: "a" },
      "file:///x line 3: has 3 values for 2 columns: quote values that hold the separator",
      { text: '"d"e' },
      { text: "" },
    ]);
  });

  test("rows that end in a separator are read as without it, whether the header ends in one or not", async () => {
    const plain = documentsOf(await rowsOf(readCsv, "id,name\n1,Anna\n2,Bert\n"));
    expect(plain).toMatchObject([{ title: "Anna" }, { title: "Bert" }]);
    expect(documentsOf(await rowsOf(readCsv, "id,name\n1,Anna,\n2,Bert,,\n"))).toEqual(plain);
    expect(documentsOf(await rowsOf(readCsv, "id,name,\n1,Anna,\n2,Bert,\n"))).toEqual(plain);
    const [noted, more] = documentsOf(await rowsOf(readCsv, "id,name,\n1,Anna,late\n2,Bert,,x\n"));
    expect(noted).toMatchObject({ metadata: { column_3: "late" } });
    expect(more).toContain("has 4 values for 3 columns");
  });

  test("in a file of one column a separator is ordinary text", async () => {
    const documents = documentsOf(await rowsOf(readCsv, 'text\nHello, world\n"a, b"\nplain; text\n'));
    expect(documents).toMatchObject([{ text: "Hello, world" }, { text: "a, b" }, { text: "plain; text" }]);
  });

  test("a first line that names the separator is not a row, and line numbers are the file's", async () => {
    const documents = documentsOf(await rowsOf(readCsv, "sep=;\r\nid;text\r\n1;a, b\r\n"));
    expect(documents).toMatchObject([{ uri: "file:///x#1", text: "a, b", anchors: [{ start: 0, line: 3 }] }]);
  });

  test("a quote that is never closed fails the file by the line of the row it is in; rows before it are read", async () => {
    const outcomes = await rowsOf(readCsv, 'id,text\n1,a\n2,"b\n3,c\n');
    expect(documentsOf(outcomes)).toEqual([
      expect.objectContaining({ text: "a" }),
      "file:///x line 3: a quote is opened in this row and never closed. The rows before it were read",
    ]);
    expect(outcomes[1]).toMatchObject({ error: { code: "malformed", uri: "file:///x" } });
  });

  test("columns with an empty or repeated name are distinguished by their number", async () => {
    const [document] = documentsOf(await rowsOf(readCsv, "text,a,a,\nx,1,2,3\n"));
    expect(document).toMatchObject({ metadata: { a: "1", a_3: "2", column_4: "3" } });
  });
});

describe("JSON lines", () => {
  test("a line is a document; blank lines are not", async () => {
    const lines = '{"_id":"a","title":"T","text":"one","tags":["x"],"deep":{"n":1}}\r\n\n{"text":"two"}';
    expect(documentsOf(await rowsOf(readJsonLines, lines))).toEqual([
      {
        uri: "file:///x#a",
        source: "s",
        text: "one",
        title: "T",
        mediaType: "text/plain",
        anchors: [{ start: 0, line: 1 }],
        metadata: { _id: "a", tags: ["x"], deep: { n: 1 } },
      },
      {
        uri: "file:///x#line=3",
        source: "s",
        text: "two",
        mediaType: "text/plain",
        anchors: [{ start: 0, line: 3 }],
      },
    ]);
  });

  test("an id that is half of a surrogate pair costs no row, as an address can hold any id", async () => {
    const lines = '{"id":"a","text":"one"}\n{"id":"\\ud800","text":"two"}\n{"id":"\\udc00","text":"three"}\n';
    expect(documentsOf(await rowsOf(readJsonLines, lines))).toMatchObject([
      { uri: "file:///x#a", text: "one" },
      { uri: "file:///x#%EF%BF%BD", text: "two" },
      { uri: "file:///x#%EF%BF%BD;2", text: "three" },
    ]);
  });

  test("a line that is not an object fails by its number and costs no other", async () => {
    const lines = `{"text":"a"}\n{"text": oops}\n[1]\nnull\n{"text":"${"x".repeat(2000)}"}\n{"text":"b"}\n`;
    const outcomes = await rowsOf(readJsonLines, lines);
    expect(documentsOf(outcomes)).toEqual([
      expect.objectContaining({ text: "a" }),
      `file:///x line 2: Unexpected token 'o', "{"text": oops}" is not valid JSON`,
      "file:///x line 3: is an array, not an object",
      "file:///x line 4: is null, not an object",
      "file:///x line 5: is longer than 1000, which is maxFileBytes",
      expect.objectContaining({ text: "b" }),
    ]);
    expect(outcomes[1]).toMatchObject({ error: { code: "malformed", uri: "file:///x#line=2" } });
    expect(outcomes[4]).toMatchObject({ error: { code: "too-large" } });
  });

  test("rows with one name are all kept, each under an address of its own, and the file is warned of once", async () => {
    const lines = [1, 1, 2, "1;2", 1].map((id, index) => JSON.stringify({ id, text: "abcde"[index] })).join("\n");
    const outcomes = await rowsOf(readJsonLines, lines);
    expect(documentsOf(outcomes)).toMatchObject([
      { uri: "file:///x#1", text: "a" },
      { uri: "file:///x#1;2", text: "b" },
      { uri: "file:///x#2", text: "c" },
      { uri: "file:///x#1%3B2", text: "d" },
      { uri: "file:///x#1;3", text: "e" },
    ]);
    expect(outcomes.flatMap((outcome) => ("warnings" in outcome ? outcome.warnings : []))).toEqual([
      'file:///x line 2: a row before it is named "1" too, so it is "1;2". ' +
        "So are the others like it. Name rows by a column whose values differ (rows.id)",
    ]);
  });

  test("rows whose addresses of their own repeat are kept apart from those that look so", async () => {
    const csv = "uri,text\nhttps://x.y/1,a\nhttps://x.y/1;2,b\nhttps://x.y/1,c\n";
    const outcomes = await rowsOf(readCsv, csv, { mapping: { uri: "uri" } });
    expect(documentsOf(outcomes)).toMatchObject([
      { uri: "https://x.y/1", text: "a" },
      { uri: "https://x.y/1;2", text: "b" },
      { uri: "https://x.y/1;3", text: "c" },
    ]);
  });

  test.each(["utf-8", "utf-16le", "utf-16be", "utf-32le"])(
    "a stream in %s is read wherever its pieces end",
    async (encoding) => {
      const text = '\ufeff{"text":"多语言 ünïcode 😀"}\n{"text":"second"}\n';
      const utf16 = Buffer.from(text, "utf16le");
      const points = Array.from(text, (character) => character.codePointAt(0)!);
      const bytes = {
        "utf-8": Buffer.from(text),
        "utf-16le": utf16,
        "utf-16be": Buffer.from(utf16).swap16(),
        "utf-32le": Buffer.from(Uint32Array.from(points).buffer),
      }[encoding]!;
      expect(documentsOf(await rowsOf(readJsonLines, bytes))).toMatchObject([
        { text: "多语言 ünïcode 😀" },
        { text: "second" },
      ]);
    },
  );

  test("a file is read as its rows are asked for, however long it is", async () => {
    let sent = 0;
    async function* endless() {
      for (;;) {
        sent++;
        yield Buffer.from(`{"text":"row ${sent}"}\n`.repeat(1000));
      }
    }
    let read = 0;
    for await (const outcome of readJsonLines({ uri: "file:///x", chunks: endless() }, { ...options, mapping: {} })) {
      expect("document" in outcome).toBe(true);
      if (++read === 5000) break;
    }
    // The sample from which the encoding is told, and what the rows needed.
    expect(sent).toBeLessThan(30);
  });
});

describe("JSON", () => {
  test("each object of an array is a document, named by JSON Pointer; anything else is one unchanged document", async () => {
    expect(documentsOf(await rowsOf(readJson, '[{"text":"a"},{"id":"b","text":"c"}]'))).toMatchObject([
      { uri: "file:///x#/0", text: "a", anchors: [] },
      { uri: "file:///x#b", text: "c" },
    ]);
    for (const text of ['{"text":"a"}', "[1, 2]", "[]", "// comment\n{}", "[{]"]) {
      expect(documentsOf(await rowsOf(readJson, text))).toEqual([
        { uri: "file:///x", source: "s", text, mediaType: "text/x-json" },
      ]);
    }
  });

  test("one that is too large to hold is an error that says how to read it", async () => {
    await expect(rowsOf(readJson, `[${" ".repeat(2000)}]`)).rejects.toThrow("make it JSON lines");
  });
});

describe("the mapping of columns", () => {
  test("names texts, title, name, address and metadata, also inside objects", () => {
    const row = { head: "H", body: "B", page: { url: "https://x.y/1", n: 3 }, other: 1 };
    const mapping = { text: ["head", "body"], title: "head", id: "page.n", uri: "page.url", metadata: ["other"] };
    expect(mapRow(row, mapping)).toEqual({
      text: "H\n\nB",
      title: "H",
      id: "3",
      uri: "https://x.y/1",
      metadata: { other: 1 },
    });
  });

  test("a missing column fails the file once, and the error names the existing ones", async () => {
    const [outcome, ...more] = await rowsOf(readCsv, "a,b\n1,2\n3,4\n", { mapping: { text: "body" } });
    expect((outcome as { error: Error }).error.message).toBe('file:///x: there is no column "body": it has a, b');
    expect(more).toEqual([]);
  });

  test("is an option of readFile and readFolder", async () => {
    const folder = await temporaryFolder({ "a.csv": "k,v\n1,x\n", "b.jsonl": '{"k":2,"v":"y"}' });
    const rows = { text: "v", id: "k" };
    const documents = await collect(readFolder(folder, { rows }));
    expect(documents.map(({ uri, text }) => [uri.slice(-7), text])).toEqual([
      ["a.csv#1", "x"],
      ["jsonl#2", "y"],
    ]);
    expect(await collect(readFile(`${folder}/a.csv`, { rows }))).toMatchObject([{ text: "x" }]);
    expect(() => readFile("x", { rows: { body: "v" } as object })).toThrow(
      /no option "rows.body"; (did you mean|there are: )/,
    );
  });
});

describe("rows that vanish", () => {
  test("are gone once all rows of their file were read, and not while one of them fails", async () => {
    const folder = await temporaryFolder({
      "whole.csv": "id,text\n1,a\n",
      "broken.csv": 'id,text\n1,a\n2,"b\n',
      "other.csv": "id,text\n1,a\n",
    });
    const source = readFolder(folder, { exclude: ["other.csv"] });
    const context = createRunContext();
    await collect(source.read(context));
    const { id } = source;
    expect([...context.failures.values()]).toEqual([expect.any(LoadError)]);
    expect(await source.vanished(`${id}whole.csv#2`, id)).toBe(true);
    expect(await source.vanished(`${id}broken.csv#3`, id)).toBe(false);
    expect(await source.vanished(`${id}other.csv#2`, id)).toBe(false);
    expect(await source.vanished(`${id}gone.csv#1`, id)).toBe(true);
    expect(await source.vanished("https://x.y/1", id)).toBe(false);
  });

  test("with addresses of their own are gone after a reading without failures, if they are the source's", async () => {
    const folder = await temporaryFolder({ "a.jsonl": '{"url":"https://x.y/1","text":"a"}' });
    const source = readFolder(folder, { rows: { uri: "url" } });
    await collect(source);
    expect(await source.vanished("https://x.y/2", source.id)).toBe(true);
    expect(await source.vanished("https://x.y/2", "another")).toBe(false);
  });
});

test("source code has a language and lines, and generated files are passed over", async () => {
  const folder = await temporaryFolder({
    "a.py": "def f():\n  pass\n",
    "b.tsx": "export {}",
    "package-lock.json": "{}",
    "c.min.js": "x",
    Makefile: "all:",
  });
  const skipped: string[] = [];
  const report = (event: { type: string; reason?: string }) => {
    if (event.type === "skipped") skipped.push(event.reason!);
  };
  const documents = await collect(readFolder(folder).read(createRunContext({ report })));
  expect(documents.map(({ mediaType, anchors }) => [mediaType, anchors])).toEqual([
    ["text/plain", undefined],
    ["text/x-python", undefined],
    ["text/x-typescript", undefined],
  ]);
  expect(skipped).toHaveLength(2);
  expect(await collect(readFolder(folder, { include: ["*.json"] }))).toHaveLength(1);
});

describe("rows that would not fit into memory", () => {
  const atOnce = (reader: RowReader, text: string) => {
    const chunks = async function* () {
      yield Buffer.from(text);
    };
    return collect(reader({ uri: "file:///x", chunks: chunks() }, { ...options, maxRowBytes: 50_000_000 }));
  };
  const empty = `[${"{},".repeat(2_000_000)}{}]`;
  const reason = "more than 2000000 objects and arrays to be held in memory at once";

  test("an array of millions of empty objects is refused before it is parsed", async () => {
    await expect(atOnce(readJson, empty)).rejects.toMatchObject({
      code: "too-large",
      message: `file:///x has ${reason}: make it JSON lines, an object on each`,
    });
    const [fine] = await atOnce(readJson, `{"a":${empty}}`);
    expect(fine).toMatchObject({ document: { mediaType: "text/x-json" } });
  });

  test("a line with as many is a problem of that line", async () => {
    const outcomes = await atOnce(readJsonLines, `{"text":"one"}\n{"a":${empty}}\n{"text":"three"}`);
    expect(documentsOf(outcomes)).toMatchObject([
      { text: "one" },
      `file:///x line 2: has ${reason}: split it`,
      { text: "three" },
    ]);
  });

  test("a CSV file whose first row names more columns than any table has is refused", async () => {
    const outcomes = await atOnce(readCsv, `${"a,".repeat(100_000)}b\n1\n`);
    expect(documentsOf(outcomes)).toEqual([
      'file:///x has 100001 columns, and more than 100000 are not read: is it really separated by ","?',
    ]);
  });
});
