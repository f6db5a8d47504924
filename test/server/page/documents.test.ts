// In test:all alone: it drives a browser, for 18 s.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { served } from "../../support/served.js";
import { tinyPdf } from "../../support/tiny-pdf.js";
import { answered, answerOf, ask } from "./chat-page.js";

const documents = [
  { uri: "keys", title: "Keys", text: "The north gate opens at six. API keys expire after 90 days." },
  { uri: "locks", title: "Locks", text: "The south gate opens at seven. Locks rust in winter." },
];
const uploading = (folder: string) => ({ uploads: { folder: join(folder, "uploads"), maxBytes: 100_000 } });

describe.skipIf(isChromiumMissing)("the collection on the page", () => {
  const { open } = tabs();

  test("takes a PDF, tells how it is read, and answers from it with the page that holds the words", async () => {
    const { url } = await served([], uploading);
    const { page } = await open(url);
    await page.getByRole("heading", { name: "There is nothing to ask yet" }).waitFor();
    const buffer = Buffer.from(tinyPdf([["Nothing is here."], ["The vault opens at nine."]], "Opening hours"));
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles({ name: "hours.pdf", mimeType: "application/pdf", buffer });
    const row = page.getByRole("list", { name: "Uploaded files" }).getByRole("listitem");
    await expect.poll(() => row.innerText(), { timeout: 20_000 }).toMatch(/hours\.pdf.*Ready/s);
    await ask(page, "When does the vault open?");
    await answered(page);
    expect(await answerOf(page).innerText()).toContain("The vault opens at nine.");
    expect(await page.locator(".sources button").first().innerText()).toContain("page 2");
    await page.locator(".sources button").first().click();
    const panel = page.getByRole("complementary");
    await expect.poll(() => panel.locator("mark").allTextContents()).toEqual(["The vault opens at nine."]);
    expect(await panel.locator(".page-break").last().innerText()).toBe("Page 2");
  });

  test("takes a file that is dropped on it, and says why one cannot be read, which can be removed again", async () => {
    const { url, json } = await served(documents, uploading);
    const { page } = await open(url, { mayFail: /413|400/ });
    await page.getByRole("link", { name: "Documents" }).click();
    await page.getByRole("heading", { name: "Documents", exact: true }).waitFor();
    await page.evaluate(`{
      const files = new DataTransfer();
      files.items.add(new File(["%PDF-1.7 and nothing else"], "broken.pdf"));
      files.items.add(new File(["x"], "film.mp4"));
      files.items.add(new File(["x".repeat(200000)], "long.txt"));
      const send = (type) => document.body.dispatchEvent(
        new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: files }),
      );
      send("dragover");
      send("drop");
    }`);
    const row = (name: string) => page.locator(".uploads li", { hasText: name });
    await expect.poll(() => row("broken.pdf").innerText(), { timeout: 20_000 }).toMatch(/Failed/);
    expect(await row("film.mp4").innerText()).toContain("Files of this kind cannot be read");
    expect(await row("long.txt").innerText()).toContain("The file is larger than 100 kB.");
    await page.getByRole("button", { name: "Try broken.pdf again" }).click();
    await expect.poll(() => row("broken.pdf").innerText(), { timeout: 20_000 }).toMatch(/Failed/);
    for (const name of ["broken.pdf", "film.mp4", "long.txt"]) {
      await page.getByRole("button", { name: `Remove ${name}` }).click();
      await row(name).waitFor({ state: "detached" });
    }
    expect((await json("GET", "/api/uploads")).uploads).toEqual([]);
  });

  test("is searched, and limits questions to the documents that were ticked", async () => {
    const { url } = await served(documents);
    const { page } = await open(`${url}/#/documents`);
    await page.getByText("2 documents").waitFor();
    await page.getByRole("searchbox").fill("lock");
    await page.getByText("1 found").waitFor();
    expect(await page.locator(".document-open").allInnerTexts()).toEqual([expect.stringContaining("Locks")]);
    await page.getByRole("checkbox", { name: "Ask only within “Locks”" }).check();
    await page.getByRole("button", { name: "Ask about them" }).click();
    await page.getByText("Asking within 1 document").waitFor();
    await ask(page, "When does the gate open?");
    await answered(page);
    expect(await answerOf(page).innerText()).toContain("The south gate opens at seven.");
    await page.getByText(/What was looked at/).click();
    const titles = page.locator(".considered .head .title");
    await titles.first().waitFor();
    expect(new Set(await titles.allInnerTexts())).toEqual(new Set(["Locks"]));
  });

  test("opens a long document at its beginning and shows more of it on request", async () => {
    const text = Array.from({ length: 2000 }, (_, index) => `Line ${index} of the log.`).join("\n");
    const { url } = await served([{ uri: "log", title: "Log", text }]);
    const { page } = await open(`${url}/#/documents`);
    await page.locator(".document-open").click();
    const panel = page.getByRole("complementary");
    await panel.getByRole("button", { name: "Show more below" }).click();
    await expect.poll(async () => (await panel.locator(".excerpt").innerText()).length).toBeGreaterThan(4000);
    expect(text.startsWith((await panel.locator(".excerpt").textContent())!.replace(/…$/, ""))).toBe(true);
  });

  test("loses a document that is deleted, after a question, and only where the caller may write", async () => {
    const { url, kb } = await served(documents, (folder) => ({
      ...uploading(folder),
      access: (request) => ({ role: request.headers.get("cookie")?.includes("writes") ? "manage" : "ask" }),
    }));
    const reading = await open(`${url}/#/documents`);
    await reading.page.locator(".document").first().waitFor();
    expect(await reading.page.getByRole("button", { name: "Delete “Keys”" }).count()).toBe(0);
    const writing = await open(`${url}/#/documents`);
    await writing.page.context().addCookies([{ name: "writes", value: "1", url }]);
    await writing.page.reload();
    await writing.page.getByRole("button", { name: "Delete “Keys”" }).click();
    await writing.page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await writing.page.getByRole("button", { name: "Delete “Keys”" }).click();
    await writing.page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await expect.poll(() => writing.page.locator(".document").count()).toBe(1);
    expect((await kb.documents()).map(({ uri }) => uri)).toEqual(["locks"]);
  });
});
