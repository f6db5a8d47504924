import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { collect } from "../../../src/core/stream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { tinyPdf } from "../../support/tiny-pdf.js";

test("a citation from a PDF names its page, and one from a table of rows its line", async () => {
  const filler = Array.from({ length: 40 }, (_, index) => `Sentence ${index} is about nothing in particular.`);
  const folder = await temporaryFolder({
    "manual.pdf": tinyPdf([filler, filler, [...filler, "The escrow key of the vault expires after ninety days."]]),
    "facts.csv": "id,text\n1,Doors creak in winter.\n2,The lighthouse of Brindle was painted green in 1921.\n",
  });
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  await kb.ingest(readFolder(folder));

  const { hits } = await kb.search("lighthouse of Brindle painted", { mode: "lexical", count: 1 });
  expect(hits).toMatchObject([{ line: 3, uri: expect.stringMatching(/facts\.csv#2$/) }]);

  const events = await collect(kb.ask("When does the escrow key of the vault expire?"));
  const citations = events.flatMap((event) => (event.type === "citation" ? [event.citation] : []));
  expect(citations).toContainEqual(
    expect.objectContaining({ uri: expect.stringMatching(/manual\.pdf$/), page: 3, supported: true }),
  );
});
