import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ApartLoading } from "../../src/load/apart/load-apart.js";
import type { Loader } from "../../src/load/loader.js";
import { readFile } from "../../src/load/read-file.js";
import { readFolder } from "../../src/load/read-folder.js";
import { createRunContext } from "../../src/pipeline.js";
import { collect } from "../../src/stream.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { tinyPdf } from "../support/tiny-pdf.js";

const uri = "file:///x";
const page = (bytes: Uint8Array) => ({ path: "/x", uri, bytes });
const small = page(Buffer.from("<p>Words"));
/** Seconds of work for a parser. */
const endless = page(Buffer.from("<p>a<b>b</b><i>c</i>".repeat(1_000_000)));
const signal = new AbortController().signal;

function apartLoading() {
  const loading = new ApartLoading();
  onTestFinished(() => loading.close());
  return loading;
}

describe("loading in a thread of its own", () => {
  test("a file that takes too long fails, and the next is read by a new thread", async () => {
    const loading = apartLoading();
    const late = loading.load("html", endless, { timeoutMs: 100, signal });
    const next = loading.load("html", small, { timeoutMs: 60_000, signal });
    await expect(late).rejects.toMatchObject({
      name: "LoadError",
      code: "timeout",
      uri,
      message: `${uri} took longer than 100 ms to read: raise timeoutMs, or split the file`,
    });
    expect((await next).text).toBe("Words");
  });

  test("an abort ends the work with the caller's own reason", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const loading = apartLoading().load("html", endless, { timeoutMs: 60_000, signal: controller.signal });
    controller.abort(reason);
    await expect(loading).rejects.toBe(reason);
  });

  test("what a loader throws arrives with its class, code and words", async () => {
    const loading = apartLoading();
    const damaged = loading.load("pdf", page(Buffer.from("%PDF-1.4 and nothing more")), { timeoutMs: 60_000, signal });
    await expect(damaged).rejects.toMatchObject({ name: "LoadError", code: "unreadable" });
    await expect(damaged).rejects.toThrow("file:///x is a damaged PDF");
  });
});

describe("loaders of one's own", () => {
  const shout: Loader = ({ bytes }) => ({ text: Buffer.from(bytes).toString().toUpperCase() });

  test("come before those that are built in, by ending, and make their ending one that folders are read for", async () => {
    const folder = await temporaryFolder({ "a.foo": "foo", "b.txt": "b" });
    const documents = await collect(readFolder(folder, { loaders: { ".foo": shout, ".TXT": shout } }));
    expect(documents.map(({ text }) => text)).toEqual(["FOO", "B"]);
  });

  test("that never end fail their file when its time is up, and are told so", async () => {
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

  test("are functions by an ending or a media type", () => {
    expect(() => readFile("x", { loaders: { foo: shout } })).toThrow("an ending such as .foo or a media type");
    expect(() => readFile("x", { loaders: { ".foo": "shout" as unknown as Loader } })).toThrow("must be a function");
  });
});

test("a PDF's title is its own unless a program made it up, and pages without text are said", async () => {
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
  expect(warnings).toEqual([expect.stringMatching(/a\.pdf: 1 of its 3 pages hold no text: blank, or scanned/)]);
  expect(documents[0]!.uri).toMatch(new RegExp(`^file://.*${join("a.pdf")}$`));
});
