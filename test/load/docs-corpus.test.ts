import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readFile } from "../../src/load/read-file.js";
import { readFolder } from "../../src/load/read-folder.js";
import { createRunContext } from "../../src/pipeline.js";
import { collect } from "../../src/stream.js";

const data = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
const formats = join(data, "formats");
const corpus = join(data, "docs-corpus");
const absent = (folder: string) => (existsSync(folder) ? "" : ` (skipped: there is no ${folder})`);

const Entry = z.object({
  file: z.string(),
  text_chars: z.number().optional(),
  must_contain: z.array(z.string()).default([]),
});
const entries = existsSync(formats)
  ? z.array(Entry).parse(JSON.parse(readFileSync(join(formats, "manifest.json"), "utf8")))
  : [];
const folded = (text: string) => text.replace(/\s+/g, " ");

describe.skipIf(!existsSync(formats))(`real HTML and text files${absent(formats)}`, () => {
  test.each(entries.filter(({ file }) => /^(html|txt)\//.test(file)))("$file says what it must", async (entry) => {
    const [document] = await collect(readFile(join(formats, entry.file)));
    for (const words of entry.must_contain) expect(folded(document!.text)).toContain(folded(words));
    expect(document!.text).not.toContain("\u{fffd}");
    if (entry.file.startsWith("txt/")) {
      const characters = Array.from(document!.text.replace(/\s/gu, "")).length;
      expect(Math.abs(characters - entry.text_chars!)).toBeLessThanOrEqual(0.01 * entry.text_chars!);
    }
  });

  test("one text in five encodings is one text, but for its white space", async () => {
    const texts = new Set<string>();
    for (const { file } of entries.filter((entry) => entry.file.startsWith("txt/fake-text"))) {
      const [document] = await collect(readFile(join(formats, file)));
      texts.add(folded(document!.text).trim());
    }
    expect(texts.size).toBe(1);
  });

  test("a Chinese page is the same in GB18030 and in UTF-8", async () => {
    const [utf8] = await collect(readFile(join(formats, "html/debian-faq-basic-defs.zh-cn.html")));
    const [gb18030] = await collect(readFile(join(formats, "html/debian-faq-basic-defs.zh-cn.gb18030.html")));
    expect(gb18030!.text).toBe(utf8!.text);
  });
});

describe.skipIf(!existsSync(corpus))(`a real documentation site${absent(corpus)}`, () => {
  test.each([
    ["en", 705],
    ["zh", 181],
  ])("all of %s is read, as it stands, each with a title", async (language, count) => {
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
