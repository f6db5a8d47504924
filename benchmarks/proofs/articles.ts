/**
 * Scores what is read of saved news pages and posts beside the text that people marked in them, by the measure of
 * scrapinghub's article-extraction-benchmark: runs of four words, precision and recall of each page, and F1 of their means.
 * Readability stands beside, on the DOM of its own package. Rules are chosen on every second page by name, and the other
 * half says whether they hold elsewhere. With `--list` each page of the chosen half stands alone, the worst first.
 *
 *     npm run bench articles [--list]
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type * as Html from "../../src/load/formats/html/html.js";
import type * as Tree from "../../src/load/formats/element-tree.js";
import { project, shipped } from "../runner/project.js";

const folder = join(project, "../shared/data/articles");

interface Page {
  readonly html: Buffer;
  readonly article: string;
  readonly url: string;
}
interface Share {
  readonly precision: number;
  readonly recall: number;
}
type Reader = (html: Buffer) => string;

if (existsSync(folder)) await main();
else process.stdout.write(`The pages are not here: ${folder}\n`);

async function main(): Promise<void> {
  const { loadHtml } = await shipped<typeof Html>("load/formats/html/html.js");
  const { parseHtml } = await shipped<typeof Tree>("load/formats/element-tree.js");
  const readers: Readonly<Record<string, Reader>> = {
    citewell: (html) => loadHtml({ bytes: html, path: "page.html", uri: "file:///page.html" }).text,
    Readability: readabilityAlone(parseHtml),
  };
  const pages = readPages();
  const halves = [0, 1].map((half) => pages.filter((_, at) => at % 2 === half));
  // The first page loads modules.
  for (const read of Object.values(readers)) read(pages[0]!.html);
  process.stdout.write("reader       half      F1    precision  recall   CPU ms a page\n");
  for (const [name, read] of Object.entries(readers)) {
    for (const [half, some] of halves.entries()) {
      const before = process.cpuUsage();
      const texts = some.map(({ html }) => read(html));
      const { user, system } = process.cpuUsage(before);
      const { precision, recall } = mean(some.map(({ article }, at) => shareOf(article, texts[at]!)));
      const f1 = (2 * precision * recall) / (precision + recall);
      const figures = [f1, precision, recall].map((value) => value.toFixed(4)).join("   ");
      const label = half === 0 ? "chosen" : "held out";
      process.stdout.write(
        `${name.padEnd(13)}${label.padEnd(10)}${figures}   ${((user + system) / 1000 / some.length).toFixed(1)}\n`,
      );
    }
  }
  if (process.argv.includes("--list")) list(halves[0]!, readers["citewell"]!);
}

function readPages(): Page[] {
  const truth = JSON.parse(readFileSync(join(folder, "ground-truth.json"), "utf8")) as Record<
    string,
    { readonly articleBody: string; readonly url: string }
  >;
  return readdirSync(join(folder, "html"))
    .toSorted()
    .map((name) => {
      const { articleBody, url } = truth[name.split(".")[0]!]!;
      return { html: gunzipSync(readFileSync(join(folder, "html", name))), article: articleBody, url };
    });
}

/** Readability with the DOM of its package, which reads only markup that is well formed, and so gets it from our tree. */
function readabilityAlone(parseHtml: typeof Tree.parseHtml): Reader {
  const require = createRequire(import.meta.url);
  const { Readability } = require("@mozilla/readability") as {
    readonly Readability: new (document: object) => { parse(): { readonly content: string } | null };
  };
  const JSDOMParser = require("@mozilla/readability/JSDOMParser.js") as new () => {
    parse(markup: string, url: string): object;
  };
  const markupOf = (node: Tree.HtmlNode): string => {
    if ("text" in node) return escaped(node.text);
    if (node.name === "script" || node.name === "style") return "";
    const attributes = Object.entries(node.attributes).flatMap(([name, value]) =>
      /^[\w-]+$/.test(name) ? [` ${name}="${escaped(value)}"`] : [],
    );
    const name = node.name.replace(/[^\w-]/g, "-");
    return `<${name}${attributes.join("")}>${node.children.map(markupOf).join("")}</${name}>`;
  };
  return (html) => {
    const root = parseHtml(html.toString()).children.find((child) => "name" in child && child.name === "html");
    const markup = root ? markupOf(root) : "<html></html>";
    const content = new Readability(new JSDOMParser().parse(markup, "http://page/")).parse()?.content ?? "";
    const text = (node: Tree.HtmlNode): string =>
      "text" in node ? node.text : ` ${node.children.map(text).join("")} `;
    return text(parseHtml(content));
  };
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** Precision and recall of runs of four words, each as often as it is there. */
function shareOf(article: string, text: string): Share {
  const wanted = runsOf(article);
  const found = runsOf(text);
  let common = 0;
  for (const [run, count] of found) common += Math.min(count, wanted.get(run) ?? 0);
  return { precision: common / total(found), recall: common / total(wanted) };
}

function runsOf(text: string): Map<string, number> {
  const words = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const runs = new Map<string, number>();
  for (let at = 0; at < Math.max(1, words.length - 3); at++) {
    const run = words.slice(at, at + 4).join(" ");
    runs.set(run, (runs.get(run) ?? 0) + 1);
  }
  return runs;
}

function total(runs: ReadonlyMap<string, number>): number {
  return [...runs.values()].reduce((sum, count) => sum + count, 0);
}

function mean(shares: readonly Share[]): Share {
  const of = (field: keyof Share) => shares.reduce((sum, share) => sum + share[field], 0) / shares.length;
  return { precision: of("precision"), recall: of("recall") };
}

function list(pages: readonly Page[], read: Reader): void {
  const rows = pages.map(({ html, article, url }) => ({ url, ...shareOf(article, read(html)) }));
  for (const { url, precision, recall } of rows.toSorted((a, b) => a.precision + a.recall - b.precision - b.recall)) {
    process.stdout.write(`${precision.toFixed(3)}  ${recall.toFixed(3)}  ${url}\n`);
  }
}
