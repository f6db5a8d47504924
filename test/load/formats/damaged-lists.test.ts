import { strToU8, zipSync } from "fflate";
import { Header } from "tar";
import { describe, expect, test } from "vitest";
import { readAll } from "../../support/read-all.js";

const names = ["a.txt", "m.txt", "z.txt"];

/** An archive of three files, whose list has this done to the entry of the one in the middle. */
function zipWith(damage: (entry: Buffer) => void): Buffer {
  const zip = Buffer.from(
    zipSync(Object.fromEntries(names.map((name) => [name, strToU8(`Text of ${name}`)])), { level: 0 }),
  );
  damage(zip.subarray(zip.indexOf("PK\u0001\u0002", zip.indexOf("PK\u0001\u0002") + 1, "latin1")));
  return zip;
}

describe("an entry that is wrong in the list of a ZIP archive", () => {
  test.each<[string, (entry: Buffer) => void]>([
    ["has strong encryption", (entry) => entry.writeUInt16LE(0x40, 8)],
    ["is stored, with another size than the list says", (entry) => entry.writeUInt32LE(3, 24)],
    // The name's last four letters become an extra field that is longer than its room.
    ["has extra fields that are cut off", (entry) => entry.writeUInt16LE(1, 28) && entry.writeUInt16LE(4, 30)],
  ])("%s: it is named, and no other is lost", async (_, damage) => {
    const { documents, failures } = await readAll("x.zip", zipWith(damage));
    expect(documents.map(({ uri }) => uri)).toEqual(["x.zip#a.txt", "x.zip#z.txt"]);
    expect(failures).toEqual([
      expect.stringMatching(/^x\.zip#m(\.txt)?: .+ is damaged in the list of the archive \(.+\)/),
    ]);
  });

  test("and says no more where the next begins: the files before are read, and the archive is named", async () => {
    const { documents, failures } = await readAll(
      "x.zip",
      zipWith((entry) => entry.writeUInt32LE(0, 0)),
    );
    expect(documents.map(({ uri }) => uri)).toEqual(["x.zip#a.txt"]);
    expect(failures).toEqual([expect.stringContaining("x.zip is damaged (invalid central directory")]);
  });

  test("a list that names no file of an archive that has some is no empty archive", async () => {
    // A comment that looks like the end of a list is what readers find first.
    const end = Buffer.concat([Buffer.from("PK\u0005\u0006", "latin1"), Buffer.alloc(18)]);
    const zip = Buffer.concat([zipWith(() => {}), end]);
    zip.writeUInt16LE(end.length, zip.length - end.length - 2);
    const { documents, failures } = await readAll("x.zip", zip);
    expect(documents).toEqual([]);
    expect(failures).toEqual([expect.stringContaining("its list names none")]);
    expect(await readAll("x.zip", Buffer.from(zipSync({})))).toMatchObject({ documents: [], failures: [] });
  });
});

test("a file of a tar archive whose path leads out of it is named, and no other is lost", async () => {
  const file = (path: string) => {
    const header = Buffer.alloc(512);
    new Header({ path, mode: 0o644, size: 4, type: "File", mtime: new Date(0) }).encode(header);
    return [header, Buffer.from("text"), Buffer.alloc(508)];
  };
  const tar = Buffer.concat([...["a.txt", "../../m.txt", "z.txt"].flatMap(file), Buffer.alloc(1024)]);
  const { documents, failures } = await readAll("x.tar", tar);
  expect(documents.map(({ uri }) => uri)).toEqual(["x.tar#a.txt", "x.tar#z.txt"]);
  expect(failures).toEqual([expect.stringContaining("x.tar#../../m.txt leads out of the archive")]);
});
