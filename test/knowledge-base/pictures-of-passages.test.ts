import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished, expect, test } from "vitest";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { readFolder } from "../../src/load/sources/read-folder.js";
import { storedPictures } from "../../src/load/stored-pictures.js";
import { chatModel } from "../../src/models/chat-model.js";
import { pictureReader } from "../../src/models/picture-reader.js";
import { collectAnswer } from "../../src/stages/answering/answer.js";
import { createTransport } from "../../src/transport/transport.js";
import { photo } from "../support/pictured-files.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { picturesOf, visionService, wordsOf } from "../support/vision-service.js";

const question = "Which division reached 300 million?";

test("a model that sees gets the stored pictures that its sources describe, and is told which is whose", async () => {
  const [docs, kept, place] = [await temporaryFolder(), await temporaryFolder(), await temporaryFolder()];
  await writeFile(join(docs, "a.md"), "# Sales\n\n![Sales by division](bars.png)\n\nThe divisions report each year.\n");
  await writeFile(join(docs, "bars.png"), await photo(3));
  await writeFile(join(docs, "z.md"), "# Rest\n\nThe divisions rest in winter.\n");
  const service = await visionService(
    (_, request) => (wordsOf(request).includes("<source") ? "Osprey. [1]" : "The Osprey division reached 300 million."),
    () => "Osprey. [1]",
  );
  const transport = createTransport({
    baseUrl: service.baseUrl,
    apiKey: "key",
    models: [
      { id: "test/see", type: "vlm" },
      { id: "test/read", type: "llm" },
    ],
  });
  const reader = pictureReader(chatModel(transport, { model: "test/see" }));
  const models = { embedding: "test/embed", chat: "test/see" };
  const kb = await openKnowledgeBase({ path: join(place, "store"), transport, models, retrieval: { mode: "lexical" } });
  onTestFinished(async () => {
    await kb.close();
    await transport.close();
  });
  await kb.ingest(readFolder(docs, { include: ["*.md"], pictures: { reader, folder: kept } }));
  const [described] = service.seen().flatMap(picturesOf);

  const answering = async (model: string, pictures?: ReturnType<typeof storedPictures>) => {
    await collectAnswer(kb.ask(question, { chatModel: model, answer: pictures ? { pictures } : {} }));
    const request = service.requests.at(-1)!;
    return { words: wordsOf(request), hashes: picturesOf(request).map(({ sha256 }) => sha256) };
  };
  const shown = await answering("test/see", storedPictures(kept));
  expect(shown.hashes).toEqual([described!.sha256]);
  const number = /<source id="(\d+)"[^>]*>(?:(?!<\/source>)[^])*Osprey/.exec(shown.words)?.[1];
  expect(shown.words).toContain(`The last picture is the one that source [${number}] describes.`);
  for (const without of [await answering("test/see"), await answering("test/read", storedPictures(kept))]) {
    expect(without.hashes).toEqual([]);
    expect(without.words).not.toContain("The last picture");
  }
  for (const name of await readdir(kept)) await rm(join(kept, name), { recursive: true });
  expect(await answering("test/see", storedPictures(kept))).toMatchObject({ hashes: [] });
});
