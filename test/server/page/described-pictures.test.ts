// In test:all alone: it drives a browser, for 20 s.
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { Document } from "../../../src/core/types.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { chatModel } from "../../../src/models/chat-model.js";
import { pictureReader } from "../../../src/models/picture-reader.js";
import { createTransport } from "../../../src/transport/transport.js";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { formWords, picturedFolder } from "../../support/pictured-files.js";
import { served } from "../../support/served.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { visionService } from "../../support/vision-service.js";
import { answered, answerOf, ask } from "./chat-page.js";

const shots = process.env["SCREENSHOTS"];

/** The folder, described by a scripted service, and served with its pictures. */
async function described(): Promise<string> {
  const { folder, words } = await picturedFolder();
  const kept = await temporaryFolder();
  const service = await visionService(({ sha256 }) => words.get(sha256) ?? formWords);
  const transport = createTransport({
    baseUrl: service.baseUrl,
    apiKey: "key",
    models: [{ id: "test/see", type: "vlm" }],
  });
  const reader = pictureReader(chatModel(transport, { model: "test/see" }));
  const documents: Document[] = [];
  for await (const document of readFolder(folder, { pictures: { reader, folder: kept } })) documents.push(document);
  await transport.close();
  expect(service.seen()).toHaveLength(5);
  const { url } = await served(
    // The files of the pictures themselves would be found for the same words.
    documents.filter(({ uri }) => !uri.endsWith(".png")),
    { pictures: kept },
  );
  return url;
}

/** Waits until the pictures within an element are drawn, and gives their widths. */
async function drawnWidth(page: Page, selector: string): Promise<number> {
  const image = page.locator(`${selector} .described-picture img`).first();
  await image.waitFor();
  await expect
    .poll(() => image.evaluate((each) => (each as unknown as { naturalWidth: number }).naturalWidth))
    .toBeGreaterThan(0);
  return image.evaluate((each) => (each as unknown as { naturalWidth: number }).naturalWidth);
}

describe.skipIf(isChromiumMissing)("words that stand only in pictures", () => {
  const { open } = tabs();

  test("are cited as a model's, and the citation opens the picture, wide and narrow", async () => {
    const url = await described();
    const { page } = await open(url);
    const questions = [
      ["What did the Osprey division reach in 2024?", "300 million crowns", "deck.pptx", 600],
      ["When did the Walrus optimizer converge?", "42 epochs", "plot.ipynb", 600],
      ["Where does the Falcon gateway copy each ledger?", "vault at Lund", "page.md", 600],
      ["What does the applicant Ingrid Solheim ask for?", "eleven reindeer", "form.pdf", 200],
      ["What stands behind three fishing boats?", "lighthouse of Skagen", "page.md", 200],
    ] as const;
    for (const [question, words, file, width] of questions) {
      await ask(page, question);
      await answered(page);
      const answer = answerOf(page);
      expect(await answer.textContent()).toContain(words);
      await answer.locator(".mark").first().click();
      const panel = page.getByRole("complementary");
      await panel.locator(".described-picture").waitFor();
      expect(await panel.locator(".place").first().textContent()).toMatch(
        new RegExp(`from a picture, described by test/see.*${file.replace(".", "\\.")}`),
      );
      expect(await page.locator(".exchange").last().locator(".sources > p").textContent()).toBe(
        "0 of 1 found in the sources, 1 in a model's description of a picture",
      );
      expect(await panel.locator("figcaption").textContent()).toContain("those of test/see, not of the document");
      expect(await drawnWidth(page, ".source")).toBe(width);
    }
    if (shots !== undefined) await page.screenshot({ path: join(shots, "picture-wide.png") });

    // The card over a number shows it, too.
    await page.mouse.move(5, 5);
    await answerOf(page).locator(".mark").first().hover();
    expect(await drawnWidth(page, ".citation-card")).toBe(200);
    expect(await page.locator(".citation-card .check").textContent()).toBe(
      "in a model's description of a picture, not the document's own words",
    );
    if (shots !== undefined) await page.screenshot({ path: join(shots, "picture-card.png") });

    const narrow = await open(url, { viewport: { width: 390, height: 780 } });
    await ask(narrow.page, questions[0][0]);
    await answered(narrow.page);
    await answerOf(narrow.page).locator(".mark").first().click();
    expect(await drawnWidth(narrow.page, "dialog")).toBe(600);
    const shown = narrow.page.locator("dialog .described-picture img");
    expect((await shown.boundingBox())!.width).toBeLessThanOrEqual(390);
    if (shots !== undefined) await narrow.page.screenshot({ path: join(shots, "picture-narrow.png") });
  });
});
