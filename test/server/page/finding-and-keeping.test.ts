// In test:all alone: it drives a browser, for 25 s.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import { describe, expect, test } from "vitest";
import { groupConversations } from "../../../src/server/page/browser/text/conversation-groups.js";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { served } from "../../support/served.js";
import { answered, answerOf } from "./chat-page.js";

const keys = { uri: "keys", title: "Keys", text: "Ada looks after the keys. API keys expire after 90 days." };
const locks = { uri: "locks", title: "Locks", text: "Locks rust in winter. Bob oils them in spring." };
const question = "When do API keys expire?";

test("conversations stand by calendar days of the reader, pinned ones first, in the order that they came in", () => {
  const now = new Date(2026, 2, 30, 0, 30);
  const talk = (id: string, ...date: [number, number, number, number]) => ({
    id,
    title: id,
    exchanges: 1,
    waiting: false,
    createdAtMs: 0,
    updatedAtMs: new Date(...date).getTime(),
  });
  const talks = [
    talk("just now", 2026, 2, 30, 0),
    talk("an hour ago", 2026, 2, 29, 23),
    talk("over the change of the clock", 2026, 2, 28, 12),
    talk("six days", 2026, 2, 24, 0),
    talk("seven days", 2026, 2, 23, 23),
    talk("pinned", 2020, 1, 1, 1),
  ];
  const groups = groupConversations(talks, new Set(["pinned", "gone"]), now);
  expect(groups.map(({ age, conversations }) => [age, conversations.map(({ id }) => id)])).toEqual([
    ["pinned", ["pinned"]],
    ["today", ["just now"]],
    ["yesterday", ["an hour ago"]],
    ["week", ["over the change of the clock", "six days"]],
    ["older", ["seven days"]],
  ]);
});

