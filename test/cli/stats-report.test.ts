import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { citewell, citewellJson } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("stats --report draws every chunk on the map with its document, folders by colour, and what all tables count", async () => {
  const cwd = await temporaryFolder({
    "docs/keys.md": "# Keys\n\nKeys expire.\n\n# Locks\n\nLocks rust.\n",
    'docs/a "b" <script>.md': "Doors open.\n",
    "notes/moles.md": "Moles dig.\n",
  });
  await citewellJson(["index", "docs", "notes", "--chunk-tokens", "16"], { cwd });
  const { exitCode, stdout } = await citewell(["stats", "--report", "page.html"], { cwd });
  expect(exitCode).toBe(0);
  const { chunks } = await citewellJson<{ chunks: number }>(["stats"], { cwd });
  const html = await readFile(join(cwd, "page.html"), "utf8");
  expect(stdout).toContain(`Chunks      ${chunks}\n`);
  const map = html.slice(html.indexOf("Map of the collection"), html.indexOf("Growth"));
  const titles = [...map.matchAll(/<title>([^<]*)<\/title>/g)].map(([, title]) => title);
  expect(titles).toHaveLength(chunks);
  expect(titles).toContain("docs/keys.md:1");
  expect(titles).toContain("docs/a &quot;b&quot; &lt;script&gt;.md:1");
  expect(html).not.toContain("<script");
  expect(map).toContain("</span>docs</li>");
  expect(map).toContain('<th scope="row">notes</th><td>1</td>');
  const growth = html.slice(html.indexOf("<h2>Growth"));
  expect(growth).toContain(`<th scope="row">3</th><td>${chunks}</td>`);
  const lengths = html.slice(html.indexOf("Length of chunks"), html.indexOf("Map of the collection"));
  const counted = [...lengths.matchAll(/<th scope="row">[\d,]+ to [\d,]+<\/th><td>(\d+)<\/td>/g)];
  expect(counted.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(chunks);
});

test("an empty store has a page without charts, and a page that cannot be written is said", async () => {
  const cwd = await temporaryFolder({ "keys.md": "Keys expire.\n" });
  await citewell(["index", "keys.md"], { cwd });
  await citewell(["remove", "keys.md"], { cwd });
  expect(await citewell(["stats", "--report", "page.html"], { cwd })).toMatchObject({ exitCode: 0 });
  const html = await readFile(join(cwd, "page.html"), "utf8");
  expect(html).toContain("<h1>Collection</h1>");
  expect(html).not.toContain("<svg");
  const { exitCode, stderr } = await citewell(["stats", "--report", "no/folder/page.html"], { cwd });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/Cannot write .*page\.html/);
});
