import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import sharp from "sharp";
import { openKnowledgeBase, readFolder } from "citewell";
import { createServer } from "citewell/server";
import { siteQuestions } from "../questions.js";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);

/** The chat page with an answer and its source, and the report of an evaluation, as a browser shows them. */
export async function drawPages(root: string, pictures: string): Promise<void> {
  if (executablePath === undefined) throw new Error("Pictures of pages need Chromium: apt-get install chromium");
  const folder = await mkdtemp(join(tmpdir(), "citewell-picture-"));
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    await drawAnswer(browser, join(root, "test/fixtures/handbook"), folder, join(pictures, "answer.png"));
    await drawEvaluation(browser, root, folder, join(pictures, "evaluation.png"));
  } finally {
    await browser.close();
    await rm(folder, { recursive: true });
  }
}

async function drawAnswer(browser: Browser, documents: string, folder: string, picture: string): Promise<void> {
  const kb = await openKnowledgeBase({ path: join(folder, "store") });
  await kb.ingest(readFolder(documents));
  const server = await createServer(kb, { port: 0, title: "Handbook" });
  const page = await browser.newPage({ locale: "en-GB", viewport: { width: 1240, height: 740 }, colorScheme: "light" });
  await page.goto(server.url);
  await page.getByLabel("Your question").fill("How many days of leave do employees get?");
  await page.keyboard.press("Enter");
  await page.locator('.exchange[aria-busy="false"]').waitFor();
  await page.locator(".exchange .answer .mark").first().click();
  await page.getByRole("complementary").locator("mark").first().waitFor();
  await keep(await page.screenshot({ animations: "disabled" }), picture);
  await page.close();
  await server.close();
  await kb.close();
}

/** Search over the pages of this site, by words and by the stand-in's vectors, measured with the questions that they answer. */
async function drawEvaluation(browser: Browser, root: string, folder: string, picture: string): Promise<void> {
  const collection = join(folder, "collection");
  await mkdir(join(collection, "qrels"), { recursive: true });
  const { siteDocuments } = await import("../generate/site-documents.js");
  const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const documents = siteDocuments(root).map(({ path, text }) => ({ _id: path, text }));
  await writeFile(join(collection, "corpus.jsonl"), lines(documents));
  const asked = siteQuestions.filter(({ page }) => documents.some(({ _id }) => _id === page));
  const queries = asked.map(({ question }, at) => ({ _id: `q${at + 1}`, text: question }));
  await writeFile(join(collection, "queries.jsonl"), lines(queries));
  const judgements = asked.map(({ page }, at) => `q${at + 1}\t${page}\t1`);
  await writeFile(join(collection, "qrels/test.tsv"), ["query-id\tcorpus-id\tscore", ...judgements, ""].join("\n"));
  const report = join(folder, "report.html");
  const words = ["eval", collection, "--report", report, "--quiet"];
  await promisify(execFile)(process.execPath, [join(root, "dist/bin/citewell.js"), ...words], { cwd: folder });
  const page = await browser.newPage({ locale: "en-GB", viewport: { width: 1000, height: 760 }, colorScheme: "light" });
  await page.goto(pathToFileURL(report).href);
  await keep(await page.screenshot({ animations: "disabled" }), picture);
  await page.close();
}

/** Few colours are enough for pages, and take a fifth of the bytes. */
async function keep(screenshot: Buffer, path: string): Promise<void> {
  await sharp(screenshot).png({ palette: true, colours: 64, effort: 10 }).toFile(path);
}
