// In test:all alone: it drives a browser, for 20 s.
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import type { TextRecognizer } from "../../../src/core/ports.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { embeddingReply } from "../../support/embedding-service.js";
import { scannedPdf, type GreyPixels } from "../../support/scanned-pdf.js";
import { served } from "../../support/served.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { pdfOf, tinyPdf } from "../../support/tiny-pdf.js";
import { streamed, transportFor } from "../../support/transport-for.js";
import { answered, answerOf, ask } from "./chat-page.js";

const [width, height] = [300, 200];

/** A white picture with a black bar for each word. */
function pictureOf(words: readonly { left: number; top: number; right: number; bottom: number }[]): GreyPixels {
  const grey = new Uint8Array(width * height).fill(255);
  for (const { left, top, right, bottom } of words) {
    for (let y = top; y < bottom; y++) grey.fill(0, y * width + left, y * width + right);
  }
  return { width, height, grey };
}

const words = ["Opening", "hours", "The", "vault", "opens", "at", "nine"].map((text, index) => {
  const left = 10 + 55 * (index < 2 ? index : index - 2);
  const top = index < 2 ? 20 : 100;
  return { text, left, top, right: left + 45, bottom: top + 30 };
});

/** Gives the words of every picture, with their places. */
const recognizer: TextRecognizer = {
  name: "stand-in",
  recognize: async () => "",
  recognizeWords: async () => ({ text: "Opening hours\nThe vault opens at nine", words }),
};

describe.skipIf(isChromiumMissing)("a PDF whose words are no letters of ordinary fonts", () => {
  const { open } = tabs();
  const screenshots = process.env["SCREENSHOTS"];

  async function opened(
    bytes: Uint8Array,
    quote: string,
    options: Parameters<typeof served>[1] = { originals: true },
    mayFail = /(?!)/,
  ) {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "scan.pdf"), bytes);
    const { transport } = await transportFor((request) =>
      request.path.endsWith("/embeddings") ? embeddingReply(request) : streamed(`It is so [1: "${quote}"].`),
    );
    const models = { embedding: "test/embed-m3", chat: "test/chat" };
    const client = await served([], options, { transport, models });
    const report = await client.kb.ingest(readFolder(folder, { recognizer }));
    expect(report.failures).toEqual([]);
    const { page } = await open(client.url, { mayFail });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname.replace(/^.*\/page\/\w+\//, "")));
    await page.evaluate(
      `document.addEventListener("securitypolicyviolation", ({ violatedDirective }) => (window.violations ??= []).push(violatedDirective))`,
    );
    await ask(page, "When does the vault open?");
    await answered(page);
    await answerOf(page)
      .getByRole("button", { name: /^Source 1/ })
      .first()
      .click();
    return { page, maps: () => asked.filter((path) => path.includes("cmaps/")) };
  }

  const violations = (page: Page) => page.evaluate("window.violations ?? []");

  test.each([0, 90, 180])(
    "has the words that a recognizer read boxed on a page that is turned by %d degrees",
    async (rotate) => {
      // The scanner laid the picture so that it is upright when the page is turned.
      const matrix = {
        0: [360, 0, 0, 240, 100, 400],
        90: [0, 360, -240, 0, 400, 100],
        180: [-360, 0, 0, -240, 500, 700],
      }[rotate]!;
      const { page } = await opened(
        scannedPdf([{ text: "First page" }, { pictures: [[matrix, pictureOf(words)]], rotate }]),
        "The vault opens at nine",
      );
      await page.locator(".cited-box").first().waitFor({ timeout: 20_000 });
      if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, `scan-${rotate}.png`) });
      expect(await page.locator(".cited-box").count()).toBe(1);
      expect(await page.locator('[data-page="2"] .cited-box').count()).toBe(1);
      // Around the bars of the second line there is ink at both ends, and none outside.
      const ink = await page.evaluate(`(() => {
        const canvas = document.querySelector('[data-page="2"] canvas');
        const frame = canvas.getBoundingClientRect();
        const box = document.querySelector(".cited-box").getBoundingClientRect();
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const dark = (x, y) => {
          const column = Math.round(((x - frame.left) / frame.width) * canvas.width);
          const row = Math.round(((y - frame.top) / frame.height) * canvas.height);
          return data[4 * (row * canvas.width + column)] < 128;
        };
        const middle = (box.top + box.bottom) / 2;
        return {
          left: dark(box.left + 4, middle), right: dark(box.right - 4, middle),
          before: dark(box.left - 4, middle), behind: dark(box.right + 4, middle),
          top: dark(box.left + 8, box.top + 3), bottom: dark(box.left + 8, box.bottom - 3),
          above: dark(box.left + 8, box.top - 4), below: dark(box.left + 8, box.bottom + 4),
        };
      })()`);
      const inside = { left: true, right: true, top: true, bottom: true };
      expect(ink).toEqual({ ...inside, before: false, behind: false, above: false, below: false });
      expect(await violations(page)).toEqual([]);
    },
  );

  test("gets the character map that it names from the server, and one without asks for none", async () => {
    const { page, maps } = await opened(chinesePdf("钥匙每九十天更换一次"), "钥匙每九十天更换一次");
    await page.locator(".cited-box").first().waitFor({ timeout: 20_000 });
    if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "pdf-chinese.png") });
    expect(await page.locator(".pdf-text").first().innerText()).toContain("钥匙每九十天更换一次");
    expect(maps()).toContain("cmaps/UniGB-UCS2-H.bcmap");
    expect(maps().length).toBeLessThan(5);
    expect(await violations(page)).toEqual([]);
    const plain = await opened(tinyPdf([["The vault opens at nine in the morning."]]), "The vault opens at nine");
    await plain.page.locator(".cited-box").first().waitFor({ timeout: 20_000 });
    expect(plain.maps()).toEqual([]);
  });

  test("is shown as its text with the reason where its original is elsewhere, without a breach of the policy", async () => {
    let reached = 0;
    const elsewhere = createServer((_, reply) => {
      reached++;
      reply.end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void elsewhere.close());
    const address = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/scan.pdf`;
    const originals = () => Response.redirect(address, 302);
    const pdf = tinyPdf([["The vault opens at nine in the morning."]]);
    // The browser tells of the redirect that it does not follow.
    const { page } = await opened(pdf, "The vault opens at nine", { originals }, /^request to http:\/\/127\.0\.0\.1/);
    await page.getByText("The original is kept elsewhere").waitFor({ timeout: 20_000 });
    expect((await page.locator(".excerpt mark").allTextContents()).join("")).toBe("The vault opens at nine");
    expect(await page.getByRole("button", { name: "Pages", exact: true }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Open the original" }).getAttribute("href")).toMatch(
      /^api\/originals\?/,
    );
    expect(await violations(page)).toEqual([]);
    expect(reached).toBe(0);
  });
});

/** A page whose font is not in the file and names its characters by a map of Adobe's. */
function chinesePdf(text: string): Uint8Array {
  const codes = Array.from(text, (character) => character.charCodeAt(0).toString(16).padStart(4, "0")).join("");
  const content = `BT /F1 14 Tf 60 700 Td <${codes}> Tj ET`;
  const collection = "<< /Registry (Adobe) /Ordering (GB1) /Supplement 4 >>";
  const descriptor =
    "<< /Type /FontDescriptor /FontName /STSong-Light /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>";
  return pdfOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
    `<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo ${collection} /FontDescriptor ${descriptor} /DW 1000 >>] >>`,
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
  ]);
}
