import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Document, Json } from "../../../src/core/types.js";
import { createRunContext } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { shareOfWords } from "../../support/share-of-words.js";

const fixtures = new URL("../../fixtures/", import.meta.url);
const tables = ["README.md", "markup/README.md"].flatMap((path) =>
  readFileSync(new URL(`../../../src/load/formats/${path}`, import.meta.url), "utf8").split("\n"),
);

/** Words of one document of a file. */
type Shown = (document: Document) => string;

const own: Shown = ({ text }) => text;
/** A mail below the lines that say who wrote to whom. */
const letter: Shown = ({ text }) => text.replace(/^(?:(?:From|To|Cc|Date|Subject): .*\n)+\n/, "");
const valuesIn = (value: Json): readonly string[] =>
  value !== null && typeof value === "object" ? Object.values(value).flatMap(valuesIn) : [String(value ?? "")];
/** Every value of a row, wherever its mapping put it. A text of lines `name: value` repeats the metadata. */
const values: Shown = ({ text, title = "", metadata = {} }) =>
  [...valuesIn({ title, ...metadata }), /^\w+: /.test(text) ? "" : text].join("\n");

const plainTimes = (text: string) => text.replace(/(\d)T(\d\d:\d\d:\d\d)(?:\.000)?Z/g, "$1 $2");

/** Folders of fixtures by the row of the table that has their shares. */
const formats: Readonly<Record<string, readonly [folder: string, shown: Shown, ending?: string]>> = {
  "`.rtf`": ["office97", own, ".rtf"],
  "`.doc`": ["office97", own, ".doc"],
  "`.xls`": ["office97", own, ".xls"],
  "`.xlsb`": ["office97", own, ".xlsb"],
  "`.ppt`": ["office97", own, ".ppt"],
  "`.eml`": ["mail/eml", letter],
  "`.mbox`": ["mail/mbox", letter],
  "`.msg`": ["mail/msg", letter],
  "`.mht`": ["mail/mht", own],
  "`.zip`": ["archives/zip", own],
  "`.tar`": ["archives/tar", own],
  "`.gz`": ["archives/gz", own],
  "`.rss`": ["feeds/rss", own],
  "`.atom`": ["feeds/atom", own],
  Slack: ["exports/slack", own],
  Confluence: ["exports/confluence", own],
  OpenAPI: ["markup/openapi", own],
  Notion: ["exports/notion", own],
  "`.parquet`": ["tables/parquet", values],
  "`.sqlite`": ["tables/sqlite", values],
};

const readings = new Map<string, Promise<readonly Document[]>>();

/** All documents of a folder, which several formats may share. */
function documentsOf(path: string): Promise<readonly Document[]> {
  const reading = readings.get(path) ?? readWithoutFailure(path);
  readings.set(path, reading);
  return reading;
}

async function readWithoutFailure(path: string): Promise<readonly Document[]> {
  const context = createRunContext();
  const documents = await collect(readFolder(path).read(context));
  expect([...context.failures.values()].map(({ message }) => message)).toEqual([]);
  return documents;
}

describe.each(Object.entries(formats))(
  "%s files of the programs that people have",
  (row, [folder, shown, ending = ""]) => {
    test("hold the words that another program finds in them, and few others, as the table says", async () => {
      const path = fileURLToPath(new URL(folder, fixtures));
      const references = readdirSync(path, { recursive: true, encoding: "utf8" }).filter((name) =>
        name.endsWith(`${ending}.txt`),
      );
      const documents = await documentsOf(path);
      const shares = references.map((name) => {
        const file = basename(name, ".txt");
        const isOfFile = ({ uri }: Document) =>
          [file, `${file}.gz`].includes(decodeURIComponent(basename(uri.split("#")[0]!)));
        const read = plainTimes(documents.filter(isOfFile).map(shown).join("\n"));
        const expected = plainTimes(readFileSync(`${path}/${name}`, "utf8"));
        return { file, found: shareOfWords(expected, read), right: shareOfWords(read, expected) };
      });
      expect(shares.length).toBeGreaterThanOrEqual(8);
      expect.soft(shares.filter(({ found, right }) => !(found >= 0.8 && right >= 0.8))).toEqual([]);
      const mean = (each: readonly number[]) =>
        (each.reduce((sum, one) => sum + one, 0) / each.length).toFixed(2).replace(/^0/, "");
      const figures = `| ${mean(shares.map(({ found }) => found))} | ${mean(shares.map(({ right }) => right))} |`;
      expect(tables.find((line) => line.startsWith(`| ${row} `))?.replace(/ +/g, " ")).toContain(figures);
    });
  },
);
