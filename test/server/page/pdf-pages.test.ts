// In test:all alone: it drives a browser, for 40 s.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { placesOnPage, searchOnPage } from "../../../src/server/page/browser/components/pdf/quote-on-page.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { served } from "../../support/served.js";
import { embeddingReply } from "../../support/embedding-service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { drawnPdf, tinyPdf } from "../../support/tiny-pdf.js";
import { streamed, transportFor } from "../../support/transport-for.js";
import { answered, answerOf, ask } from "./chat-page.js";

describe("a quotation in the pieces of a page's text", () => {
  const textOf = (pieces: readonly string[], quote: string, expected = 0) =>
    placesOnPage(quote, pieces, expected).map(({ piece, start, end }) => pieces[piece]!.slice(start, end));

  test("is found across pieces, hyphens, ligatures, spaces and letters of any case", () => {
    const pieces = ["The of", "ﬁcial ", "docu-", "ment EX", "PIRES. ", "Then"];
    expect(textOf(pieces, "official document expires")).toEqual(["of", "ﬁcial", "docu", "ment EX", "PIRES"]);
    expect(textOf(["钥匙每九十天更换", "一次。"], "每九十天更换一次")).toEqual(["每九十天更换", "一次"]);
  });

  test("is taken where it is expected when it stands there several times", () => {
    const pieces = ["same words", "other", "same words"];
    expect(placesOnPage("same words", pieces, 0)).toMatchObject([{ piece: 0 }]);
    expect(placesOnPage("same words", pieces, 0.9)).toMatchObject([{ piece: 2 }]);
    expect(searchOnPage("SAME", pieces).map(([range]) => range)).toEqual([
      { piece: 0, start: 0, end: 4 },
      { piece: 2, start: 0, end: 4 },
    ]);
  });

  test("is found by its parts where the page has another order, and not where most of it is missing", () => {
    const pieces = ["Price of the small pump", "Price of the large pump", "twelve hundred euros", "nine hundred euros"];
    const quote = "Price of the small pump: nine hundred euros; price of the large pump: twelve hundred euros";
    expect(textOf(pieces, quote).toSorted()).toEqual(pieces.toSorted());
    expect(textOf(pieces, "Price of the small pump is a matter of long negotiations with the maker of it")).toEqual([]);
    expect(textOf(pieces, "…")).toEqual([]);
  });
});

/** The model quotes one sentence of each document. */
const replies = {
  vault: 'It opens at nine [1: "The vault opens at nine in the morning."].',
  valve: 'It is replaced [1: "The valve of the boiler is replaced after seven years by a plumber"].',
};
const filler = (page: number) => [`Page ${page} tells of nothing much.`, "The weather was fine."];

