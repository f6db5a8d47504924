import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { displayPlace } from "../../../src/cli/output/terminal-text.js";
import { collectAnswer, openKnowledgeBase } from "../../../src/index.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { excerptOf } from "../../../src/server/api/excerpts/excerpt.js";
import { wireCitation, wirePassage } from "../../../src/server/api/to-wire.js";
import { english } from "../../../src/server/page/browser/words/english.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

test("what was said in a recording is found and cited with the time at which it was said", async () => {
  const folder = await temporaryFolder();
  const cue = (minute: number, said: string) => `00:${minute}:34.000 --> 00:${minute}:38.000\n${said}\n\n`;
  const small = Array.from({ length: 40 }, (_, index) => cue(13 + index, `Then came remark number ${index} on boats.`));
  const talk = `WEBVTT\n\n${cue(12, "The harbour bridge opens in May.")}${small.join("")}`;
  await writeFile(join(folder, "talk.vtt"), talk);
  const kb = await openKnowledgeBase({ path: join(folder, "store") });
  await kb.ingest(readFolder(folder, { include: ["*.vtt"] }));
  const { hits } = await kb.search("When does the harbour bridge open?", { count: 1 });
  const { citations } = await collectAnswer(kb.ask("When does the harbour bridge open?"));
  const document = await kb.store.document(hits[0]!.uri);
  await kb.close();
  expect(hits[0]).toMatchObject({ seconds: 754, line: 4 });
  expect(citations[0]).toMatchObject({ seconds: 754, supported: true });
  expect(displayPlace(citations[0]!.uri, citations[0]!, { directory: folder })).toBe("talk.vtt:4, at 12:34");
  expect(english.place(wireCitation(citations[0]!))).toBe("line 4, at 12:34");
  expect(wirePassage(hits[0]!).seconds).toBe(754);
  expect(excerptOf(document!, { start: document!.text.indexOf("number 1 on"), end: 90 }, 10).seconds).toBe(
    14 * 60 + 34,
  );
});
