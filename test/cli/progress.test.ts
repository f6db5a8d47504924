import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { describeProgress } from "../../src/cli/output/progress.js";

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
const folders = { directory: "/home/ada/work" };

test("the progress line says how far an ingest is, how fast it goes and how long it will take", () => {
  expect(describeProgress(progress, folders)).toBe(
    "312 of 705 documents  2,801 chunks embedded  640 chunks/s  about 4.0 s left",
  );
});

test("the progress line names the file that is waited on in place of the time left", () => {
  const slowFile = pathToFileURL("/home/ada/work/scans/large.pdf").href;
  expect(describeProgress({ ...progress, slowFile }, folders)).toBe(
    "312 of 705 documents  2,801 chunks embedded  640 chunks/s  reading scans/large.pdf",
  );
});
