// In test:all alone: it drives a browser, for 25 s.
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { served } from "../../support/served.js";
import { bundled } from "./bundled.js";
import { answered, answerOf, ask } from "./chat-page.js";

const handbook = {
  uri: "file:///docs/handbook.md",
  title: "Handbook",
  mediaType: "text/markdown",
  text: `---
keeper: Ada
---
# Handbook

See the [chapter on locks](locks.md) and the [policy](https://example.com/policy).

API keys **expire** after \`90 days\`, [says](https://example.com/ada) the *keeper*.

| Gate | Opens |
| --- | --- |
| North | 6:00 |

\`\`\`ts
open("north");
\`\`\`
`,
};
const locks = {
  uri: "file:///docs/locks.md",
  title: "Locks",
  mediaType: "text/markdown",
  text: "# Locks\n\nLocks rust.",
};

describe.skipIf(isChromiumMissing)("a source", () => {
  const { open } = tabs();
  const panelOf = (page: Page) => page.getByRole("complementary");

  async function opened(page: Page, title: string) {
    await page.locator(".document-open", { hasText: title }).first().click();
    await panelOf(page).locator(".excerpt").waitFor();
    return panelOf(page);
  }

  test("in Markdown is shown as it looks, with the cited words highlighted across its markup", async () => {
    const { url } = await served([handbook]);
    const { page } = await open(url);
    await ask(page, "When do API keys expire?");
    await answered(page);
    await answerOf(page).locator(".mark").first().click();
    const panel = panelOf(page);
    await panel.locator("mark").first().waitFor();
    const marked = (await panel.locator("mark").allTextContents()).join("");
    expect(marked).toContain("API keys expire after 90 days, says the keeper.");
    expect(await panel.locator("strong mark, code mark, a mark, em mark").allTextContents()).toEqual(
      expect.arrayContaining(["expire", "90 days", "says", "keeper"]),
    );
    const shown = await panel.locator(".excerpt").innerText();
    for (const markup of ["**", "](", "`", "---", "keeper: Ada", "# "]) expect(shown).not.toContain(markup);
    expect(await panel.getByRole("heading", { level: 3 }).allInnerTexts()).toEqual(["Handbook"]);
    expect(await panel.getByRole("cell").allInnerTexts()).toEqual(["North", "6:00"]);
    expect(await panel.locator("pre[data-language=ts]").innerText()).toBe('open("north");');
    await panel.getByText("Properties").click();
    await panel.getByText("keeper: Ada").waitFor();
  });

  test("has links that lead to the web, and to other documents beside the answers", async () => {
    const { url } = await served([handbook, locks]);
    const { page } = await open(`${url}/#/documents`);
    const panel = await opened(page, "Handbook");
    const policy = panel.getByRole("link", { name: "policy" });
    expect(await policy.getAttribute("href")).toBe("https://example.com/policy");
    expect(await policy.getAttribute("rel")).toBe("noopener noreferrer");
    await panel.getByRole("button", { name: "chapter on locks" }).click();
    await panel.getByText("Locks rust.").waitFor();
  });

  test("can be opened as the file or the page that it was read from, where the server gives it", async () => {
    const kept = [handbook, { ...locks, uri: "https://example.com/locks" }];
    const { url } = await served(kept, { originals: true });
    const { page } = await open(`${url}/#/documents`);
    const link = (await opened(page, "Handbook")).getByRole("link", { name: "Open the original" });
    expect(await link.getAttribute("href")).toBe("api/originals?uri=file%3A%2F%2F%2Fdocs%2Fhandbook.md");
    expect(await link.getAttribute("download")).toBe("");
    await page.locator(".document-open", { hasText: "Locks" }).click();
    await expect.poll(() => link.getAttribute("href")).toBe("https://example.com/locks");
    const closed = await served([{ ...handbook, uri: "file:///home/ada/secret/docs/handbook.md" }]);
    const other = (await open(`${closed.url}/#/documents`)).page;
    const panel = await opened(other, "Handbook");
    expect(await panel.getByRole("link", { name: "Open the original" }).count()).toBe(0);
    expect(await panel.innerText()).toContain("docs/handbook.md");
    expect(await other.locator("body").innerText()).not.toContain("/home/ada");
  });

  test("is drawn only when the cited words are in its rendering", async () => {
    const { url } = await served([]);
    const { page } = await open(`${url}/api`);
    await page.evaluate(await bundled("text/draw-source.js", "drawing"));
    const text = 'Gates open.\n\n[1]: https://example.com/ "Keys expire after 90 days"\n\nLocks **rust**.\n';
    const marked = (words: string) =>
      page.evaluate(`{
        const text = ${JSON.stringify(text)};
        const start = text.indexOf(${JSON.stringify(words)});
        const highlight = { start, end: start + ${words.length} };
        const excerpt = { uri: "file:///a.md", text, from: 0, length: text.length, pages: [] };
        window.drawing.drawSource({ excerpt, highlight, sentence: highlight })?.marks.map((mark) => mark.textContent);
      }`);
    expect(await marked("Keys expire after 90 days")).toBeUndefined();
    expect(await marked("Locks **rust**.")).toEqual(["Locks ", "rust", "."]);
  });

  test("of a program has the numbers of its lines, and a row of a table is one", async () => {
    const lines = Array.from({ length: 4000 }, (_, index) =>
      index === 3000 ? "expire_api_keys(90)" : `step(${index}, "a step is long, and goes far beyond what is seen")`,
    );
    const { url } = await served([
      { uri: "file:///keys.py", title: "keys.py", mediaType: "text/x-python", text: lines.join("\n") },
      { uri: "file:///gates.csv#row=4", title: "Gates", mediaType: "text/plain", text: "gate: west\nopens: 09:30" },
    ]);
    const { page } = await open(`${url}/#/documents`);
    const table = await opened(page, "Gates");
    expect(await table.getByRole("row").allInnerTexts()).toEqual(["gate\twest", "opens\t09:30"]);
    await ask(await visit(page, url), "expire_api_keys");
    await answered(page);
    await answerOf(page).locator(".mark").first().click();
    const mark = panelOf(page).locator("mark");
    await mark.waitFor();
    const top = (selector: string, words: string) =>
      page.evaluate(`{
        const node = document.querySelector(${JSON.stringify(selector)}).firstChild;
        const range = document.createRange();
        const at = node.nodeValue.indexOf(${JSON.stringify(words)});
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        range.getBoundingClientRect().top;
      }`);
    expect(await top(".code-lines mark", "expire_api_keys")).toBeCloseTo(
      Number(await top(".code-lines > pre", "3001")),
      -1,
    );
    await page.setViewportSize({ width: 375, height: 800 });
    const left = (selector: string) =>
      page.evaluate<number>(`document.querySelector("${selector}").getBoundingClientRect().left`);
    await page.locator("dialog .code-lines").waitFor();
    const scrolled = `{ const lines = document.querySelector("dialog .code-lines"); lines.scrollLeft = 60; lines.scrollLeft; }`;
    expect(await page.evaluate(scrolled)).toBe(60);
    expect(await left("dialog .code-lines > pre")).toBe(await left("dialog .code-lines"));
  });

  test("of a program has its words in colours, in and around what is cited, by grammars that come with the first code", async () => {
    const code = `def expire_api_keys(days=90):\n    # <script>window.attacked = 1</script>\n    return "after & \\"x\\""\n`;
    const { url } = await served([
      { uri: "file:///keys.py", title: "keys.py", mediaType: "text/x-python", text: code },
      { uri: "file:///keys.zig", title: "keys.zig", mediaType: "text/x-zig", text: 'const keys = "zig";\n' },
      handbook,
    ]);
    const { page } = await open(`${url}/#/documents`);
    const loaded = () =>
      page.evaluate<number>(
        `performance.getEntriesByType("resource").filter(({ name }) => /grammars/.test(name)).length`,
      );
    const coloured = (kind: string) =>
      page.evaluate<string[]>(`[...(CSS.highlights.get("code-${kind}") ?? [])].map(
        ({ startContainer, startOffset, endOffset }) => startContainer.data.slice(startOffset, endOffset))`);
    expect(await loaded()).toBe(0);
    const panel = await opened(page, "keys.py");
    await expect.poll(() => coloured("keyword"), { timeout: 20_000 }).toEqual(["def", "return"]);
    expect(await loaded()).toBe(1);
    expect(await coloured("string")).toEqual([`"after & \\"x\\""`]);
    expect(await coloured("comment")).toEqual(["# <script>window.attacked = 1</script>"]);
    expect(await coloured("number")).toEqual(["90"]);
    expect(await panel.locator(".excerpt script").count()).toBe(0);
    const colourOf = (kind: string) =>
      page.evaluate(`getComputedStyle(document.querySelector(".excerpt"), "::highlight(code-${kind})").color`);
    expect(await colourOf("keyword")).not.toBe(await colourOf("string"));
    await page.locator(".document-open", { hasText: "keys.zig" }).click();
    await panel.getByText("const keys").waitFor();
    expect(await coloured("keyword")).toEqual([]);
    await page.locator(".document-open", { hasText: "Handbook" }).click();
    await expect.poll(() => coloured("string")).toEqual(['"north"']);
    await ask(await visit(page, url), "expire_api_keys");
    await answered(page);
    await answerOf(page).locator(".mark").first().click();
    await panel.locator("mark").first().waitFor();
    const inMark = `[...CSS.highlights.get("code-keyword")].some(({ startContainer }) => startContainer.parentElement.closest("mark"))`;
    await expect.poll(() => page.evaluate(inMark)).toBe(true);
    expect(await coloured("keyword")).toContain("def");
  });

  test("does nothing, whatever its Markdown and HTML want", async () => {
    const attacks = [
      `<script>window.attacked = 1</script>`,
      `<img src="http://127.0.0.1:9/p.png" onerror="window.attacked = 1">`,
      `![x](http://127.0.0.1:9/p.png)`,
      `<svg onload="window.attacked = 1"></svg>`,
      `[a](javascript:window.attacked=1)`,
      `<a href="javascript:window.attacked=1">b</a>`,
      `<a href="https://example.com/" target="_self" class="skip" onclick="window.attacked = 1">c</a>`,
      `<div class="notice" style="position:fixed;inset:0" id="app">d</div>`,
      `<form action="http://127.0.0.1:9/"><input name="e"></form>`,
      `<button data-citation="0" data-document="javascript:window.attacked=1">f</button>`,
    ];
    const text = `# Keys\n\nAPI keys expire.\n\n${attacks.join("\n\n")}\n`;
    const { url } = await served([{ uri: "file:///keys.md", title: "Keys", mediaType: "text/markdown", text }]);
    const { page } = await open(`${url}/#/documents`);
    const panel = await opened(page, "Keys");
    await panel.getByRole("heading", { level: 3 }).waitFor();
    const odd =
      "script, img, svg, form, input, iframe, [style], [onclick], [onerror], [id], [class*=notice], [class*=skip]";
    expect(await panel.locator(".excerpt").locator(odd).count()).toBe(0);
    const links = await panel.locator(".excerpt a").all();
    for (const link of links) expect(await link.getAttribute("target")).toBe("_blank");
    expect(await panel.locator(".excerpt a[href^=javascript]").count()).toBe(0);
    expect(await page.evaluate("window.attacked")).toBeUndefined();
  });

  test("in English is not set in a Chinese face, whose apostrophes are as wide as a character", async () => {
    const { url } = await served([{ ...locks, text: "It’s the keeper’s “lock”." }]);
    const { page } = await open(`${url}/#/documents`);
    await opened(page, "Locks");
    const session = await page.context().newCDPSession(page);
    await session.send("DOM.enable");
    await session.send("CSS.enable");
    const { root } = await session.send("DOM.getDocument");
    const { nodeId } = await session.send("DOM.querySelector", { nodeId: root.nodeId, selector: ".excerpt p" });
    const { fonts } = await session.send("CSS.getPlatformFontsForNode", { nodeId });
    expect(fonts.map(({ familyName }) => familyName).filter((name) => /CJK|Songti/.test(name))).toEqual([]);
  });
});

async function visit(page: Page, url: string): Promise<Page> {
  await page.goto(`${url}/#/`);
  return page;
}