describe.skipIf(isChromiumMissing)("the page", () => {
  const { open } = tabs();
  const screenshots = process.env["SCREENSHOTS"];

  async function asked(options?: Parameters<typeof open>[1]) {
    const client = await served([keys, locks]);
    const { page } = await open(client.url, options);
    await page.locator("#question").fill(question);
    await page.keyboard.press("Enter");
    await answered(page);
    return { page, client };
  }

  test("finds conversations, documents and passages by Ctrl-K, and opens what Enter is pressed on", async () => {
    const { page } = await asked();
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Find conversations" });
    const field = palette.getByRole("combobox");
    await field.fill("locks");
    await expect
      .poll(async () => (await palette.getByRole("option").allInnerTexts()).slice(0, 3))
      .toEqual(["Ask: locks", "Locks", expect.stringMatching(/^Locks rust in winter.*\s+Locks/s)]);
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "palette.png") });
    await page.evaluate(axe.source);
    const serious = await page.evaluate(
      `axe.run().then(({ violations }) => violations.filter(({ impact }) => /serious|critical/.test(impact)).map(({ id }) => id))`,
    );
    expect(serious).toEqual([]);
    await page.keyboard.press("ArrowDown");
    expect(await field.getAttribute("aria-activedescendant")).toBe("palette-1");
    await page.keyboard.press("Enter");
    expect(await palette.count()).toBe(0);
    await page.getByRole("complementary", { name: "Open “Locks”" }).waitFor();

    await page.keyboard.press("Control+k");
    await field.fill("expire");
    await palette.getByRole("option", { name: question }).click();
    expect(await page.locator(".exchange").count()).toBe(1);

    await page.getByLabel("Your question").focus();
    await page.keyboard.press("Control+k");
    await palette.waitFor();
    await page.keyboard.press("Escape");
    expect(await palette.count()).toBe(0);
    expect(await page.evaluate("document.activeElement?.id")).toBe("question");
  });

  test("asks from there, too, and lists its keys at a question mark that is typed nowhere", async () => {
    const { page } = await asked();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find" }).fill("Who oils the locks?");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".exchange").count()).toBe(1);
    await answered(page);
    expect(await answerOf(page).innerText()).toContain("Bob oils them in spring.");
    await page.getByLabel("Your question").fill("");
    await page.getByLabel("Your question").press("?");
    expect(await page.getByLabel("Your question").inputValue()).toBe("?");
    await page.locator("h1, h2").first().click();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "shortcuts.png") });
  });

  test("names the conversation in the tab, pins it, and finds it among many", async () => {
    const { page, client } = await asked();
    expect(await page.title()).toBe(`${question} · citewell`);
    for (let talk = 1; talk <= 8; talk++) await client.events("/api/conversations", { question: `Locks ${talk}?` });
    await page.reload();
    const list = page.getByRole("group", { name: "Conversations" });
    await expect.poll(() => list.locator("li").count()).toBe(9);
    expect(await list.getByRole("heading").allInnerTexts()).toEqual(["Today"]);
    await list.getByRole("link", { name: question }).hover();
    await list.getByRole("button", { name: `Pin “${question}”` }).click();
    expect(await list.getByRole("heading").allInnerTexts()).toEqual(["Pinned", "Today"]);
    await page.reload();
    expect(await list.getByRole("region", { name: "Pinned" }).getByRole("link").allInnerTexts()).toEqual([question]);
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "sidebar.png") });
    await page.getByRole("searchbox", { name: "Search conversations" }).fill("locks 3");
    expect(await list.getByRole("link").allInnerTexts()).toEqual(["Locks 3?"]);
    await page.getByRole("link", { name: "Documents" }).click();
    expect(await page.title()).toBe("Documents · citewell");
  });

  test("follows the list of conversations past its first thousand", async () => {
    const { page } = await asked();
    const talk = (id: number) => ({
      id: `talk ${id}`,
      title: `Talk ${id}`,
      exchanges: 1,
      waiting: false,
      createdAtMs: 1,
      updatedAtMs: 1,
    });
    await page.route("**/api/conversations?*", (route) => {
      const isSecond = route.request().url().includes("after=1-b");
      return route.fulfill({
        json: isSecond ? { conversations: [talk(2)] } : { conversations: [talk(1)], next: "1-b" },
      });
    });
    await page.reload();
    const list = page.getByRole("group", { name: "Conversations" });
    await expect.poll(() => list.getByRole("link").allInnerTexts()).toEqual(["Talk 1", "Talk 2"]);
  });

  test("takes a conversation along as Markdown, as a web page without scripts, and on paper", async () => {
    const { page } = await asked();
    const taken = async (name: string) => {
      await page.getByText("Export", { exact: true }).click();
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name }).click();
      const file = await download;
      const path = await file.path();
      return { name: file.suggestedFilename(), path, text: await readFile(path, "utf8") };
    };
    const markdown = await taken("As Markdown");
    expect(markdown.name).toBe("When-do-API-keys-expire.md");
    expect(markdown.text).toMatch(
      /^# When do API keys expire\?\n\n## When do API keys expire\?\n\n[\s\S]*\[1\][\s\S]*\n### Sources\n\n1\. Keys, line 1 \(found in the document, word for word\)\n\n {3}> .*API keys expire after 90 days\.\n$/,
    );
    const html = await taken("As a web page");
    expect(html.name).toBe("When-do-API-keys-expire.html");
    expect(html.text).not.toMatch(/<script|<button|src=/);
    const file = await page.context().newPage();
    await writeFile(`${html.path}.html`, html.text);
    await file.goto(pathToFileURL(`${html.path}.html`).href);
    await file.getByRole("link", { name: "[1]" }).first().click();
    expect(await file.locator("li:target blockquote").innerText()).toContain("API keys expire after 90 days.");
    if (screenshots !== undefined) await file.screenshot({ path: join(screenshots, "exported.png") });
  });

  test("prints the conversation alone", async () => {
    const { page } = await asked();
    await page.emulateMedia({ media: "print" });
    for (const name of ["Copy", "Export", "New conversation", "What was looked at"]) {
      expect(await page.getByText(name).first().isVisible()).toBe(false);
    }
    expect(await page.getByRole("heading", { name: question }).isVisible()).toBe(true);
    expect(await page.getByText("1 of 1 found in the sources").isVisible()).toBe(true);
    if (screenshots !== undefined) await page.pdf({ path: join(screenshots, "printed.pdf") });
  });

  test("shows the folders of a collection, kinds and orders, and what stands in the text", async () => {
    const uris = ["docs/guide/keys.md", "docs/guide/deep/locks.md", "docs/hours.pdf"];
    const { url } = await served(uris.map((path) => ({ uri: `file:///${path}`, text: `About ${path}, and gates.` })));
    const { page } = await open(url);
    await page.getByRole("link", { name: "Documents" }).click();
    const rows = page.locator(".document-list li");
    await page.getByRole("list", { name: "Folders" }).getByRole("button", { name: "guide 2" }).click();
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole("button", { name: "deep 1" }).click();
    await expect.poll(() => rows.count()).toBe(1);
    expect(await page.locator(".open-folder").innerText()).toContain("guide / deep");
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "folders.png") });
    await page.getByRole("button", { name: "To the folder above" }).click();
    await page.getByRole("button", { name: "To the folder above" }).click();
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByLabel("Kind of documents").selectOption("pdf");
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByLabel("Kind of documents").selectOption("All kinds");
    await page.getByLabel("Order").selectOption("By title");
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByRole("button", { name: "Tick all 3" }).click();
    await page.getByText("Asking within 3 documents").waitFor();
    await page.getByRole("searchbox", { name: "Search titles" }).fill("gates");
    const matching = page.getByRole("region", { name: "In the text" });
    await expect.poll(() => matching.getByRole("listitem").count()).toBe(3);
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "documents.png") });
    await matching.getByRole("button").first().click();
    await page.locator(".panel-body mark").waitFor();
  });

  test("says in Chinese why a passage was shown or not", async () => {
    const { page } = await asked({ locale: "zh-CN" });
    await page.locator(".considered summary").click();
    const [first] = await page.locator(".considered li").allInnerTexts();
    expect(first).toMatch(/按语义第 1, 按字词第 1/);
    expect(first!.replace(/Keys|API keys|Ada looks after the keys\.|expire after 90 days\./g, "")).not.toMatch(
      /[a-z]{4}/,
    );
  });

  test("puts words that are selected in a source into the next question", async () => {
    const { page } = await asked();
    await answerOf(page)
      .getByRole("button", { name: /^Source 1/ })
      .first()
      .click();
    await page.locator(".panel-body mark").waitFor();
    await page.evaluate(`document.getSelection().selectAllChildren(document.querySelector(".panel-body .excerpt"))`);
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "ask-about.png") });
    await page.getByRole("button", { name: "Ask about this" }).click();
    expect(await page.getByLabel("Your question").inputValue()).toBe(`“${keys.text}” `);
    expect(await page.evaluate("document.activeElement?.id")).toBe("question");
    await page.getByLabel("Your question").selectText();
    expect(await page.getByRole("button", { name: "Ask about this" }).count()).toBe(0);
  });
});
