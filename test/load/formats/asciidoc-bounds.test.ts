import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Formats } from "../../../src/load/formats/formats.js";
import { loadAsciidoc } from "../../../src/load/formats/markup/asciidoc.js";
import { readAll } from "../../support/read-all.js";

const load = (source: string) =>
  loadAsciidoc({ path: "/x.adoc", uri: "file:///x.adoc", bytes: Buffer.from(source) }, new AbortController().signal);

test("AsciiDoc is read in the process that can be ended, whatever its size", async () => {
  expect(new Formats().ofFile("a.adoc")).toMatchObject({ worker: "asciidoc", minWorkerBytes: 0 });
  expect((await readAll("a.adoc", "= Title\n\nWord.")).documents[0]!.text).toBe("# Title\n\nWord.");
});

test("attributes that stand for far more than the file are refused before they are filled in", async () => {
  const long = `:a: ${"x".repeat(4000)}\n\n`;
  for (const bomb of [
    `${long}${"{a} ".repeat(6000)}`,
    `${long}:b: {a}{a}\n:c: {b}{b}\n\n${"{c} ".repeat(6000)}`,
    `:a: x \\\n${"y ".repeat(100)}\n\n${"{a} ".repeat(6000)}`,
    `{set:a:${"x".repeat(4000)}}\n\n${"{a} ".repeat(6000)}`,
  ]) {
    await expect(load(bomb)).rejects.toMatchObject({
      code: "too-large",
      message: expect.stringContaining("repeats its attributes to more than 20 million characters"),
    });
  }
});

test("attributes as people use them are filled in", async () => {
  const { text } = await load(
    `= Guide\n:port: 8080\n:host: example.org:{port}\n\n${"Open {host}, {nothing}.\n\n".repeat(500)}`,
  );
  expect(text.split("example.org:8080")).toHaveLength(501);
});

test("no file is included, not even itself, also by an attribute of a directive", async () => {
  const here = new URL(import.meta.url).pathname;
  const { text } = await load(`:p: ${here}\n\ninclude::${here}[]\n\ninclude::{p}[]\n\nWords.\n`);
  expect(readFileSync(here, "utf8")).toContain("no file is included");
  expect(text).not.toContain("no file is included");
  expect(text).toContain("Words.");
});
