import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { describeProgress, describeSteps, ingestProgress, progressLine } from "../../src/cli/output/progress.js";

const progress = {
  documentsFound: 705,
  documentsRead: 400,
  documentsDone: 312,
  chunksEmbedded: 2801,
  tokens: 9000,
  requests: 90,
  seconds: 5,
  chunksPerSecond: 640,
  secondsLeft: 4,
};
const folders = { directory: "/home/ada/notes" };

test("the progress line says how far an ingest is, how fast it goes and how long it will take", () => {
  expect(describeProgress(progress, folders)).toBe(
    "312 of 705 documents  2,801 chunks embedded  640 chunks/s  about 4.0 s left",
  );
});

test("the progress line names the file that is waited on in place of the time left", () => {
  const slowFile = pathToFileURL("/home/ada/notes/scans/large.pdf").href;
  expect(describeProgress({ ...progress, slowFile }, folders)).toBe(
    "312 of 705 documents  2,801 chunks embedded  640 chunks/s  reading scans/large.pdf",
  );
});

test("the progress line says when all documents are done and the store is made ready", () => {
  expect(describeProgress({ ...progress, documentsDone: 705, secondsLeft: 0 }, folders)).toBe(
    "705 of 705 documents  2,801 chunks embedded  640 chunks/s  finishing",
  );
});

test("the line of a finished ingest is drawn once, however soon after another", () => {
  const drawn: string[] = [];
  const notes = { write: (text: string) => drawn.push(text) > 0, isTTY: true, columns: 100 } as never;
  const { onProgress } = ingestProgress({ ...folders, notes });
  for (const documentsDone of [310, 311, 705, 705]) onProgress({ ...progress, documentsDone });
  expect(drawn).toEqual([expect.stringContaining("310 of 705"), expect.stringContaining("finishing")]);
});

test("a progress line never takes more columns than the terminal has, also with Chinese names", () => {
  const line = "reading 年假/员工手册第二版.md and more";
  for (let columns = 2; columns <= 50; columns++) {
    let screen = "";
    const out = { write: (text: string) => (screen += text) !== "", isTTY: true, columns };
    progressLine(out as never, () => line).update(0);
    const shown = screen.replace("\r\u001B[2K", "");
    const width = (text: string) => Array.from(text).reduce((sum, sign) => sum + (sign > "\u2E80" ? 2 : 1), 0);
    expect(width(shown)).toBeLessThan(columns);
    expect(shown === line || width(shown) >= columns - 2).toBe(true);
    expect(line.startsWith(shown)).toBe(true);
  }
});

test("steps say their rate and the time that is left", () => {
  const startedAt = performance.now() - 4000;
  expect(describeSteps(40, 300, startedAt, "query", "queries")).toMatch(
    /^40 of 300 queries {2}(?:10\.0|9\.\d) queries\/s {2}about 2[67] s left$/,
  );
});
