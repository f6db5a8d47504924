// In test:all alone: it drives a browser, for 20 s.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { served } from "../../support/served.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { tinyPdf } from "../../support/tiny-pdf.js";

describe.skipIf(isChromiumMissing)("the list of documents", () => {
  const { open } = tabs();
  const screenshots = process.env["SCREENSHOTS"];

  async function servedPdfs(count: number) {
    const files = Array.from({ length: count }, (_, index): [string, Uint8Array] => {
      const lines = Array.from({ length: 30 }, (__, line) => `Line ${line} of manual ${index} is about pumps.`);
      return [`manual-${String(index).padStart(2, "0")}.pdf`, tinyPdf([lines], `Manual ${index}`)];
    });
    const server = await served([{ uri: "keys", title: "Keys", text: "Keys." }], (folder) => ({
      originals: true,
      uploads: { folder: join(folder, "uploads") },
    }));
    await server.kb.ingest(readFolder(await temporaryFolder(Object.fromEntries(files))));
    return server;
  }

  test("shows the first pages of PDFs as their rows come into view, and of nothing else", async () => {
    const { url } = await servedPdfs(30);
    const { page } = await open(`${url}/#/documents`);
    const row = (title: string) => page.locator(".document", { has: page.getByText(title, { exact: true }) });
    const drawn = page.locator(".first-page canvas");
    await drawn.first().waitFor({ timeout: 30_000 });
    for (const number of [0, 1, 2, 3]) await row(`Manual ${number}`).locator("canvas").waitFor({ timeout: 30_000 });
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "first-pages.png") });
    expect(await row("Keys").locator(".first-page").count()).toBe(0);
    expect(await row("Manual 29").locator("canvas").count()).toBe(0);
    const ink = await page.evaluate<number[]>(`[...document.querySelectorAll(".first-page canvas")].map((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((value, index) => index % 4 === 0 && value < 128).length;
    })`);
    expect(ink.every((pixels) => pixels > 100)).toBe(true);
    await row("Manual 29").scrollIntoViewIfNeeded();
    await row("Manual 29").locator("canvas").waitFor({ timeout: 30_000 });
  });

  test("deletes several chosen documents at once, by the keyboard alone", async () => {
    const { url, kb } = await served(
      ["Keys", "Locks", "Gates"].map((title) => ({ uri: title.toLowerCase(), title, text: `${title}.` })),
      (folder) => ({ uploads: { folder: join(folder, "uploads") } }),
    );
    const { page } = await open(`${url}/#/documents`);
    await page.locator(".document").first().waitFor();
    const { keyboard } = page;
    /** Goes on with the Tab key until something of this name has the focus. */
    const reach = async (name: RegExp) => {
      const passed: unknown[] = [];
      for (let step = 0; step < 60; step++) {
        const focused = await page.evaluate(
          `(() => { const at = document.activeElement; return at === document.body ? "" : (at.getAttribute("aria-label") ?? at.textContent); })()`,
        );
        if (name.test(String(focused))) return;
        passed.push(focused);
        await keyboard.press("Tab");
      }
      throw new Error(`The keyboard does not reach ${name.source}: ${passed.join(" | ")}`);
    };
    await page.evaluate("document.activeElement.blur()");
    await reach(/^Ask only within “Gates”$/);
    await keyboard.press("Space");
    await reach(/^Ask only within “Keys”$/);
    await keyboard.press("Space");
    await page.evaluate(`document.querySelector("main h1").focus()`);
    await reach(/^Delete the 2 chosen$/);
    await keyboard.press("Enter");
    await page.getByRole("heading", { name: "Delete 2 documents?" }).waitFor();
    await reach(/^Delete$/);
    await keyboard.press("Enter");
    await expect.poll(async () => (await kb.documents()).map(({ uri }) => uri)).toEqual(["locks"]);
    await expect.poll(() => page.locator(".document").count()).toBe(1);
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Documents");
  });
});
