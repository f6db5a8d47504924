import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Parser } from "htmlparser2";
import type * as Html from "../src/load/formats/html/html.js";
import { aimsOf } from "./aims.js";
import type { Benchmark, RunContext } from "./runner/benchmark.js";
import { project, shipped } from "./runner/project.js";

/** Reads a page, and returns its text; nothing where it only looks at all of it. */
type Reader = (page: Buffer) => string | undefined;

const manual = "/usr/share/doc/python3-doc/html";
const corpora = [
  { name: "manual", folder: manual, megabytes: 16 },
  { name: "articles", folder: join(project, "../shared/data/articles/html"), megabytes: 16 },
];
/** Larger files are lists for machines. */
const maxPageBytes = 1e6;
/** Share of the text between tags that a reader keeps at least: the rest are scripts, menus and teasers. */
const minKept = 0.01;

export const benchmark: Benchmark<Reader> = {
  name: "read",
  question: "How much CPU does it take to read pages of HTML as Markdown?",
  method:
    "The manual is the first 16 MB of Python's, page by page in the order of their names without those of over a megabyte; the articles are 92 saved " +
    "pages of newspapers and blogs. The limit is one pass of htmlparser2, the parser that citewell uses, over the same bytes with handlers that count. " +
    "Figures are of CPU time of a process that has read all pages once before, the median of `passes`; bytes are in memory. A reader that " +
    "keeps less than a hundredth of the characters between tags, most of which are scripts in some pages, fails; which words are right is what `npm run bench articles` and tests say.",
  contenders: [
    { name: "one parser pass", kind: "limit", load: async () => parsed },
    {
      name: "citewell",
      kind: "citewell",
      load: async () => {
        const { loadHtml } = await shipped<typeof Html>("load/formats/html/html.js");
        return (bytes) => loadHtml({ bytes, path: "page.html", uri: "file:///page.html" }).text;
      },
    },
  ],
  beside: "one parser pass",
  measures: Object.fromEntries(corpora.map(({ name }) => [name, { unit: "CPU ms/MB", better: "lower" }])),
  sizes: { smoke: { share: 0.02, passes: 1 }, usual: { share: 1, passes: 5 } },
  rounds: 3,
  aims: aimsOf("read"),
  unavailable: () =>
    corpora.some(({ folder }) => existsSync(folder))
      ? undefined
      : `there are no pages in ${corpora.map(({ folder }) => folder).join(" or ")}: apt-get install python3-doc`,
  measure: measureReading,
};

async function measureReading(read: Reader, { size, timed }: RunContext<undefined>) {
  const measures: Record<string, number> = {};
  for (const { name, folder, megabytes } of corpora.filter((corpus) => existsSync(corpus.folder))) {
    const pages = pagesIn(folder, megabytes * 1e6 * size["share"]!);
    const bytes = pages.reduce((sum, page) => sum + page.length, 0);
    checkTexts(pages, pages.map(read));
    const seconds: number[] = [];
    while (seconds.length < size["passes"]!) {
      const { cpuSeconds } = await timed(() => {
        for (const page of pages) read(page);
      });
      seconds.push(cpuSeconds);
    }
    const median = seconds.toSorted((one, other) => one - other)[seconds.length >> 1]!;
    measures[name] = (1000 * median) / (bytes / 1e6);
  }
  return measures;
}

/** The pages of a folder in the order of their names, up to a number of bytes; the first one in any case. */
function pagesIn(folder: string, maxBytes: number): Buffer[] {
  const root = realpathSync(folder);
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.html(?:\.gz)?$/.test(path),
  );
  const pages: Buffer[] = [];
  let total = 0;
  for (const path of paths.toSorted()) {
    const file = readFileSync(join(root, path));
    const page = path.endsWith(".gz") ? gunzipSync(file) : file;
    if (page.length > maxPageBytes) continue;
    total += page.length;
    if (total > maxBytes && pages.length > 0) break;
    pages.push(page);
  }
  return pages;
}

function parsed(page: Buffer): undefined {
  charactersIn(page);
}

/** Characters between the tags of a page, with those of scripts. */
function charactersIn(page: Buffer): number {
  let characters = 0;
  let elements = 0;
  const handlers = {
    onopentag: () => void elements++,
    ontext: (text: string) => void (characters += text.length),
    onclosetag: () => void elements--,
  };
  new Parser(handlers, { decodeEntities: true, lowerCaseTags: true }).end(page.toString());
  return characters;
}

function checkTexts(pages: readonly Buffer[], texts: readonly (string | undefined)[]): void {
  if (texts.every((text) => text === undefined)) return;
  const kept = texts.reduce((sum, text = "") => sum + text.length, 0);
  const all = pages.reduce((sum, page) => sum + charactersIn(page), 0);
  if (kept < minKept * all) throw new Error(`of ${all} characters between tags, ${kept} were kept`);
}
