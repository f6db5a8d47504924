// In test:all alone: it drives a browser, for 15 s.
import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chatService } from "../../support/chat-service.js";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { served } from "../../support/served.js";
import { answered, answerOf, ask } from "./chat-page.js";

const documents = ["red", "green", "blue"].map((colour) => ({
  uri: colour,
  title: `The ${colour} key`,
  mediaType: "text/markdown",
  text: `# The ${colour} key\n\nA key.\n\n## Using the ${colour} key\n\nThe ${colour} key opens the ${colour} door.\n`,
}));
const question = "Which door does the key open?";
const screenshots = process.env["SCREENSHOTS"];
/** Parts of the page are loaded when they are wanted, which takes a busy machine seconds. */
const patient = { timeout: 20_000 };

async function violations(page: Page): Promise<unknown> {
  await page.evaluate(axe.source);
  return page.evaluate(
    `axe.run().then(({ violations }) => violations.filter(({ impact }) => /serious|critical/.test(impact)).map(({ id }) => id))`,
  );
}

describe.skipIf(isChromiumMissing)("the page", () => {
  const { open } = tabs();

  test("has settings of answers where the server offers some: they hold for the next questions and after a reload", async () => {
    const { transport, asked } = await chatService(({ model }) => `It opens a door, says ${model}. [1]`);
    const choices = { chatModels: ["test/two"], maxPassages: 9, maxInstructionCharacters: 500 };
    const models = { embedding: "test/embed", chat: "test/one" };
    const { url } = await served(documents, { choices }, { transport, models });
    const { page } = await open(url);
    const dialog = page.getByRole("dialog", { name: "Settings of answers" });
    const settings = page.getByRole("button", { name: "Settings of answers" });
    await settings.click();
    await dialog.getByLabel("Chat model").selectOption("test/two");
    await dialog.getByLabel("Passages to answer from").fill("1");
    await dialog.getByLabel("Your instructions").fill("Answer as a pirate.");
    expect(await violations(page)).toEqual([]);
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "answer-settings.png") });
    await dialog.getByRole("button", { name: "Save" }).click();
    expect(await dialog.count()).toBe(0);
    await ask(page, question);
    await answered(page);
    expect(await answerOf(page).textContent()).toContain("says test/two");
    const text = () => JSON.stringify(asked.at(-1)!.messages);
    expect(text()).toContain("Answer as a pirate.");
    expect(text().match(/key opens the/g)).toHaveLength(1);

    await page.goto(url);
    await ask(page, question);
    await answered(page);
    expect(await answerOf(page).textContent()).toContain("says test/two");
    await settings.click();
    expect(await dialog.getByLabel("Your instructions").inputValue()).toBe("Answer as a pirate.");
    await dialog.getByRole("button", { name: "All as usual" }).click();
    // Escape leaves them as they were.
    await page.keyboard.press("Escape");
    await settings.click();
    expect(await dialog.getByLabel("Passages to answer from").inputValue()).toBe("1");
    await dialog.getByRole("button", { name: "All as usual" }).click();
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.goto(url);
    await ask(page, question);
    await answered(page);
    expect(await answerOf(page).textContent()).toContain("says test/one");
    expect(text()).not.toContain("pirate");
  });

  test("has none where the server offers none", async () => {
    const { page } = await open((await served(documents)).url);
    await page.getByRole("button", { name: "Keyboard shortcuts" }).waitFor();
    expect(await page.getByRole("button", { name: "Settings of answers" }).count()).toBe(0);
  });

  test("suggests questions that the documents answer, and asks the one that is chosen", async () => {
    const { page } = await open((await served(documents)).url);
    const examples = page.getByRole("list", { name: "Example questions" }).getByRole("button");
    await expect
      .poll(() => examples.allInnerTexts(), patient)
      .toEqual(["How do I use the blue key?", "How do I use the green key?", "How do I use the red key?"]);
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "suggested.png") });
    await examples.nth(1).click();
    await answered(page);
    expect(await answerOf(page).textContent()).toContain("The green key opens the green door.");
  });

  test("shares a conversation with its checked quotations through the browser, and copies it", async () => {
    const { page } = await open((await served(documents)).url);
    // A browser without a screen has no list to share with: this one keeps what the page hands over.
    await page.evaluate(`{
      window.shared = [];
      window.copied = [];
      navigator.canShare = () => true;
      navigator.share = async ({ title, files }) => window.shared.push([title, files[0].name, await files[0].text()]);
      navigator.clipboard.writeText = async (text) => window.copied.push(text);
    }`);
    await ask(page, "What does the green key open?");
    await answered(page);
    await page.getByText("Export", { exact: true }).click();
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "share.png") });
    await page.getByRole("button", { name: "Share…" }).click();
    await expect.poll(() => page.evaluate("window.shared.length"), patient).toBe(1);
    const [[title, name, text]] = (await page.evaluate("window.shared")) as [[string, string, string]];
    expect([title, name]).toEqual(["What does the green key open?", "What-does-the-green-key-open.html"]);
    expect(text).toContain("found in the document, word for word");
    await page.getByText("Export", { exact: true }).click();
    await page.getByRole("button", { name: "Copy the conversation" }).click();
    await expect.poll(() => page.evaluate("window.copied.length"), patient).toBe(1);
    expect(await page.evaluate("window.copied[0]")).toMatch(
      /^# What does the green key open\?[^]*> The green key opens/,
    );
    expect(await page.getByRole("alert").innerText()).toContain("Copied");
  });
});
