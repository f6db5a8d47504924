// In test:all alone: it drives a browser, for 15 s.
import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { createServer } from "../../../src/server/create-server.js";
import type { ServerOptions } from "../../../src/server/options.js";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { photo } from "../../support/pictured-files.js";
import { picturedKnowledgeBase } from "../../support/question-pictures.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { picturesOf } from "../../support/vision-service.js";
import { answered, answerOf, ask } from "./chat-page.js";

const screenshots = process.env["SCREENSHOTS"];
/** Parts of the page are loaded when they are wanted, which takes a busy machine seconds. */
const patient = { timeout: 20_000 };
const question = "What does this mean?";

/** Hands a picture to the page as a browser does when somebody pastes it, or drops it on an element. */
async function give(
  page: Page,
  way: "paste" | "drop",
  selector: string,
  base64: string,
  name = "shot.png",
): Promise<void> {
  await page.evaluate(`{
    const bytes = Uint8Array.from(atob("${base64}"), (character) => character.charCodeAt(0));
    const files = new DataTransfer();
    files.items.add(new File([bytes], "${name}", { type: "image/png" }));
    const target = document.querySelector("${selector}");
    const { x, y, width, height } = target.getBoundingClientRect();
    const at = { bubbles: true, cancelable: true, clientX: x + width / 2, clientY: y + height / 2 };
    if ("${way}" === "paste") target.dispatchEvent(new ClipboardEvent("paste", { ...at, clipboardData: files }));
    else for (const type of ["dragover", "drop"]) target.dispatchEvent(new DragEvent(type, { ...at, dataTransfer: files }));
  }`);
}

describe.skipIf(isChromiumMissing)("a question with pictures on the page", () => {
  const { open } = tabs();

  async function opened(chat: string, options: ServerOptions = {}, where?: Parameters<typeof open>[1]) {
    const { kb, service } = await picturedKnowledgeBase({ models: { chat } });
    const server = await createServer(kb, options);
    onTestFinished(() => server.close());
    return { ...(await open(server.url, where)), service };
  }

  test.each([
    ["wide and light", { width: 1440, height: 900 }, "light", "en"],
    ["narrow and dark, in Chinese", { width: 375, height: 740 }, "dark", "zh-CN"],
  ] as const)("shows them while it is written and when it was asked: %s", async (_, viewport, colorScheme, locale) => {
    const { page, service } = await opened("test/see", {}, { viewport, colorScheme, locale });
    const picture = (await photo(7, 2000)).toString("base64");
    const waiting = page.locator(".composer .question-pictures img");
    await page.locator("#question").waitFor();
    await give(page, "paste", "#question", picture);
    await expect.poll(() => waiting.count(), patient).toBe(1);
    await give(page, "drop", ".composer-box", picture, "second.png");
    await expect.poll(() => waiting.count(), patient).toBe(2);
    if (screenshots !== undefined)
      await page.screenshot({ path: join(screenshots, `question-picture-${viewport.width}.png`) });
    await page.evaluate(axe.source);
    const serious = await page.evaluate(
      `axe.run().then(({ violations }) => violations.filter(({ impact }) => /serious|critical/.test(impact)).map(({ id }) => id))`,
    );
    expect(serious).toEqual([]);
    await page.locator(".composer .question-pictures button").last().click();
    await expect.poll(() => waiting.count(), patient).toBe(1);
    await page.locator("#question").fill(question);
    await page.keyboard.press("Enter");
    await answered(page);
    expect(await answerOf(page).textContent()).toContain("The valve is stuck.");
    expect(await waiting.count()).toBe(0);
    expect(await page.locator(".exchange .question-pictures img").count()).toBe(1);
    if (screenshots !== undefined)
      await page.screenshot({ path: join(screenshots, `question-asked-${viewport.width}.png`) });
    // Described, and answered: each with the picture, which was made smaller.
    expect(service.seen()).toHaveLength(2);
    const [sent] = picturesOf(service.seen()[0]!);
    expect(sent!.mediaType).toBe("image/jpeg");
    expect(sent!.bytes.length).toBeLessThan(330_000);
  });

  test("chooses them by a button, sends them again with another answer, and none with the next question", async () => {
    const { page, service } = await opened("test/see");
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.getByRole("button", { name: "Add pictures to the question" }).click(),
    ]);
    await chooser.setFiles([
      { name: "shot.png", mimeType: "image/png", buffer: await photo(8) },
      { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no picture") },
    ]);
    await expect
      .poll(() => page.getByRole("alert").innerText(), patient)
      .toContain("these must be pictures: notes.txt");
    await ask(page, question);
    await answered(page);
    await page.getByRole("button", { name: "Answer again" }).click();
    await expect.poll(() => service.seen().length, patient).toBe(4);
    await answered(page);
    await ask(page, "What does E43 mean?");
    await answered(page);
    expect(service.seen()).toHaveLength(4);
  });

  test("takes a picture for a document where nobody sees, or it is dropped beside the question's field", async () => {
    const folder = await temporaryFolder();
    const seeing = await opened("test/see", { uploads: { folder: join(folder, "one") } });
    const blind = await opened("test/read", { uploads: { folder: join(folder, "two") } });
    const picture = (await photo(9)).toString("base64");
    for (const [{ page }, selector] of [
      [seeing, "main"],
      [blind, ".composer-box"],
    ] as const) {
      await page.locator("#question").waitFor();
      await give(page, "drop", selector, picture);
      await page.getByText("shot.png").first().waitFor();
      expect(await page.locator(".composer .question-pictures").count()).toBe(0);
    }
    expect(await blind.page.getByRole("button", { name: "Add pictures to the question" }).count()).toBe(0);
  });
});
