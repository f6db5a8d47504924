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

  test("that are hostile do nothing, whatever their SVG, HTML and Markdown want", async () => {
    const attacks =
      `<svg xmlns="http://www.w3.org/2000/svg" onload="window.attacked = 1"><script>window.attacked = 1</script>` +
      `<foreignObject><img src="x" onerror="window.attacked = 1"></foreignObject><a href="javascript:window.attacked=1"><text>svg</text></a>` +
      `<animate attributeName="href" values="javascript:window.attacked=1"/></svg>` +
      `<img src="data:image/svg+xml,<svg onload='window.attacked=1'/>" onerror="window.attacked = 1">` +
      `<iframe srcdoc="<script>parent.attacked = 1</script>"></iframe><object data="javascript:window.attacked=1"></object>` +
      `<math><mtext><table><mglyph><style><img src=x onerror="window.attacked = 1"></style></mglyph></table></mtext></math>` +
      `<meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/"><base href="http://127.0.0.1:9/"><link rel="stylesheet" href="http://127.0.0.1:9/s.css">` +
      `<a href="javascript:window.attacked=1">link</a>`;
    const words = "The harbour master keeps the lamp of the pier.";
    const html = `<html><body><article><h1>Pier</h1><p>${words}</p>${attacks}<p>${words}</p></article></body></html>`;
    const notebookCells = [
      { cell_type: "markdown", source: `# Pier\n\n${words}\n\n${attacks}` },
      {
        cell_type: "code",
        source: "1",
        outputs: [{ data: { "text/html": `<table><tr><td>${attacks}</td></tr></table>` } }],
      },
    ];
    const folder = await temporaryFolder({
      "a.md": `# Pier\n\n${words}\n\n${attacks}\n\n[a](javascript:window.attacked=1)\n`,
      "b.html": html,
      "c.eml": `From: <img src=x onerror="window.attacked=1"> <a@example.com>\nTo: b@example.com\nSubject: <svg onload="window.attacked=1">\nContent-Type: text/html\n\n${html}`,
      "d.ipynb": JSON.stringify({ cells: notebookCells, metadata: { language_info: { name: '"><script>' } } }),
      "e.csv": `name,note\n"<svg onload=""window.attacked=1"">","${words} <img src=x onerror=window.attacked=1>"\nb,c\n`,
      "f.svg": `<svg xmlns="http://www.w3.org/2000/svg" onload="window.attacked = 1"><text>${words}</text></svg>`,
    });
    const server = await served([], { originals: true });
    await server.kb.ingest(readFolder(folder));
    const { page } = await open(`${server.url}/#/documents`);
    await page.evaluate(
      `document.addEventListener("securitypolicyviolation", ({ violatedDirective }) => (window.violations ??= []).push(violatedDirective))`,
    );
    const documents = page.locator(".document-open");
    await documents.first().waitFor();
    const count = await documents.count();
    expect(count).toBeGreaterThan(5);
    for (let index = 0; index < count; index++) {
      await documents.nth(index).click();
      await page.locator(".source .excerpt").waitFor();
      const odd = "script, svg, img, iframe, object, meta, base, link, style, [onload], [onerror], [href^=javascript]";
      expect(await page.locator(".source .panel-body").locator(odd).count()).toBe(0);
      await page.getByRole("button", { name: "Close" }).click();
    }
    expect(await page.evaluate("window.attacked")).toBeUndefined();
    expect(await page.evaluate("window.violations ?? []")).toEqual([]);
  });
});
