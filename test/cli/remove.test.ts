import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { citewell, citewellJson, type IndexJson, type SearchJson } from "../support/citewell-here.js";
import { scriptedUpstream } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("remove takes out what came from a folder, a file, a table and a page, even if they are gone", async () => {
  const cwd = await temporaryFolder({
    "docs/a.md": "# Moles\n\nA mole digs.",
    "docs/sub/b.md": "# Badgers\n\nA badger digs.",
    "docs-too/c.md": "# Voles\n\nA vole digs.",
    "notes.md": "# Foxes\n\nA fox digs.",
    "rows.csv": "id,text\n1,A rabbit digs.\n2,A wombat digs.\n",
  });
  const { baseUrl } = await scriptedUpstream(({ path }) =>
    path.startsWith("/guide")
      ? { text: `<main><p>An armadillo digs at ${path}.`, headers: { "content-type": "text/html" } }
      : { status: 404, text: "" },
  );
  const web = ["--allow-private", "--requests-per-second", "100"];
  const pages = [`${baseUrl}/guide`, `${baseUrl}/guide/more`];
  await citewellJson<IndexJson>(["index", "docs", "docs-too", "notes.md", "rows.csv", ...pages, ...web], { cwd });
  const left = async () => {
    const { hits } = await citewellJson<SearchJson>(["search", "digs", "--mode", "lexical", "--limit", "20"], { cwd });
    return hits.map(({ uri }) => uri.slice(uri.lastIndexOf("/") + 1)).toSorted();
  };
  expect(await left()).toEqual(["a.md", "b.md", "c.md", "guide", "more", "notes.md", "rows.csv#1", "rows.csv#2"]);

  await rename(join(cwd, "docs"), join(cwd, "elsewhere"));
  await rm(join(cwd, "notes.md"));
  const gone = await citewell(["index", "docs"], { cwd });
  expect(gone.stderr).toContain("citewell remove takes its documents out of the store");
  const { exitCode, stdout } = await citewell(["remove", "docs", "notes.md"], { cwd });
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(/^Removed 3 documents with 3 chunks/),
  });
  expect(await left()).toEqual(["c.md", "guide", "more", "rows.csv#1", "rows.csv#2"]);

  const removed = await citewellJson(["remove", "rows.csv", `${baseUrl}/guide`], { cwd });
  expect(removed).toEqual({ documents: { deleted: 3 }, chunks: { deleted: 3 } });
  expect(await left()).toEqual(["c.md", "more"]);

  // Under another name the folder costs nothing, because its vectors are stored.
  const again = await citewellJson<IndexJson>(["index", "elsewhere"], { cwd });
  expect(again).toMatchObject({ documents: { added: 2 }, chunks: { embedded: 0 }, requests: 0 });
});

test("a place that nothing came from is misuse, and then nothing is removed at all", async () => {
  const cwd = await temporaryFolder({ "a.md": "# Moles\n\nA mole digs." });
  await citewell(["index", "a.md"], { cwd });
  await writeFile(join(cwd, "b.md"), "# Never indexed");
  const { exitCode, stderr } = await citewell(["remove", "a.md", "b.md"], { cwd });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: expect.stringMatching(/^citewell: No document in the store came from b\.md, so nothing was removed/),
  });
  expect((await citewellJson<SearchJson>(["search", "mole"], { cwd })).hits).toHaveLength(1);
});
