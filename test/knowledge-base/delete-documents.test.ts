import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { readFolder } from "../../src/load/sources/read-folder.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function threeFiles() {
  const folder = await temporaryFolder({
    "docs/a mole.md": "A mole digs.",
    "docs/b.md": "A vole hides.",
    "docs/rows.jsonl": '{"text": "A hare runs."}\n',
  });
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  await kb.ingest(readFolder(folder, { metadata: ({ path }) => ({ isRow: path.endsWith(".jsonl") }) }));
  return { kb, folder };
}

test("a path in place of a uri is refused with the uri that is stored for it, and nothing is deleted", async () => {
  const { kb, folder } = await threeFiles();
  const mole = join(folder, "docs", "a mole.md");
  const uri = pathToFileURL(mole).href;
  const paths = ["docs/a mole.md", "./docs/a mole.md", "a mole.md", "docs\\a mole.md", mole, relative(".", mole)];
  for (const path of paths) {
    const deleting = kb.deleteDocuments([pathToFileURL(join(folder, "docs/b.md")).href, path]);
    await expect(deleting).rejects.toMatchObject({
      name: "OptionsError",
      message:
        `deleteDocuments: no document has the uri ${JSON.stringify(path)}, so nothing was deleted. ` +
        `A document has its whole address as its uri: did you mean ${uri}?`,
    });
  }
  await expect(kb.deleteDocuments(["docs/rows.jsonl"])).rejects.toThrow(/did you mean file:.*docs\/rows\.jsonl#/);
  expect(await kb.documents()).toHaveLength(3);
  expect(await kb.deleteDocuments([uri])).toEqual({ documents: 1, chunks: 1 });
});

test("uris of no document are ignored, beside others that are deleted, and so are paths of none", async () => {
  const { kb, folder } = await threeFiles();
  const uri = pathToFileURL(join(folder, "docs/b.md")).href;
  const unknown = [`${uri}x`, "row:1", "b", ".md", "ocs/b.md", "elsewhere/b.md", "https://a.example/docs/b.md", ""];
  expect(await kb.deleteDocuments([uri, ...unknown])).toEqual({ documents: 1, chunks: 1 });
  expect(await kb.deleteDocuments([uri, "docs/b.md"])).toEqual({ documents: 0, chunks: 0 });
});

test("a hint names no document that the scope hides", async () => {
  const { kb } = await threeFiles();
  const scoped = kb.scoped({ metadata: { isRow: true } });
  expect(await scoped.deleteDocuments(["docs/b.md"])).toEqual({ documents: 0, chunks: 0 });
  await expect(scoped.deleteDocuments(["docs/rows.jsonl"])).rejects.toThrow("did you mean");
});
