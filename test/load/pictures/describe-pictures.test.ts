import { readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ReadContext } from "../../../src/load/sources/source.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import type { PictureOptions } from "../../../src/load/pictures/picture-options.js";
import type { Document } from "../../../src/core/types.js";
import { chatModel } from "../../../src/models/chat-model.js";
import { pictureReader } from "../../../src/models/picture-reader.js";
import { placeInDocument } from "../../../src/text/blocks/places.js";
import { everyKind, photo } from "../../support/pictured-files.js";
import type { RecordedRequest, ScriptedReply } from "../../support/scripted-upstream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { chunk, streamed, transportFor } from "../../support/transport-for.js";

const models = [{ id: "see", type: "vlm" as const }];

function described(_: RecordedRequest, index: number): ScriptedReply {
  const usage = { prompt_tokens: 300, completion_tokens: 20, total_tokens: 320 };
  return {
    sse: [chunk({ content: `Zebra ${index} is shown.` }), { ...chunk({}, { finish_reason: "stop" }), usage }, "[DONE]"],
  };
}

async function read(folder: string, pictures: PictureOptions, isPlan = false) {
  const reports: unknown[] = [];
  const failures: ReadContext["failures"] = new Map();
  const { signal } = new AbortController();
  const documents: Document[] = [];
  const report: ReadContext["report"] = (event) => void reports.push(event);
  for await (const document of readFolder(folder, { pictures }).read({ signal, report, failures, isPlan }))
    documents.push(document);
  return { documents, failures, reports };
}

test("pictures of PDF, slides, notebooks, Markdown and picture files are read, each sent once, also over two runs", async () => {
  const folder = await everyKind();
  const kept = await temporaryFolder();
  const { transport, upstream } = await transportFor(described, { models });
  const reader = pictureReader(chatModel(transport, { model: "see" }));
  const first = await read(folder, { reader, folder: kept });
  expect([...first.failures]).toEqual([]);
  const words = first.documents.map(({ uri, text }) => [uri.split("/").at(-1), /Zebra \d is shown\./.test(text)]);
  expect(words).toEqual(
    ["a.md", "deck.pptx", "form.pdf", "images/flow.png", "plot.ipynb"].map((name) => [name.split("/").at(-1), true]),
  );
  // The picture beside the page is a document of its own, too.
  expect(upstream.requests).toHaveLength(4);
  const tokens = first.reports.filter((event) => (event as { what?: string }).what === "picture-tokens");
  expect(tokens).toHaveLength(4);

  const markdown = first.documents.find(({ uri }) => uri.endsWith("a.md"))!;
  expect(markdown.text).toMatch(
    /^# Guide\n\n!\[The flow\]\(images\/flow\.png\)\n\nZebra \d is shown\.\n\nWords that follow\.\n$/,
  );
  const shown = placeInDocument(markdown, markdown.text.indexOf("Zebra"));
  expect(shown).toMatchObject({ line: 3, picture: { describedBy: "see", mediaType: "image/png" } });
  expect(placeInDocument(markdown, markdown.text.indexOf("Words that"))).toEqual({ line: 5 });
  const form = first.documents.find(({ uri }) => uri.endsWith("form.pdf"))!;
  expect(placeInDocument(form, form.text.indexOf("Zebra"))).toMatchObject({ page: 2, picture: { describedBy: "see" } });

  const second = await read(folder, { reader, folder: kept });
  expect(second.documents).toEqual(first.documents);
  expect(upstream.requests).toHaveLength(4);
});

