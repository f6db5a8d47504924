import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { TextFormat } from "../../../src/load/formats/formats.js";
import { LoadingWorker } from "../../../src/load/worker/load-bytes.js";
import type { Loader } from "../../../src/load/formats/loader.js";
import { loadPdf } from "../../../src/load/formats/pdf/pdf.js";
import { readFile } from "../../../src/load/sources/read-file.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { createRunContext } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { tinyPdf } from "../../support/tiny-pdf.js";

const uri = "file:///x";
const page = (bytes: Uint8Array) => ({ path: "/x", uri, bytes });
const small = page(Buffer.from("<p>Words"));
/** Seconds of work for a parser. */
const endless = page(Buffer.from("<p>a<b>b</b><i>c</i>".repeat(1_000_000)));
/** One page, which is one step of a PDF's progress. */
const manyLines = page(tinyPdf([Array.from({ length: 100_000 }, () => "A line of the page.")]));
const signal = new AbortController().signal;

const html: TextFormat = { worker: "html", minWorkerBytes: 0 };
const pdf: TextFormat = { worker: "pdf", minWorkerBytes: 0 };

function loadingWorker() {
  const worker = new LoadingWorker();
  onTestFinished(() => worker.close());
  return worker;
}

const openFiles = "/proc/self/fd";

describe("loading in a worker", () => {
  test("a file that takes too long fails, and the next is read by a new worker", async () => {
    const worker = loadingWorker();
    const late = worker.load(html, endless, { timeoutMs: 100, signal });
    const next = worker.load(html, small, { timeoutMs: 60_000, signal });
    await expect(late).rejects.toMatchObject({
      name: "LoadError",
      code: "timeout",
      uri,
      message: `${uri} took longer than 100 ms to read: raise timeoutMs, or split the file`,
    });
    expect((await next).text).toBe("Words");
  });

  test("a PDF makes progress with each page, so that its time is that of a page", async () => {
    let steps = 0;
    const pages = page(tinyPdf(Array.from({ length: 12 }, (_, number) => [`Page ${number} has words.`])));
    expect(await loadPdf(pages, signal, () => steps++)).toMatchObject({ metadata: { pages: 12 } });
    expect(steps).toBeGreaterThanOrEqual(12);
  });

  test("an abort ends the work with the caller's own reason", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const loading = loadingWorker().load(html, endless, { timeoutMs: 60_000, signal: controller.signal });
    controller.abort(reason);
    await expect(loading).rejects.toBe(reason);
  });

  test("that has ended between two files is replaced", async () => {
    const worker = loadingWorker();
    expect((await worker.load(html, small, { timeoutMs: 60_000, signal })).text).toBe("Words");
    await worker.close();
    expect((await worker.load(html, small, { timeoutMs: 60_000, signal })).text).toBe("Words");
  });

  test("that is stopped at any moment leaves nothing open in this process", async ({ skip }) => {
    skip(!existsSync(openFiles), `needs ${openFiles} to count what this process has open`);
    const worker = loadingWorker();
    const isReady = () => worker.load(html, small, { timeoutMs: 60_000, signal });
    const open = () => readdirSync(openFiles).length;
    await isReady();
    await worker.close();
    const before = open();
    for (let round = 0; round < 2; round++) {
      const starting = worker.load(pdf, manyLines, { timeoutMs: 60_000, signal: AbortSignal.timeout(1) });
      await expect(starting).rejects.toMatchObject({ name: "TimeoutError" });
      await isReady();
      const working = worker.load(html, endless, { timeoutMs: 60_000, signal: AbortSignal.timeout(50) });
      await expect(working).rejects.toMatchObject({ name: "TimeoutError" });
      await isReady();
      await expect(worker.load(pdf, manyLines, { timeoutMs: 10, signal })).rejects.toMatchObject({ code: "timeout" });
    }
    await expect.poll(open, { timeout: 20_000 }).toBeLessThanOrEqual(before);
  }, 120_000);

  test("an error of a loader arrives with its class, code and message", async () => {
    const worker = loadingWorker();
    const damaged = worker.load(pdf, page(Buffer.from("%PDF-1.4 and nothing more")), { timeoutMs: 60_000, signal });
    await expect(damaged).rejects.toMatchObject({ name: "LoadError", code: "unreadable" });
    await expect(damaged).rejects.toThrow("file:///x is a damaged PDF");
  });
});

describe("the caller's own loaders", () => {
  const shout: Loader = ({ bytes }) => ({ text: Buffer.from(bytes).toString().toUpperCase() });

  test("win over built-in ones by ending, and folders are read for their endings too", async () => {
    const folder = await temporaryFolder({ "a.foo": "foo", "b.txt": "b" });
    const documents = await collect(readFolder(folder, { loaders: { ".foo": shout, ".TXT": shout } }));
    expect(documents.map(({ text }) => text)).toEqual(["FOO", "B"]);
  });

  test("that never end fail their file when its time is up, and see the abort", async () => {
    const folder = await temporaryFolder({ "a.foo": "foo", "b.txt": "b" });
    let told: unknown;
    const never: Loader = (_, given) => {
      given.addEventListener("abort", () => (told = given.reason));
      return new Promise(() => {});
    };
    const context = createRunContext();
    const documents = await collect(readFolder(folder, { loaders: { ".foo": never }, timeoutMs: 100 }).read(context));
    expect(documents.map(({ text }) => text)).toEqual(["b"]);
    expect([...context.failures.values()]).toMatchObject([{ code: "timeout" }]);
    expect(told).toBe([...context.failures.values()][0]);
  });

  test("that report progress have their time anew", async () => {
    const folder = await temporaryFolder({ "a.foo": "foo" });
    const slow: Loader = async (_, given, onProgress) => {
      for (let step = 0; step < 10; step++) {
        await sleep(60, undefined, { signal: given });
        onProgress?.();
      }
      return { text: "done" };
    };
    const [document] = await collect(readFolder(folder, { loaders: { ".foo": slow }, timeoutMs: 300 }));
    expect(document?.text).toBe("done");
  });

  test("must be functions named by an ending or a media type", () => {
    expect(() => readFile("x", { loaders: { foo: shout } })).toThrow("an ending such as .foo or a media type");
    expect(() => readFile("x", { loaders: { ".foo": "shout" as unknown as Loader } })).toThrow("must be a function");
  });
});

test("a PDF's title is its own unless a program made it up, and pages without text are reported", async () => {
  const folder = await temporaryFolder({
    "a.pdf": tinyPdf([["One."], [], ["Three."]], "On counting"),
    "b.pdf": tinyPdf([["One."]], "Microsoft Word - draft.doc"),
  });
  const warnings: string[] = [];
  const report = (event: { type: string; message?: string }) => {
    if (event.type === "warning") warnings.push(event.message!);
  };
  const documents = await collect(readFolder(folder).read(createRunContext({ report })));
  expect(documents).toMatchObject([
    {
      title: "On counting",
      text: "One.\n\nThree.",
      anchors: [
        { start: 0, page: 1 },
        { start: 6, page: 3 },
      ],
    },
    { title: "b", text: "One." },
  ]);
  expect(warnings).toEqual([
    expect.stringMatching(/a\.pdf: 1 of its 3 pages hold no text of their own: blank, or scanned/),
  ]);
  expect(documents[0]!.uri).toMatch(new RegExp(`^file://.*${join("a.pdf")}$`));
});
