// In test:all alone: it drives a browser, for 90 s.
import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { parseQuestion, parseSources } from "../../../src/text/prompt/prompt.js";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { embeddingReply } from "../../support/embedding-service.js";
import { served } from "../../support/served.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { streamed, transportFor } from "../../support/transport-for.js";
import { answered, answerOf, ask } from "./chat-page.js";
import { kindsOfDocuments } from "./kinds-of-documents.js";

const lettersOf = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, "");

/** A server of one file of each kind, whose model quotes the words of the one that is asked about. */
async function servedKinds() {
  const { transport } = await transportFor((request) => {
    if (request.path.endsWith("/embeddings")) return embeddingReply(request);
    const { messages } = request.body as { readonly messages: readonly { readonly content: string }[] };
    const asked = messages.at(-1)!.content;
    const { file, quote } = kindsOfDocuments.find(({ question }) => question === parseQuestion(asked))!;
    // A source may have markup between the words.
    const begin = lettersOf(quote).slice(0, 7);
    const source = parseSources(asked).find(({ uri, text }) => uri.includes(file) && lettersOf(text).includes(begin));
    return streamed(`It is so [${source?.number ?? 0}: "${quote}"].`);
  });
  const server = await served(
    [],
    { originals: true },
    { transport, models: { embedding: "test/embed-m3", chat: "test/chat" } },
  );
  const files = Object.fromEntries(kindsOfDocuments.map(({ file, content }) => [file, content]));
  const report = await server.kb.ingest(readFolder(await temporaryFolder(files)));
  expect(report.failures).toEqual([]);
  return server;
}

/** The marked words; of a PDF those whose middle lies in a box. */
const markedWords = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const marks = [...document.querySelectorAll(".excerpt mark")];
    if (marks.length > 0) return marks.map((mark) => mark.textContent).join(" ");
    const boxes = [...document.querySelectorAll(".cited-box")].map((box) => box.getBoundingClientRect());
    const spans = [...document.querySelectorAll(".pdf-text span")].filter((span) => {
      const { left, right, top, bottom } = span.getBoundingClientRect();
      return boxes.some((box) => (left + right) / 2 > box.left && (left + right) / 2 < box.right && (top + bottom) / 2 > box.top && (top + bottom) / 2 < box.bottom);
    });
    return spans.map((span) => span.textContent).join(" ");
  })()`);

describe.skipIf(isChromiumMissing)("documents of every kind", () => {
  const { open } = tabs();
  const screenshots = process.env["SCREENSHOTS"];

  test.each([
    [1440, "light"],
    [1440, "dark"],
    [375, "light"],
    [375, "dark"],
  ] as const)("open at the cited words as they look, at %d px in the %s", async (width, colorScheme) => {
    const { url } = await servedKinds();
    const { page } = await open(url, { viewport: { width, height: 900 }, colorScheme });
    await page.evaluate(
      `document.addEventListener("securitypolicyviolation", ({ violatedDirective }) => (window.violations ??= []).push(violatedDirective))`,
    );
    await page.evaluate(axe.source);
    const seen: unknown[] = [];
    for (const { file, question, within } of kindsOfDocuments) {
      // A further question in the same conversation would be condensed first.
      await page.goto(`${url}/#/`);
      await ask(page, question);
      await answered(page);
      await answerOf(page)
        .getByRole("button", { name: /^Source \d/ })
        .first()
        .click({ timeout: 5000 })
        .catch(async () => seen.push(await answerOf(page).innerText()));
      const first = page.locator(within).first();
      await first.waitFor({ timeout: 5000 }).catch(() => undefined);
      const box = await first.boundingBox({ timeout: 1000 }).catch(() => null);
      const isInView = box !== null && box.x >= 0 && box.x < width && box.y >= 0 && box.y < 900;
      const serious = await page.evaluate(
        `axe.run().then(({ violations }) => violations.filter(({ impact }) => /serious|critical/.test(impact)).map(({ id, nodes }) => id + " " + nodes[0].html))`,
      );
      seen.push({ file, marked: lettersOf(await markedWords(page)), isInView, serious });
      if (screenshots !== undefined) {
        await page.screenshot({ path: join(screenshots, `${file}-${width}-${colorScheme}.png`) });
      }
      await page.getByRole("button", { name: "Close" }).click({ timeout: 5000 });
    }
    expect(seen).toEqual(
      kindsOfDocuments.map(({ file, quote }) => ({ file, marked: lettersOf(quote), isInView: true, serious: [] })),
    );
    expect(await page.evaluate("window.violations ?? []")).toEqual([]);
  });
});