test("a picture that the service refuses, or that cannot be sent, ends as a reason, and all else is read", async () => {
  const folder = await temporaryFolder();
  const outside = await temporaryFolder();
  await writeFile(join(outside, "secret.png"), await photo(11));
  await writeFile(join(folder, "refused.png"), await photo(13));
  await writeFile(join(folder, "good.png"), await photo(17));
  await writeFile(join(folder, "icon.png"), await photo(19, 16));
  await writeFile(join(folder, "drawn.svg"), "<svg><script>alert(1)</script></svg>");
  // The header states 20,000 by 20,000 pixels.
  const bomb = Buffer.from(await photo(23));
  bomb.writeUInt32BE(20_000, 16);
  bomb.writeUInt32BE(20_000, 20);
  await writeFile(join(folder, "bomb.png"), bomb);
  await symlink(join(outside, "secret.png"), join(folder, "link.png"));
  const names = ["refused.png", "drawn.svg", "bomb.png", "icon.png", "link.png", "../x.png", "good.png"];
  const links = [...names.map((name) => `![${name}](${name})`), "![data](data:text/html;base64,PGI+)"];
  await writeFile(join(folder, "page.md"), `Text.\n\n${links.join("\n\n")}\n`);
  const refused = (await photo(13)).toString("base64");
  const { transport, upstream } = await transportFor(
    (request) =>
      JSON.stringify(request.body).includes(refused) ? { status: 400, json: { message: "unsafe" } } : streamed("Fine."),
    { models },
  );
  const reader = pictureReader(chatModel(transport, { model: "see" }));
  const { documents, reports } = await read(folder, { reader });
  expect(documents.map(({ uri }) => uri.split("/").at(-1))).toEqual(["good.png", "page.md"]);
  const { text } = documents[1]!;
  expect(text.match(/Fine\./g)).toHaveLength(1);
  const warnings = reports.flatMap((event) => (event as { message?: string }).message ?? []).join("\n");
  expect(warnings).toMatch(/the picture refused\.png is not described: .*unsafe/);
  expect(warnings).toMatch(/the picture drawn\.svg is no PNG/);
  expect(warnings).toMatch(/the picture bomb\.png has 20000×20000 pixels/);
  expect(warnings).toMatch(/the picture link\.png cannot be read: it lies outside/);
  expect(reports).toContainEqual(
    expect.objectContaining({ type: "left-out", what: "decorative pictures", example: "small" }),
  );
  const sent = upstream.requests.map(({ body }) => JSON.stringify(body));
  expect(sent.filter((body) => body.includes(refused))).toHaveLength(1);
});

test("beyond the cap nothing is sent, and what was paid stays", async () => {
  const folder = await temporaryFolder();
  const kept = await temporaryFolder();
  const links = await Promise.all(
    [29, 31, 37].map(async (seed) => {
      await writeFile(join(folder, `${seed}.png`), await photo(seed));
      return `![${seed}](${seed}.png)`;
    }),
  );
  await writeFile(join(folder, "page.md"), links.join("\n\n"));
  const { transport, upstream } = await transportFor(described, { models });
  const reader = pictureReader(chatModel(transport, { model: "see" }));
  await read(folder, { reader, folder: kept, maxPictures: 2 });
  expect(upstream.requests).toHaveLength(2);
  expect((await readdir(kept)).length).toBeGreaterThan(0);
  const whole = await read(folder, { reader, folder: kept, maxPictures: 2 });
  expect(upstream.requests).toHaveLength(3);
  expect(whole.documents.find(({ uri }) => uri.endsWith("page.md"))!.text.match(/Zebra/g)).toHaveLength(3);
});

test("a plan sends no picture, and counts those that the ingest would send", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "flow.png"), await photo(5));
  await writeFile(join(folder, "page.md"), "The flow is drawn here.\n\n![The flow](flow.png)\n");
  const { transport, upstream } = await transportFor(described, { models });
  const reader = pictureReader(chatModel(transport, { model: "see" }));
  const { reports, documents, failures } = await read(folder, { reader }, true);
  expect(upstream.requests).toHaveLength(0);
  expect([...failures]).toEqual([]);
  expect(documents).toHaveLength(2);
  expect(reports).toContainEqual({ type: "progress", what: "pictures-planned", count: 1 });
  expect(reports.filter((event) => (event as { type: string }).type === "warning")).toEqual([]);
});

test("as many pictures are sent at once as the cap says, over all documents", async () => {
  const folder = await temporaryFolder();
  const links = await Promise.all(
    [41, 43, 47, 53, 59, 61].map(async (seed) => {
      await writeFile(join(folder, `${seed}.png`), await photo(seed));
      return `![${seed}](${seed}.png)`;
    }),
  );
  await writeFile(join(folder, "page.md"), links.slice(0, 3).join("\n\n"));
  const slow = (request: RecordedRequest, index: number) => ({ ...described(request, index), delayMs: 60 });
  const { transport, upstream } = await transportFor(slow, { models });
  const reader = pictureReader(chatModel(transport, { model: "see" }));
  await read(folder, { reader, concurrency: 3 });
  expect(upstream.requests).toHaveLength(6);
  expect(upstream.maxInFlight).toBe(3);
});

test("pictures on the web are counted, and data that is no picture is named with its type", async () => {
  const folder = await temporaryFolder();
  const page =
    "Words.\n\n![a](https://example.com/a.png)\n\n![b](//example.com/b.png)\n\n![c](data:text/html;base64,PGI+)\n";
  await writeFile(join(folder, "page.md"), page);
  const { transport } = await transportFor(described, { models });
  const reader = pictureReader(chatModel(transport, { model: "see" }));
  const { reports } = await read(folder, { reader });
  const address = "https://example.com/a.png";
  expect(reports).toContainEqual(
    expect.objectContaining({ type: "left-out", what: "pictures on the web", count: 2, example: address }),
  );
  expect(reports).toContainEqual(
    expect.objectContaining({ type: "warning", message: expect.stringContaining('is data of the type "text/html"') }),
  );
});
