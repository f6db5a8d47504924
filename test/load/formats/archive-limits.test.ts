// In test:all alone: it packs archives up to their limits, for 20 s.
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { strToU8, zipSync, type Zippable } from "fflate";
import { create as createTar } from "tar";
import { describe, expect, test } from "vitest";
import { readAll } from "../../support/read-all.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** A sentence that repeats, as long as asked for. */
const repeated = (bytes: number) => Buffer.alloc(bytes, "Moles dig tunnels under the garden.\n");
/** Words that hardly pack. */
const varied = (bytes: number) =>
  Buffer.from(
    randomBytes(Math.ceil(bytes / 2))
      .toString("hex")
      .slice(0, bytes),
  );

async function tarOf(files: Readonly<Record<string, Uint8Array>>): Promise<Buffer> {
  const folder = await temporaryFolder(files);
  await createTar({ cwd: folder, file: join(folder, "all.tar") }, Object.keys(files));
  return readFile(join(folder, "all.tar"));
}

const way = "raise it if you trust the archive, or unpack it and index the folder";

describe("an archive that unpacks to more than it may", () => {
  test("is not read at all when its files are 100 times its size, which the report says with the numbers", async () => {
    const files: Zippable = {};
    for (let at = 0; at < 6; at++) files[`${at}.txt`] = repeated(5_000_000);
    const bomb = zipSync({ "a.md": strToU8("Word."), ...files });
    const { documents, failures } = await readAll("x.zip", bomb);
    expect(documents).toEqual([]);
    const ratio = Math.ceil(30_000_005 / bomb.length);
    expect(failures).toEqual([
      `x.zip: ${await uriOf("x.zip", failures)} is not read: it unpacks to 30000005 bytes, ${ratio} times its ${bomb.length}, ` +
        `and archives.maxRatio is 100: ${way}`,
    ]);
    expect((await readAll("x.zip", bomb, { archives: { maxRatio: ratio } })).documents).toHaveLength(7);
  });

  test.each([
    ["x.tar.gz", async () => gzipSync(await tarOf({ "a.md": repeated(9), "b.txt": repeated(25_000_000) }))],
    ["x.txt.gz", async () => gzipSync(repeated(25_000_000))],
  ])("%s is measured before the first of its files is read", async (name, pack) => {
    const bytes = await pack();
    const { documents, failures } = await readAll(name, bytes);
    expect(documents).toEqual([]);
    expect(failures).toEqual([
      expect.stringMatching(/ is not read: it unpacks to \d+ bytes, \d+ times its \d+, and archives\.maxRatio is 100/),
    ]);
    expect((await readAll(name, bytes, { archives: { maxRatio: 2000 } })).documents.length).toBeGreaterThan(0);
  });

  test("fails alone where it lies in another, and all of them count against the outermost", async () => {
    const inner = zipSync({ "deep.txt": repeated(21_000_000) });
    const beside = { "1.md": varied(300_000), "z.md": strToU8("Last.") };
    const one = await readAll("x.zip", zipSync({ ...beside, "b.zip": inner }));
    expect(one.documents.map(({ uri }) => uri)).toEqual(["x.zip#1.md", "x.zip#z.md"]);
    expect(one.failures).toEqual([
      expect.stringMatching(/^x\.zip#b\.zip: .*#b\.zip is not read: it unpacks to 21000000 bytes/),
    ]);
    const small = zipSync({ "deep.txt": repeated(9_000_000) });
    const shells: Zippable = {};
    for (let at = 0; at < 5; at++) shells[`${at}.zip`] = small;
    const many = await readAll("x.zip", zipSync(shells, { level: 9 }));
    expect(many.documents.map(({ uri }) => uri)).toEqual(["x.zip#0.zip#deep.txt", "x.zip#1.zip#deep.txt"]);
    expect(many.failures[0]).toMatch(
      /is not read, since with the files before it in the outermost archive it unpacks to 27\d+ bytes/,
    );
  });

  test("is bounded in all and in number by options of the source, to the byte and the file", async () => {
    const two = zipSync({ "a.md": strToU8("0123456789"), "b.md": strToU8("0123456789") });
    const within = { archives: { maxUnpackedBytes: 20, maxFiles: 2 } };
    expect((await readAll("x.zip", two, within)).documents).toHaveLength(2);
    const large = await readAll("x.zip", two, { archives: { maxUnpackedBytes: 19 } });
    expect(large).toMatchObject({
      documents: [],
      failures: [expect.stringContaining("is not read: it unpacks to 20 bytes, and archives.maxUnpackedBytes is 19")],
    });
    const many = await readAll("x.zip", two, { archives: { maxFiles: 1 } });
    expect(many).toMatchObject({
      documents: [],
      failures: [expect.stringContaining("is not read: it has 2 files, and archives.maxFiles is 1")],
    });
  });

  test("is not told by files that are passed over for their size, and up to 20 MB may repeat as they like", async () => {
    const files = { "a.md": strToU8("Word."), "huge.txt": repeated(60_000_000), "b.txt": repeated(19_000_000) };
    const { documents, skipped, failures } = await readAll("x.zip", zipSync(files));
    expect(documents.map(({ uri }) => uri)).toEqual(["x.zip#a.md", "x.zip#b.txt"]);
    expect({ skipped, failures }).toEqual({ skipped: ["x.zip#huge.txt"], failures: [] });
  });
});

test.each(["../up.md", "/root.md", "C:/disk.md", "a/../../b.md"])(
  "a file named %s in an archive fails alone, and those after it are read",
  async (name) => {
    const files = { "first.md": strToU8("First."), [name]: strToU8("Bad."), "last.md": strToU8("Last.") };
    const { documents, failures } = await readAll("x.zip", zipSync(files));
    expect(documents.map(({ uri }) => uri)).toEqual(["x.zip#first.md", "x.zip#last.md"]);
    expect(failures).toEqual([expect.stringContaining("has a name that no file of an archive may have")]);
  },
);

test("backslashes in the names of an archive, as Windows wrote them, part folders", async () => {
  const { documents } = await readAll(
    "x.zip",
    zipSync({ "a\\b.md": strToU8("Word."), "a\\..\\..\\c.md": strToU8("Bad.") }),
  );
  expect(documents.map(({ uri }) => uri)).toEqual(["x.zip#a/b.md"]);
});

/** The address that a failure names, whose folder is a temporary one. */
async function uriOf(name: string, failures: readonly string[]): Promise<string> {
  return failures[0]!.slice(name.length + 2).split(" ")[0]!;
}
