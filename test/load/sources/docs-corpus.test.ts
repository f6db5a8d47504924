import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { createRunContext } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";

const data = fileURLToPath(new URL("../../../../shared/data/", import.meta.url));
const corpus = join(data, "docs-corpus");
const absent = (folder: string) => (existsSync(folder) ? "" : ` (skipped: there is no ${folder})`);

describe.skipIf(!existsSync(corpus))(`a real documentation site${absent(corpus)}`, () => {
  test.each([
    ["en", 705],
    ["zh", 181],
  ])("all of %s is read unchanged, each with a title", async (language, count) => {
    const context = createRunContext();
    const documents = await collect(readFolder(join(corpus, language)).read(context));
    expect(documents).toHaveLength(count);
    expect(context.failures.size).toBe(0);
    for (const { uri, text, title } of documents) {
      expect(text).toBe(readFileSync(fileURLToPath(uri), "utf8"));
      expect(title).not.toBe("");
    }
  });
});
