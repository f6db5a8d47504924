// In test:all alone: it reads thousands of damaged files and waits for time limits, for 42 s.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { SQLite } from "../../support/sqlite.js";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { LoadError } from "../../../src/core/errors.js";
import { readTar } from "../../../src/load/formats/archives/tar.js";
import { readZip } from "../../../src/load/formats/archives/zip.js";
import { Formats } from "../../../src/load/formats/formats.js";
import { heavyLoaders } from "../../../src/load/formats/heavy-loaders.js";
import type { LoadedText, RowReader } from "../../../src/load/formats/loader.js";
import { readMbox } from "../../../src/load/formats/mail/mbox.js";
import { loadSubtitles } from "../../../src/load/formats/markup/subtitles.js";
import { readFeed } from "../../../src/load/formats/rows/feed.js";
import { readJson } from "../../../src/load/formats/rows/json.js";

const fixtures = fileURLToPath(new URL("../../fixtures/", import.meta.url));
const { signal } = new AbortController();
const formats = new Formats();
const maxRowBytes = 1_000_000;

/** Outcomes of a reader of rows; a file within is one of them, not read. */
const rowsOf = (reader: RowReader, name: string, chunks: AsyncIterable<Uint8Array>) =>
  reader(
    { uri: `file:///${name}`, chunks },
    {
      mapping: {},
      source: "",
      maxRowBytes,
      admit: () => {},
      readInner: async function* ({ name: uri, bytes }) {
        yield { document: { uri, source: "", text: Buffer.from(bytes).toString("latin1") }, warnings: [] };
      },
    },
  );

async function* once(bytes: Uint8Array) {
  yield bytes;
}

/** Characters that a file gives, by the reader that its name asks for. */
async function charactersOf(name: string, bytes: Uint8Array): Promise<number> {
  const format = formats.ofFile(name)!;
  let count = 0;
  if ("rows" in format) {
    for await (const outcome of rowsOf(format.rows, name, once(bytes)))
      count += "document" in outcome ? outcome.document.text.length : 0;
    return count;
  }
  const file = { path: `/${name}`, uri: `file:///${name}`, bytes };
  const load = "worker" in format ? heavyLoaders[format.worker] : format.load;
  const { text, inner = [], rows = [] }: LoadedText = await load(file, signal);
  const held = [...inner.map((each) => each.bytes), ...rows.map((each) => each.lines)];
  return held.reduce((sum, { length }) => sum + length, text.length);
}

const files = readdirSync(fixtures, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !/\.(?:txt|sh|py|md)$/.test(entry.name) && formats.ofFile(entry.name))
  .map((entry) => ({ folder: relative(fixtures, entry.parentPath), name: entry.name }));

/** The file without its end, or with eight other bytes, at six places each. */
function* damaged(whole: Uint8Array): Generator<Uint8Array> {
  for (let part = 1; part <= 6; part++) {
    const at = Math.floor((part * whole.length) / 7);
    yield whole.subarray(0, at);
    yield Buffer.from(whole).fill(0xa5, at, Math.min(at + 8, whole.length));
  }
}

describe("a file that breaks off, or of which some bytes are others", () => {
  test.each([...new Set(files.map(({ folder }) => folder))])(
    "in %s ends as a failure or a part of it, and never as much more",
    async (folder) => {
      for (const { name } of files.filter((each) => each.folder === folder)) {
        const stored = readFileSync(join(fixtures, folder, name));
        const [file, whole] = name.endsWith(".ppt.gz") ? [name.slice(0, -3), gunzipSync(stored)] : [name, stored];
        const most = 8 * (await charactersOf(file, whole).catch(() => 0)) + 20_000;
        for (const bytes of damaged(whole)) {
          const count = await charactersOf(file, bytes).catch((error: unknown) => {
            expect.soft(error, name).toBeInstanceOf(LoadError);
            return 0;
          });
          expect.soft(count, name).toBeLessThanOrEqual(most);
        }
      }
    },
  );
});