describe.skipIf(isChromiumMissing)("a PDF beside the answers", () => {
  const { open } = tabs();
  const screenshots = process.env["SCREENSHOTS"];

  async function servedPdf(bytes: Uint8Array, options: Parameters<typeof open>[1] = {}, said = replies.vault) {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "manual.pdf"), bytes);
    const { transport } = await transportFor((request) =>
      request.path.endsWith("/embeddings") ? embeddingReply(request) : streamed(said),
    );
    const models = { embedding: "test/embed-m3", chat: "test/chat" };
    const client = await served([], { originals: true }, { transport, models });
    await client.kb.ingest(readFolder(folder));
    const tab = await open(client.url, options);
    await tab.page.evaluate(
      `document.addEventListener("securitypolicyviolation", ({ violatedDirective }) => (window.violations ??= []).push(violatedDirective))`,
    );
    return { ...tab, file: join(folder, "manual.pdf") };
  }

  async function openSource(page: Page, question: string) {
    await ask(page, question);
    await answered(page);
    await answerOf(page)
      .getByRole("button", { name: /^Source 1/ })
      .first()
      .click();
  }

  /** Opens the source of an answer, and waits for the boxes around the cited words. */
  async function cited(page: Page, question: string) {
    await openSource(page, question);
    await page.locator(".cited-box").first().waitFor({ timeout: 20_000 });
  }

  /** The words whose middle is in one of the boxes, in the order of the page's text. */
  const boxedWords = (page: Page): Promise<string> =>
    page.evaluate(`(() => {
      const boxes = [...document.querySelectorAll(".cited-box")].map((box) => box.getBoundingClientRect());
      const words = [];
      for (const span of document.querySelectorAll(".pdf-text span")) {
        const node = span.firstChild;
        for (const { index, 0: word } of (node?.nodeValue ?? "").matchAll(/[\\p{L}\\p{N}.]+/gu)) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          const { left, right, top, bottom } = range.getBoundingClientRect();
          const [x, y] = [(left + right) / 2, (top + bottom) / 2];
          if (boxes.some((box) => x > box.left && x < box.right && y > box.top && y < box.bottom)) words.push(word);
        }
      }
      return words.join(" ");
    })()`);

  const violations = (page: Page) => page.evaluate("window.violations ?? []");

  test.each([
    [{ width: 1440, height: 900 }, "light"],
    [{ width: 1440, height: 900 }, "dark"],
    [{ width: 375, height: 800 }, "light"],
    [{ width: 375, height: 800 }, "dark"],
  ] as const)("is shown as its page with the cited words boxed, at %j in the %s", async (viewport, colorScheme) => {
    const pages = [
      filler(1),
      [...filler(2), "The vault opens at nine in the morning.", "It closes at five."],
      filler(3),
    ];
    const { page } = await servedPdf(tinyPdf(pages, "Opening hours"), { viewport, colorScheme });
    await cited(page, "When does the vault open?");
    expect(await boxedWords(page)).toBe("The vault opens at nine in the morning.");
    expect(await page.getByRole("textbox", { name: "Page" }).inputValue()).toBe("2");
    expect(await page.locator(".cited-box").first().isVisible()).toBe(true);
    expect(await violations(page)).toEqual([]);
    await page.evaluate(axe.source);
    const serious = await page.evaluate(
      `axe.run().then(({ violations }) => violations.filter(({ impact }) => /serious|critical/.test(impact)).map(({ id, nodes }) => [id, nodes[0].html]))`,
    );
    expect(serious).toEqual([]);
    if (screenshots !== undefined) {
      await page.screenshot({ path: join(screenshots, `pdf-${viewport.width}-${colorScheme}.png`) });
    }
    await page.getByRole("button", { name: "Text", exact: true }).click();
    await expect.poll(() => page.locator(".excerpt mark").allTextContents()).not.toEqual([]);
    await page.getByRole("button", { name: "Pages", exact: true }).click();
    await page.locator(".cited-box").first().waitFor({ timeout: 20_000 });
  });

  test("of two columns has the words of the right column boxed", async () => {
    const left = [
      "The pump is cleaned every week with",
      "warm soap and a soft brush, which the",
      "keeper finds in the cupboard beneath",
      "the stairs, and it is dried with a cloth",
      "that nobody uses for anything besides",
      "the pump and its small brass handles.",
    ];
    const right = [
      "The valve of the boiler is replaced",
      "after seven years by a plumber, whom",
      "the owner of the house must ask in",
      "good time, since all of them are busy",
      "in winter, when boilers break most of",
      "all and when nobody wants to wait.",
    ];
    const lines = (texts: readonly string[], x: number) =>
      texts.map((text, index): [number, number, string] => [x, 700 - 14 * index, text]);
    // They are drawn line by line across both columns, as some programs do.
    const texts = left.flatMap((_, index) => [lines(left, 60)[index]!, lines(right, 320)[index]!]);
    const { page } = await servedPdf(drawnPdf({ texts }), {}, replies.valve);
    await cited(page, "When is the valve of the boiler replaced?");
    expect(await boxedWords(page)).toBe("The valve of the boiler is replaced after seven years by a plumber");
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "pdf-columns.png") });
  });

  test.each([90, 180, 270])("that is turned by %d degrees has its boxes at the words", async (degrees) => {
    const turned = Buffer.from(tinyPdf([["The vault opens at nine in the morning.", "It rains outside today."]]));
    const bytes = withRotation(turned, degrees);
    const { page } = await servedPdf(bytes);
    await cited(page, "When does the vault open?");
    expect(await boxedWords(page)).toBe("The vault opens at nine in the morning.");
    const box = (await page.locator(".cited-box").first().boundingBox())!;
    expect(box.height > box.width).toBe(degrees !== 180);
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, `pdf-turned-${degrees}.png`) });
  });

  test("has a quotation boxed on both pages that it stands on, and nothing else of the second", async () => {
    const pages = [
      ["The weather was fine.", "The valve of the boiler is"],
      ["replaced after seven years", "by a plumber.", "Nobody else may do it."],
    ];
    const { page } = await servedPdf(tinyPdf(pages), {}, replies.valve);
    await cited(page, "When is the valve of the boiler replaced?");
    await expect
      .poll(() => boxedWords(page))
      .toBe("The valve of the boiler is replaced after seven years by a plumber.");
  });

  test("has no box on the next page, which begins with the last words of the quotation", async () => {
    const pages = [["The vault opens at nine in the morning."], ["in the morning. And in the evening."]];
    const { page } = await servedPdf(tinyPdf(pages));
    await cited(page, "When does the vault open?");
    await page.locator('[data-page="2"] .pdf-text').waitFor();
    expect(await page.locator('[data-page="2"] .cited-box').count()).toBe(0);
  });

  test("of 800 pages opens at the cited one, holds few pages, and is walked through, enlarged and searched", async () => {
    const pages = Array.from({ length: 800 }, (_, index) =>
      index === 654 ? ["The vault opens at nine in the morning."] : filler(index + 1),
    );
    const { page } = await servedPdf(tinyPdf(pages));
    await cited(page, "When does the vault open?");
    const number = page.getByRole("textbox", { name: "Page" });
    expect(await number.inputValue()).toBe("655");
    expect(await boxedWords(page)).toBe("The vault opens at nine in the morning.");
    expect(await page.locator(".pdf-page canvas").count()).toBeLessThan(8);
    await page.getByRole("button", { name: "Next page" }).click();
    await expect.poll(() => number.inputValue()).toBe("656");
    await number.fill("3");
    await number.press("Enter");
    await page.getByText("Page 3 tells of nothing much.").waitFor();
    const width = async () => (await page.locator('[data-page="3"]').boundingBox())!.width;
    const before = await width();
    await page.getByRole("button", { name: "Enlarge" }).click();
    await expect.poll(width).toBeGreaterThan(before * 1.2);
    await page.getByRole("button", { name: "Fit the width" }).click();
    await expect.poll(width).toBeCloseTo(before, 0);
    const field = page.getByRole("searchbox", { name: "Search in the document" });
    await field.fill("page 700 tells");
    await field.press("Enter");
    await expect.poll(() => number.inputValue(), { timeout: 20_000 }).toBe("700");
    await expect.poll(() => boxedWords(page)).toBe("Page 700 tells");
    await field.fill("nowhere at all");
    await field.press("Enter");
    await page.getByText("Not found").waitFor({ timeout: 20_000 });
  });

  test("whose file is gone or broken is shown as the text that was read, and says so", async () => {
    const { page, file } = await servedPdf(tinyPdf([["The vault opens at nine in the morning."]]));
    await writeFile(file, "%PDF-1.7 and nothing else");
    await openSource(page, "When does the vault open?");
    await page.getByText("The pages cannot be shown.").waitFor({ timeout: 20_000 });
    expect(await page.locator(".excerpt mark").allTextContents()).not.toEqual([]);
  });

  test("is shown as its text where the thread that reads it does not come up", async () => {
    const { page } = await servedPdf(tinyPdf([["The vault opens at nine in the morning."]]), {
      mayFail: /pdf-worker|404/,
    });
    await page.route("**/pdf-worker.js", (route) => route.fulfill({ status: 404 }));
    await openSource(page, "When does the vault open?");
    await page.getByText("The pages cannot be shown.").waitFor({ timeout: 20_000 });
    expect(await page.locator(".excerpt mark").allTextContents()).not.toEqual([]);
  });

  test("opens again at once after it was closed", async () => {
    const { page } = await servedPdf(tinyPdf([["The vault opens at nine in the morning."]]));
    await cited(page, "When does the vault open?");
    const mark = answerOf(page)
      .getByRole("button", { name: /^Source 1/ })
      .first();
    for (let time = 0; time < 3; time++) {
      await page.getByRole("button", { name: "Close" }).click();
      await mark.click();
    }
    await page.locator(".cited-box").first().waitFor({ timeout: 20_000 });
    expect(await boxedWords(page)).toBe("The vault opens at nine in the morning.");
  });

  test("that is hostile runs nothing, opens nothing and asks nobody", async () => {
    const hostile = drawnPdf({
      texts: [[60, 700, "The vault opens at nine in the morning."]],
      annotations: [
        "<< /Type /Annot /Subtype /Link /Rect [0 0 612 792] /A << /S /JavaScript /JS (app.alert('x')) >> >>",
        "<< /Type /Annot /Subtype /Link /Rect [0 0 612 792] /A << /S /URI /URI (https://example.com/) >> >>",
        "<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /Launch /F (calc.exe) >> >>",
      ],
      catalog:
        "/OpenAction << /S /JavaScript /JS (app.alert('x'); this.submitForm('https://example.com/')) >> /AA << /WC << /S /URI /URI (https://example.com/) >> >>",
    });
    const { page, troubles } = await servedPdf(hostile);
    await cited(page, "When does the vault open?");
    await page.locator(".pdf-page").first().click();
    expect(page.context().pages()).toHaveLength(1);
    expect(troubles).toEqual([]);
    expect(await violations(page)).toEqual([]);
  });
});

/** The same PDF with pages that a reader turns. The offsets of its objects stay, since spaces make room. */
function withRotation(bytes: Buffer, degrees: number): Uint8Array {
  const text = bytes.toString("latin1");
  const media = "/MediaBox [0 0 612 792]";
  const turned = `/MediaBox [0 0 612 792] /Rotate ${degrees}`;
  const grown = text.replace(media, turned);
  const shift = turned.length - media.length;
  const end = text.indexOf(media);
  // The table of objects and its own offset move along.
  const moved = grown
    .replace(/^(\d{10}) (\d{5} n)/gm, (line, offset: string, rest: string) =>
      Number(offset) > end ? `${String(Number(offset) + shift).padStart(10, "0")} ${rest}` : line,
    )
    .replace(/startxref\n(\d+)/, (_, offset: string) => `startxref\n${Number(offset) + shift}`);
  return Buffer.from(moved, "latin1");
}
