// In test:all alone: it drives a browser, for 45 s.
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../../src/core/tool.js";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { served } from "../../support/served.js";
import { answered, answerOf, ask } from "./chat-page.js";

const documents = [{ uri: "keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." }];
const question = "When do API keys expire?";
const openTicket = tool({
  name: "open_ticket",
  description: "Opens a ticket for the people who run the service.",
  input: z.object({ subject: z.string() }),
  writes: true,
  run: () => "opened",
});
const options = (folder: string) => ({
  uploads: { folder },
  ask: { answer: { tools: [openTicket], approve: "later" as const } },
});

/** Serious findings of axe, each with the elements that it is about. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const violations = (await page.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) => [impact, id, nodes.map(({ html }) => html)]))",
  )) as [string, string, string[]][];
  return violations
    .filter(([impact]) => impact === "serious" || impact === "critical")
    .map(([impact, id, nodes]) => `${impact} ${id}: ${nodes.join(" ")}`);
}

describe.skipIf(isChromiumMissing)("a page for everybody", () => {
  const { open } = tabs();

  const sizes = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } };
  const looks = (["light", "dark"] as const).flatMap((colorScheme) =>
    (["wide", "narrow"] as const).map((size) => ({ colorScheme, size })),
  );

  test.each(looks)("axe finds nothing serious in it, $colorScheme and $size", async ({ colorScheme, size }) => {
    const { url } = await served(documents, options);
    // axe writes into the page as its policy forbids.
    const { page } = await open(url, { colorScheme, viewport: sizes[size], bypassCSP: true });
    await page.getByRole("heading", { name: "Ask citewell" }).waitFor();
    const found: Record<string, string[]> = { empty: await findings(page) };
    await ask(page, question);
    await answered(page);
    await page.getByText(/What was looked at/).click();
    found["answer"] = await findings(page);
    await answerOf(page).locator(".mark").first().click();
    await page.locator("mark").waitFor();
    found["source"] = await findings(page);
    await page.getByRole("button", { name: "Close" }).click();
    await ask(page, 'Please open a ticket with the subject "keys"');
    await page.getByRole("button", { name: "Allow" }).waitFor();
    found["approval"] = await findings(page);
    if (size === "narrow") {
      await page.getByRole("button", { name: "Open the menu" }).click();
      found["menu"] = await findings(page);
    }
    await page.getByRole("link", { name: "Documents" }).click();
    await page.locator(".document").waitFor();
    found["documents"] = await findings(page);
    await page.getByRole("button", { name: "Delete “Keys”" }).click();
    found["deletion"] = await findings(page);
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((state) => [state, []])));
  });

  test("everything is done by the keyboard alone", async () => {
    const { url } = await served(documents, options);
    const { page } = await open(url);
    const { keyboard } = page;
    const focused = () => page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent");
    /** Presses Tab until the focus is on something of this name. */
    const tabTo = async (name: string, key = "Tab") => {
      for (let presses = 0; presses < 40; presses++) {
        if (String(await focused()).includes(name)) return;
        await keyboard.press(key);
      }
      throw new Error(`The focus never comes to ${name}`);
    };
    await page.getByRole("heading", { name: "Ask citewell" }).waitFor();
    await expect.poll(focused).toBe("Your question");
    await keyboard.type("When do API");
    await keyboard.press("Shift+Enter");
    await keyboard.type("keys expire?");
    expect(await page.getByLabel("Your question").inputValue()).toBe("When do API\nkeys expire?");
    await keyboard.press("Enter");
    await answered(page);
    expect(await page.getByLabel("Your question").inputValue()).toBe("");
    await tabTo("Source 1: Keys", "Shift+Tab");
    await tabTo("Source 1: Keys", "Shift+Tab");
    await keyboard.press("Enter");
    await page.locator("mark").waitFor();
    await expect.poll(focused).toBe("Keys");
    await keyboard.press("Escape");
    await expect.poll(focused).toContain("Keys");
    expect(await page.locator("mark").count()).toBe(0);
    await tabTo("Your question");
    await keyboard.type('Please open a ticket with the subject "keys"');
    await keyboard.press("Enter");
    await page.getByRole("button", { name: "Refuse" }).waitFor();
    await tabTo("Refuse", "Shift+Tab");
    await keyboard.press("Enter");
    await page.getByText("open_ticket was refused").waitFor();
    await answered(page);
    await tabTo("Rename “When do API", "Shift+Tab");
    await keyboard.press("Enter");
    await keyboard.type("Expiry");
    await keyboard.press("Enter");
    await page.getByRole("navigation").getByText("Expiry").waitFor();
    await tabTo("Delete “Expiry”");
    await keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await tabTo("Cancel");
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await expect.poll(() => page.locator(".conversation").count()).toBe(0);
  });

  test("Escape stops an answer, and a screen reader is told of it once and not of every word", async () => {
    const { url } = await served(documents, {}, { eventDelayMs: 400 });
    const { page } = await open(url);
    await page.getByRole("heading", { name: "Ask citewell" }).waitFor();
    await page.evaluate(`{
      window.told = [];
      const region = document.querySelector(".for-screen-readers[role=status]");
      new MutationObserver(() => window.told.push(region.textContent)).observe(region, {
        childList: true, characterData: true, subtree: true,
      });
    }`);
    await ask(page, question);
    await answerOf(page).waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".remark", { hasText: "Stopped." }).waitFor();
    const told = (await page.evaluate("window.told")) as string[];
    expect(told.slice(0, 2)).toEqual(["Searching the documents…", "The answer is being written."]);
    expect(told).toHaveLength(3);
    expect(told[2]).toMatch(/^Stopped\. This is the answer as far as it came\. No chat/);
  });

  test("speaks the reader's language, and keeps the choice of another and of the appearance", async () => {
    const { url } = await served(documents);
    const { page } = await open(url, { locale: "zh-CN", colorScheme: "light" });
    await page.getByRole("heading", { name: "向 citewell 提问" }).waitFor();
    expect(await page.evaluate("document.documentElement.lang")).toBe("zh-CN");
    await page.getByLabel("语言").selectOption("English");
    await page.getByRole("heading", { name: "Ask citewell" }).waitFor();
    const background = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    const light = await background();
    await page.getByLabel("Appearance").selectOption("Dark");
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.getByRole("heading", { name: "Ask citewell" }).waitFor();
    expect(await background()).toBe(dark);
  });

  test("does not send a question by the Enter that ends the writing of a Chinese word", async () => {
    const { url } = await served(documents);
    const { page } = await open(url);
    const field = page.getByLabel("Your question");
    await field.fill("密钥");
    await field.dispatchEvent("keydown", { key: "Enter", isComposing: true });
    expect(await field.inputValue()).toBe("密钥");
    expect(await page.locator(".exchange").count()).toBe(0);
  });

  test("the field for the question has the focus at once, unless that would open the keyboard of a phone", async () => {
    const { url } = await served(documents);
    const focused = "document.activeElement.id";
    const { page } = await open(url);
    await expect.poll(() => page.evaluate(focused)).toBe("question");
    const phone = (await open(url, { isMobile: true, hasTouch: true, viewport: sizes.narrow })).page;
    await phone.getByRole("heading", { name: "Ask citewell" }).waitFor();
    expect(await phone.evaluate(focused)).toBe("");
  });

  test("nothing is wider than a phone", async () => {
    const { url } = await served([{ ...documents[0]!, title: "K".repeat(300) }], options);
    const { page } = await open(url, { viewport: { width: 320, height: 640 } });
    await ask(page, `${"long".repeat(100)} ${question}`);
    await answered(page);
    const overflow = () => page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(await overflow()).toBe(0);
    await answerOf(page).locator(".mark").first().click();
    await page.locator("mark").waitFor();
    expect(await page.evaluate("document.querySelector('dialog').scrollWidth - innerWidth")).toBe(0);
  });
});