describe("a file without end", () => {
  let pulled = 0;
  async function* endless(piece: string | Uint8Array, head = ""): AsyncGenerator<Uint8Array> {
    pulled = 0;
    yield Buffer.from(head);
    for (;;) {
      pulled += piece.length;
      yield Buffer.from(piece);
    }
  }
  const mail = "From a@b.example Mon Mar  4 09:12:00 2024\nSubject: x\n\nwords\n\n";

  test.each<readonly [string, RowReader, string | Uint8Array]>([
    ["mailbox", readMbox, mail.repeat(100)],
    ["tar archive", readTar, Buffer.concat(Array.from({ length: 100 }, () => emptyMember()))],
  ])("is read as a %s no further than its documents are taken", async (_, reader, piece) => {
    let taken = 0;
    for await (const outcome of rowsOf(reader, "x.tar", endless(piece))) {
      expect("document" in outcome).toBe(true);
      if (++taken === 20_000) break;
    }
    expect(pulled).toBeLessThanOrEqual((taken / 100 + 2) * piece.length);
  });

  test.each<readonly [string, RowReader, string, string]>([
    ["feed", readFeed, "<rss><channel>", "<item><title>w</title></item>".repeat(100)],
    ["Slack export", readJson, "[", '{"type":"message","ts":"1.0","text":"w"},'.repeat(100)],
    ["ZIP archive", readZip, "PK\u0003\u0004", "w".repeat(4000)],
    ["file in a gzip", readTar, "", "w".repeat(4000)],
  ])("is refused as a %s at the largest size that a file may have", async (_, reader, head, piece) => {
    const reading = async () => {
      for await (const outcome of rowsOf(reader, "x.gz", endless(piece, head))) expect(outcome).toBeUndefined();
    };
    await expect(reading()).rejects.toMatchObject({ code: "too-large", option: "maxFileBytes" });
    expect(pulled).toBeLessThanOrEqual(maxRowBytes + piece.length);
  });
});

describe("a million", () => {
  const million = 1_000_000;
  const load = (format: "sqlite" | "parquet" | "eml", bytes: Uint8Array) =>
    heavyLoaders[format]({ path: "/x", uri: "file:///x", bytes }, signal);

  test("rows of a SQLite file are a line each", async () => {
    const database = new SQLite(":memory:");
    const numbers = `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < ${million})`;
    database.exec(`CREATE TABLE t (w); INSERT INTO t ${numbers} SELECT 'a' FROM c`);
    const { rows } = await load("sqlite", database.serialize());
    expect(rows![0]!.lines).toHaveLength(million * '{"w":"a"}\n'.length - 1);
  });

  test("rows of a Parquet file of some kilobytes are a line each", async () => {
    const data = Array.from({ length: million }, () => "a");
    const bytes = new Uint8Array(parquetWriteBuffer({ columnData: [{ name: "w", data, type: "STRING" }] }));
    expect(bytes.length).toBeLessThan(10_000);
    const { rows } = await load("parquet", bytes);
    expect(rows![0]!.lines).toHaveLength(million * '{"w":"a"}\n'.length - 1);
  });

  test("parts of a mail are refused by the bytes of their headers, and lines of subtitles by their number", async () => {
    const part = "--b\nContent-Disposition: attachment; filename=a.txt\n\nw\n";
    const mail = `Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n${part.repeat(million / 20)}--b--\n`;
    await expect(load("eml", Buffer.from(mail))).rejects.toThrow("Maximum header size of 2000000 bytes exceeded");
    const cues = Buffer.from("1\n00:00:01,000 --> 00:00:02,000\nw\n\n".repeat(million));
    const file = { path: "/x.srt", uri: "file:///x.srt", bytes: cues };
    expect(() => loadSubtitles(file)).toThrow("has 4000001 lines, and at most 100000 are read");
  });
});

/** The header of an empty file in a tar archive. */
function emptyMember(): Buffer {
  const header = Buffer.alloc(512);
  for (const [at, text] of [
    [0, "a.txt"],
    [100, "0000644\0"],
    [124, "00000000000\0"],
    [136, "00000000000\0"],
    [148, "        "],
    [156, "0"],
    [257, "ustar\x0000"],
  ] as const)
    header.write(text, at, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}
