// In test:all alone: it tries every reader with every kind of address, for 14 s.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRunContext } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { readBucket } from "../../../src/load/buckets/read-bucket.js";
import { readPath } from "../../../src/load/read-path.js";
import { readFile } from "../../../src/load/sources/read-file.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import type { DocumentSource } from "../../../src/load/sources/source.js";
import { readUrl } from "../../../src/load/web/read-url.js";
import { citewell } from "../../support/citewell.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const secret = "s3cr3t-word";

/** All that a reader's failure says, whether it comes at once or when it is read. */
async function told(open: () => DocumentSource): Promise<string> {
  const context = createRunContext({});
  try {
    await collect(open().read(context));
  } catch (thrown) {
    const { code, message } = thrown as Error & { readonly code: string };
    return `${code}: ${message} ${JSON.stringify(thrown)}`;
  }
  return JSON.stringify([...context.failures]);
}

const places = [
  `mongodb://ada:${secret}@db.example/kb`,
  `sftp://ada:${secret}@files.example/docs`,
  `postgress:/ada:${secret}@db.example/kb`,
  `git://ada:${secret}@git.example/docs`,
  `git+https://ada:${secret}@git.example/docs`,
  `git:https://ada:${secret}@git.example/docs`,
  `git:ada:${secret}@git.example:docs`,
  `http//ada:${secret}@www.example/docs`,
  `//ada:${secret}@files.example/docs`,
  `ada:${secret}@files.example/docs`,
  `https:/ada:${secret}@www.example`,
  `password=${secret} host=files.example`,
];

test.each(places)("%s is no path: no reader repeats what it holds", async (place) => {
  for (const open of [readPath, readFolder, readFile]) {
    const failure = await told(() => open(place));
    expect(failure).toContain("options: ");
    expect(failure).not.toContain(secret);
  }
  expect(await told(() => readUrl(place))).not.toContain(secret);
  const folder = await temporaryFolder({});
  const { exitCode, stderr } = await citewell(["index", place], { cwd: folder });
  expect(exitCode).toBe(2);
  expect(stderr).not.toContain(secret);
  expect(readdirSync(folder).join()).not.toContain(secret);
});

test("the readers of pages and buckets take no name and password, and do not repeat them", async () => {
  for (const open of [
    () => readUrl(`https://ada:${secret}@www.example/docs`),
    () => readUrl(`https://${secret}@www.example/docs`),
    () => readBucket(`s3://ada:${secret}@bucket/docs`),
  ]) {
    const failure = await told(open);
    expect(failure).toMatch(/holds a name or a password|names no bucket/);
    expect(failure).not.toContain(secret);
  }
});

test("a folder whose name looks like an address is read as long as it is there", async () => {
  const folder = await temporaryFolder({ "ada:notes@home/a.md": "Moles dig." });
  const documents = await collect(readFolder(join(folder, "ada:notes@home")).read(createRunContext({})));
  expect(documents).toMatchObject([{ text: "Moles dig." }]);
  expect(await told(() => readFolder(join(folder, "gone")))).toContain("missing: There is no folder at");
});
