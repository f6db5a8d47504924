import { readFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { createRunContext } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { readAll } from "../../support/read-all.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const fixture = (name: string) => readFileSync(new URL(`../../../test/fixtures/archives/${name}`, import.meta.url));
const longName = `${"n".repeat(130)}.txt`;
const accented = "site/docs/deep/%C3%BCber%20%E5%85%B3%E4%BA%8E.txt";

describe("an archive", () => {
  test.each([
    ["info-zip.zip", fixture("info-zip.zip"), true],
    ["gnu.tgz", fixture("gnu.tgz"), true],
    ["pax.tar", gunzipSync(fixture("pax.tar.gz")), true],
    ["pax.tar.gz", fixture("pax.tar.gz"), true],
    ["ustar.tar", gunzipSync(fixture("ustar.tar.gz")), false],
  ])(
    "%s is read through, with paths in the addresses, and passes over what a folder would",
    async (name, bytes, hasLongNames) => {
      const { documents, skipped, failures } = await readAll(name, bytes);
      const texts = Object.fromEntries(documents.map(({ uri, text }) => [uri.slice(name.length + 1), text]));
      expect(texts).toEqual({
        "site/docs/guide.md": "# Guide\n\nWords of the guide.\n",
        "site/people.csv#1": "name: Anna",
        "site/people.csv#2": "name: Zoë",
        [accented]: "Über uns: 关于我们\n",
        ...(hasLongNames && { [`site/docs/${longName}`]: "long\n" }),
      });
      expect(documents.find(({ uri }) => uri.endsWith("guide.md"))).toMatchObject({
        title: "Guide",
        metadata: { modified: expect.stringMatching(/^2024-03-05/) },
      });
      expect(skipped).toEqual([`${name}#site/logo.png`]);
      expect(failures).toEqual([]);
    },
  );

  test("of Python, with a file in ZIP64, is read, too; files of gzip alone by the ending before", async () => {
    const { documents } = await readAll("python.zip", fixture("python.zip"));
    expect(documents.map(({ uri }) => uri)).toEqual([
      `python.zip#site/docs/guide.md`,
      `python.zip#${accented}`,
      "python.zip#site/big64.txt",
    ]);
    expect((await readAll("log.txt.gz", fixture("log.txt.gz"))).documents).toMatchObject([
      { uri: "log.txt.gz#log.txt", text: "First line\nSecond line\n", title: "log" },
    ]);
  });

  test("of the seventh Unix is read, which has no mark but its checksum, and links in a ZIP are passed over", async () => {
    const old = await readAll("v7.tar", gunzipSync(fixture("tar/v7.tar.gz")));
    expect(old.documents.map(({ uri }) => uri)).toContain("v7.tar#harbour/docs/fees.md");
    const zip = await readAll("x.zip", fixture("zip/info-zip.zip"));
    expect(zip.documents.filter(({ uri }) => uri.endsWith("link.md"))).toEqual([]);
  });

  test("that is encrypted loses those files, and says how to read them", async () => {
    const folder = await temporaryFolder({ "a.zip": fixture("encrypted.zip") });
    const skipped: string[] = [];
    const context = createRunContext({ report: (event) => event.type === "skipped" && skipped.push(event.reason) });
    expect(await collect(readFolder(folder).read(context))).toEqual([]);
    expect(skipped).toEqual([expect.stringMatching(/people\.csv is encrypted: unpack the archive$/)]);
  });

  test("of bzip2, Deflate64 and LZMA within names the method of each such file, and how to read it; the others are read", async () => {
    const folder = await temporaryFolder({ "a.zip": fixture("methods.zip") });
    const skipped: string[] = [];
    const context = createRunContext({ report: (event) => event.type === "skipped" && skipped.push(event.reason) });
    expect((await collect(readFolder(folder).read(context))).map(({ title }) => title)).toEqual(["deflate"]);
    expect(skipped.toSorted().map((reason) => reason.replace(/^.*#/, ""))).toEqual(
      [
        ["bzip2.txt", "bzip2"],
        ["deflate64.txt", "Deflate64"],
        ["lzma.txt", "LZMA"],
      ].map(([name, method]) => `${name} is packed by ${method}: unpack the archive, or pack it again by Deflate`),
    );
    expect(context.failures.size).toBe(0);
  });

  test("with files of one path twice gives each an address", async () => {
    const one = zipSync({ "a.txt": strToU8("first"), "b.txt": strToU8("second") });
    const twice = Buffer.from(Buffer.from(one).toString("latin1").replaceAll("b.txt", "a.txt"), "latin1");
    expect((await readAll("x.zip", twice)).documents.map(({ uri, text }) => [uri, text])).toEqual([
      ["x.zip#a.txt", "first"],
      ["x.zip#a.txt;2", "second"],
    ]);
  });
});

describe("an archive made to do harm", () => {
  test("a file larger than allowed is passed over before it is unpacked, and costs no other", async () => {
    const bomb = zipSync({ "bomb.txt": new Uint8Array(3_000_000), "a.txt": strToU8("words") });
    expect(bomb.length).toBeLessThan(10_000);
    const { documents, skipped } = await readAll("x.zip", bomb, { maxFileBytes: 1_000_000 });
    expect(documents.map(({ text }) => text)).toEqual(["words"]);
    expect(skipped).toEqual(["x.zip#bomb.txt"]);
  });

  test("a file that lies about its size is unpacked no further, and fails alone", async () => {
    const lying = Buffer.from(zipSync({ "bomb.txt": new Uint8Array(3_000_000), "z.txt": strToU8("words") }));
    lying.writeUInt32LE(10, lying.indexOf(Buffer.from([0x50, 0x4b, 1, 2])) + 24);
    const { documents, failures } = await readAll("x.zip", lying);
    expect(documents.map(({ text }) => text)).toEqual(["words"]);
    expect(failures).toEqual([expect.stringMatching(/^x\.zip#bomb\.txt: .*is damaged in the archive/)]);
  });

  test("archives inside one another are read five deep, however many there are", async () => {
    let nested = zipSync({ "words.txt": strToU8("deepest") });
    for (let depth = 0; depth < 3; depth++) nested = zipSync({ "in.zip": nested });
    expect((await readAll("x.zip", nested)).documents.map(({ uri }) => uri)).toEqual([
      "x.zip#in.zip#in.zip#in.zip#words.txt",
    ]);
    for (let depth = 0; depth < 40; depth++) nested = zipSync({ "in.zip": nested, "a.txt": strToU8(`level ${depth}`) });
    const { documents, failures } = await readAll("x.zip", nested);
    expect(documents).toHaveLength(6);
    expect(failures).toEqual([
      expect.stringContaining("lies in 5 files inside one another, and deeper ones are not read"),
    ]);
  });

  test("more files than an archive may list are refused before any is read", async () => {
    // The end of the list says how many; a list in ZIP64 would be longer still.
    const many = Buffer.from(zipSync({ "a.txt": strToU8("a") }));
    const end = many.indexOf(Buffer.from([0x50, 0x4b, 5, 6]));
    many.writeUInt16LE(0xfffe, end + 10);
    many.writeUInt16LE(0xfffe, end + 8);
    expect((await readAll("x.zip", many)).failures).toEqual([expect.stringMatching(/is damaged/)]);
  });

  test("a stream of gzip that unpacks without end is stopped at what a file may have", async () => {
    const { failures } = await readAll("log.txt.gz", gzipSync(new Uint8Array(5_000_000)), { maxFileBytes: 1_000_000 });
    expect(failures).toEqual([expect.stringContaining("has more than 1000000 bytes, which is maxFileBytes")]);
  });

  test.each(["info-zip.zip", "gnu.tgz", "pax.tar"])(
    "%s cut or changed anywhere ends as failures and a part of its files",
    async (name) => {
      const whole = name === "pax.tar" ? gunzipSync(fixture("pax.tar.gz")) : fixture(name);
      let failed = 0;
      const step = Math.ceil(whole.length / 25);
      for (let at = 1; at < whole.length; at += step) {
        const changed = Buffer.from(whole);
        changed.fill(0xff, at, at + 4);
        for (const bytes of [whole.subarray(0, at), changed])
          failed += (await readAll(name, bytes)).failures.length > 0 ? 1 : 0;
      }
      expect(failed).toBeGreaterThan(10);
    },
  );

  test("a file that is no archive says what it is", async () => {
    expect((await readAll("x.zip", "plain words")).failures).toEqual([
      expect.stringContaining("is text by its first bytes"),
    ]);
    expect((await readAll("x.tar", "plain words")).failures).toEqual([
      expect.stringContaining("is no tar archive by its first bytes"),
    ]);
  });
});

test("files that are gone from an archive are gone from the source, once it was read whole", async () => {
  const { writeFile } = await import("node:fs/promises");
  const folder = await temporaryFolder({ "x.zip": zipSync({ "a.txt": strToU8("a"), "b.txt": strToU8("b") }) });
  const source = readFolder(folder);
  const [first, second] = await collect(source);
  await writeFile(`${folder}/x.zip`, zipSync({ "b.txt": strToU8("b") }));
  await collect(source);
  expect([await source.vanished(first!.uri), first!.uri.endsWith("#a.txt")]).toEqual([true, true]);
  expect(second!.uri.endsWith("#b.txt")).toBe(true);
});
