import { zipSync, type Zippable } from "fflate";
import { expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { Formats } from "../../../src/load/formats/formats.js";
import type { FileOutcome } from "../../../src/load/formats/loader.js";
import { MailsOfSource } from "../../../src/load/sources/mails-of-source.js";
import { rowOptions } from "../../../src/load/sources/read-contents.js";
import { LoadingWorker } from "../../../src/load/worker/load-bytes.js";
import { readAll } from "../../support/read-all.js";

/** Reads files that lie in `outer.zip`, as a reader of archives hands them over. */
function innerReader() {
  return rowOptions("file:///outer.zip", {
    formats: new Formats(),
    worker: new LoadingWorker(),
    source: "file:///outer.zip",
    signal: new AbortController().signal,
    maxFileBytes: 1e9,
    archives: { maxUnpackedBytes: 1e9, maxRatio: 100, maxFiles: 100_000 },
    timeoutMs: 1000,
    rows: {},
    replies: "once",
    mails: new MailsOfSource(),
  }).readInner;
}

test("what lies in one file is read up to 1 GB in all, to the byte", async () => {
  const readInner = innerReader();
  // No loader reads this kind, so that nothing but the counting happens, and one array serves for all files.
  const tenth = new Uint8Array(1e8);
  const read = (bytes: Uint8Array) => collect<FileOutcome>(readInner({ name: "a.bin", bytes }));
  for (let count = 0; count < 10; count++) await read(tenth);
  await read(new Uint8Array(0));
  await expect(read(new Uint8Array(1))).rejects.toMatchObject({
    code: "too-large",
    message:
      "file:///outer.zip is read up to a.bin, with which it unpacks to 1000000001 bytes, and archives.maxUnpackedBytes is " +
      "1000000000: raise it if you trust the archive, or unpack it and index the folder",
  });
});

test("and up to 100,000 files, those of inner archives counted with the others; one that would be too many is not begun", async () => {
  const files: Zippable = {};
  for (let count = 0; count < 60_000; count++) files[`${count}.bin`] = [new Uint8Array(0), { level: 0 }];
  const many = zipSync({ ...files, "a.md": new TextEncoder().encode("Word.") });
  const outer = zipSync({ "1.zip": [many, { level: 0 }], "2.zip": [many, { level: 0 }] });
  const { documents, failures, skipped } = await readAll("outer.zip", outer);
  expect(documents.map(({ uri }) => uri)).toEqual(["outer.zip#1.zip#a.md"]);
  expect(failures.join()).toMatch(
    /2\.zip is not read, since with .* it has 120004 files, and archives\.maxFiles is 100000/,
  );
  expect(skipped).toHaveLength(60_000);
});
